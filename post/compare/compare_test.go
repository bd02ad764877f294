package compare

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/coll/colltest"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/analysis"
)

// A launch gives one time, however many cycles it had.
func TestTimesOfLaunches(t *testing.T) {
	s := &side{launches: []string{"x", "y"}}
	records := []entry{{launch: 0, status: result.OK, seconds: 1}, {launch: 0, status: result.OK, seconds: 3}, {launch: 0, status: result.Failed}, {launch: 1, status: result.OK, seconds: 5}}
	if times := s.times(records); !slices.Equal(times, []float64{2, 5}) {
		t.Errorf("%v", times)
	}
	if times := s.times(records[2:3]); times != nil {
		t.Errorf("of a failure: %v", times)
	}
	if of := timesOf([]float64{0, 5, 3}); of != (launchTimes{launches: 2, median: 4, min: 3, max: 5}) {
		t.Errorf("%+v", of)
	}
	if stats.FewestLaunches(stats.DefaultAlpha, false) != 4 {
		t.Error("the help says four launches")
	}
}

// The file of thresholds that the manual shows is one, and says what the manual says of it.
func TestThresholdsOfManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	path := filepath.Join(t.TempDir(), "limits.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var rules Thresholds
	if err := ReadThresholds(path, &rules, false, false); err != nil {
		t.Fatal(err)
	}
	latency := colltest.AllReduce(4 << 20)
	latency.Mode = coll.Latency
	for _, c := range []struct {
		of   coll.Case
		want limits
	}{{colltest.AllReduce(1 << 10), limits{0.1, 0.2}}, {colltest.AllReduce(64 << 10), limits{0.03, 0.05}}, {colltest.AllReduce(4 << 20), limits{0.03, 0.03}}, {latency, limits{0.03, 0.05}}} {
		if got := rules.of(c.of); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.of, got, c.want)
		}
	}
}

// What another tool's file does not tell is no type or placement of ours.
func TestApartByWhatIsNotTold(t *testing.T) {
	a, b := &side{name: "a"}, &side{name: "b"}
	of := func(s *side, c coll.Case) missing {
		return missing{collective{Condition: analysis.Condition{Case: c}}, s}
	}
	told := coll.Case{Collective: coll.AllGather, Type: coll.Float32, Placement: coll.OutOfPlace, Mode: coll.Throughput, World: 2}
	untold := told
	untold.Type, untold.Placement = 0, 0
	lines := (&sideComparison{kind: collectives, a: a, b: b, missing: []missing{of(a, told), of(b, untold)}}).apart()
	if want := []string{"type: float32 in a, not recorded in b", "placement: out-of-place in a, not recorded in b"}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}
