package timeout

import (
	"testing"
	"time"

	"busbar/rank/exit"

	"github.com/shoenig/test"
)

func TestTimeScale(t *testing.T) {
	for text, want := range map[string]float64{"": 1, "0.1": 0.1, "2": 2, "100": 100} {
		if got, err := ParseScale(text); got != want || err != nil {
			t.Errorf("BUSBAR_TIME_SCALE=%s: %g, %v, want %g", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "101", "NaN", "fast", "1s"} {
		if _, err := ParseScale(text); exit.CodeOf(err) != exit.Usage {
			t.Errorf("BUSBAR_TIME_SCALE=%s: %v, want a usage error", text, err)
		}
	}
}

func TestTimesScaled(t *testing.T) {
	defer Scale(1)
	for name, at := range map[string]struct{ got, want time.Duration }{
		"ask": {Ask, 2 * time.Second}, "abort": {Abort, 5 * time.Second}, "files": {CloseFiles, 3 * time.Second},
	} {
		test.EqOp(t, at.want, at.got, test.Sprint(name))
	}
	if Scale(0.5); Ask != time.Second {
		t.Errorf("half of 2s is %s", Ask)
	}
}
