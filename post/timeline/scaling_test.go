package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
)

// trained is a run whose slowest rank takes these milliseconds a step.
func trained(ranks int, steps ...float64) *Timeline {
	t := &Timeline{}
	for r := range ranks {
		d := Device{Rank: &r, World: ranks, Kernels: 1}
		for s, span := range steps {
			d.Steps = append(d.Steps, Step{Name: fmt.Sprint("ProfilerStep#", s),
				Parts: Parts{Span: span * float64(r+1) / float64(ranks)}})
		}
		t.Devices = append(t.Devices, d)
	}
	return t
}

// The worked example: 100 ms on one GPU, 60 ms on two. A first step that takes longer does not count.
func TestScalingOfRuns(t *testing.T) {
	found, err := scalingOf(
		Strong,
		[]*Timeline{trained(2, 90, 60, 60), trained(1, 300, 100, 100), trained(4, 40, 40, 40)},
	)
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	isNear(t, "strong scaling to two", found[0].Percent, 250/3.)
	isNear(t, "strong scaling to four", found[1].Percent, 62.5)
	found, err = scalingOf(Weak, []*Timeline{trained(2, 100, 100, 100), trained(8, 125, 125, 125)})
	if err != nil {
		t.Fatal(err)
	}
	isNear(t, "weak scaling", found[0].Percent, 80)
	if found[0].Than != 2 || found[0].Ranks != 8 {
		t.Errorf("%+v", found[0])
	}
}

// Ranges of NVTX may all have one name.
func TestStepsOfOneNameAreToldApart(t *testing.T) {
	few, many := trained(1, 100, 300, 100), trained(2, 60, 90, 60)
	for _, run := range []*Timeline{few, many} {
		for i := range run.Devices {
			for s := range run.Devices[i].Steps {
				run.Devices[i].Steps[s].Name = "train"
			}
		}
	}
	found, err := scalingOf(Strong, []*Timeline{few, many})
	if err != nil || found[0].Found.FewSteps > 0 {
		t.Fatal(found, err)
	}
	isNear(t, "strong scaling", found[0].Percent, 250/3.)
}

func TestScalingIsRefused(t *testing.T) {
	one, two := trained(1, 100), trained(2, 60)
	for want, runs := range map[string][]*Timeline{
		"it has no steps":      {one, trained(2)},
		"nothing ran on a GPU": {one, {}},
		"have 2 ranks each":    {two, one, trained(2, 70)},
	} {
		if _, err := scalingOf(Strong, runs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d runs: %v, want %q", len(runs), err, want)
		}
	}
}

func TestScalingSaysWhatIsDoubtful(t *testing.T) {
	part := trained(8, 50, 50)
	part.Devices = part.Devices[:2]
	found, err := scalingOf(Strong, []*Timeline{trained(1, 100, 100, 100), part})
	if err != nil || found[0].Found.FewSteps != 2 ||
		!slices.Equal(found[0].Found.Unread, []notice.RanksRead{{Read: 2, Of: 8}}) {
		t.Error(found, err)
	}
}

func TestStepsThatAreNotWholeDoNotCount(t *testing.T) {
	d := Device{Steps: []Step{{Name: "1", Partial: &notice.PartialStep{}, Parts: Parts{Span: 10}},
		{Name: "2", Parts: Parts{Span: 100}}}}
	y := typical{per: "step", devices: []*Device{&d}}
	isNear(t, "the mean of whole steps", y.part(spanOf), 100)
	d.Steps = d.Steps[:1]
	isNear(t, "the mean where none is whole", y.part(spanOf), 10)
}

// What a rank does before and after training, and in a step that was not recorded whole, is no part of a step.
func TestCallsOutsideStepsAreOfNone(t *testing.T) {
	d := Device{Steps: []Step{{Name: "1", Partial: &notice.PartialStep{}}, {Name: "2"}, {Name: "3"}},
		Collectives: []Collective{{Calls: 5, Sum: 1111, Exposed: 555}}}
	for i, step := range []int32{-1, 0, 1, 2, 2} {
		d.seen = append(
			d.seen,
			seen{end: []int64{1000, 100, 1, 2, 8}[i] * msec, exposed: []int64{500, 50, 1, 1, 3}[i] * msec,
				step: step},
		)
	}
	y := typical{per: "step", devices: []*Device{&d}}
	all := func(*Collective) bool { return true }
	if got := y.calls(all); got != (took{1.5, 5.5, 2.5}) {
		t.Errorf("in a step %+v", got)
	}
	y.per = perRecording
	if got := y.calls(all); got != (took{5, 1111, 555}) {
		t.Errorf("in a recording %+v", got)
	}
}
