package step

import (
	"fmt"
	"strings"
	"testing"

	"busbar/internal/coll"
)

var plainWording = Wording{Bucket: Cap.String, Time: func(s float64) string { return fmt.Sprintf("%.2f ms", 1e3*s) }}

// overlapping are rounds of 100 ms of computing and 10 ms of communication, of which the overlapped steps take so long.
func overlapping(seconds ...float64) (all []Round) {
	for _, s := range seconds {
		all = append(all, Round{Compute: 0.1, Comm: 0.01, Sequential: 0.11, Overlapped: s, ComputeAlone: 0.1, ComputeBusy: 0.11, CommAlone: 0.01, CommBusy: 0.01, Hidden: 0.009})
	}
	return all
}

// What is said of a step's communication is no more than its rounds tell.
func TestExposedSays(t *testing.T) {
	p := Point{Strategy: DDP, Bucket: 25 << 20, Type: coll.Float32, Progress: Thread}
	alone := overlapping(0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
	for i := range alone {
		alone[i].CommAlone, alone[i].CommBusy = 0, 0
	}
	little := overlapping(0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
	for i := range little {
		little[i].Comm = 5e-5
	}
	apart := overlapping(0.101, 0.102, 0.103, 0.104, 0.105, 0.106)
	for i := range apart {
		apart[i].CommBusy, apart[i].Hidden = 0.02, 0.0001
	}
	inTurn := overlapping(0.118, 0.119, 0.12, 0.121, 0.122, 0.123)
	for i := range inTurn {
		inTurn[i].Sequential = inTurn[5-i].Overlapped
	}
	for name, k := range map[string]struct {
		rounds    []Round
		want, not []string
	}{
		"a world of one":  {alone, []string{"Nothing goes to another rank here", "the 10.00 ms of communication"}, []string{"0.1 %", "beside", "as fast"}},
		"next to nothing": {little, []string{"less than 0.1 % of a step"}, []string{"beside", "as fast"}},
		"one after the other": {apart, []string{"Computing takes 10 % longer in overlapped steps than alone, though the two hardly run beside each other: something else disturbs it.",
			"Communication takes 100 % longer in overlapped steps than alone, though the two hardly run beside each other: it waits for ranks that compute longer"}, []string{"longer beside"}},
		"costs no more in turn": {inTurn, []string{"and more than communication takes alone. Alone", "longer than the two alone together", "No difference can be told between overlapping"}, []string{"costs more"}},
		"costs, and is told":    {overlapping(0.118, 0.119, 0.12, 0.121, 0.122, 0.123), []string{"overlapping costs more than it hides", "nothing is hidden by the wall clock (-105 % (-126 % to -84 %): a step takes longer", "Computing takes 10 % longer beside communication than alone."}, nil},
		"costs, as may be noise": {overlapping(0.102, 0.104, 0.111, 0.112, 0.113, 0.114), []string{"nothing is told to be hidden by the wall clock (-15 % (-36 % to 73 %))"},
			[]string{"costs more", "nothing is hidden", "too few"}},
		"saves, as may be noise": {overlapping(0.102, 0.104, 0.105, 0.107, 0.111, 0.113), []string{"nothing is told to be hidden by the wall clock (40 % (-23 % to 73 %))"}, []string{"is hidden by"}},
		"too few rounds": {overlapping(0.12, 0.121), []string{"Rounds are too few to tell any of that from noise, which takes 6.", "one after the other; rounds are too few to tell that from noise."},
			[]string{"costs more", "nothing is hidden"}},
	} {
		f := FiguresOf(k.rounds)
		text := plainWording.ExposedSays(p, &f) + " " + InterferenceSays(p, &f) + " " + GainSays(&f)
		for _, want := range k.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %s", name, want, text)
			}
		}
		for _, not := range k.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q is in %s", name, not, text)
			}
		}
	}
}
