package session

import (
	"testing"

	"busbar/internal/result"
)

func TestExitCodeOfPoints(t *testing.T) {
	for status, code := range map[result.Status]int{result.OK: 0, result.Skipped: 0, result.Unsupported: 0,
		result.OOM: 6, result.Failed: 6,
		result.Timeout: 6, result.Wrong: 3} {
		y := tally{}
		y.add(result.OK)
		y.add(status)
		if c := y.code(); c != code {
			t.Errorf("a point that is %s gives %d, wanted %d", status, c, code)
		}
	}
	y := tally{over: true}
	y.add(result.OK)
	if y.code() != 143 {
		t.Errorf("stop requested: %d", y.code())
	}
}
