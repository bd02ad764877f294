package timeline

import (
	"fmt"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/notice/profiles"
)

// trained is a run whose slowest rank has these step times in milliseconds.
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

// The worked example: 100 ms on one GPU, 60 ms on two. A longer first step does not count.
func TestScalingOfRuns(t *testing.T) {
	sameNames := []*Timeline{trained(1, 100, 300, 100), trained(2, 60, 90, 60)}
	for _, run := range sameNames {
		nameSteps(run.Devices)
	}
	part := trained(8, 50, 50)
	part.Devices = part.Devices[:2]
	for _, c := range []struct {
		kind string
		runs []*Timeline
		want string
	}{
		{Strong, []*Timeline{trained(2, 90, 60, 60), trained(1, 300, 100, 100), trained(4, 40, 40, 40)},
			"1 to 2: 83.33 [] 0; 1 to 4: 62.50 [] 0; "},
		{Weak, []*Timeline{trained(2, 100, 100, 100), trained(8, 125, 125, 125)}, "2 to 8: 80.00 [] 0; "},
		{Strong, sameNames, "1 to 2: 83.33 [] 0; "},
		{Strong, []*Timeline{trained(1, 100, 100, 100), part}, "1 to 8: 100.00 [{2 8}] 2; "},
		{Strong, []*Timeline{trained(1, 100), trained(2)}, "error"},
		{Strong, []*Timeline{trained(1, 100), {}}, "error"},
		{Strong, []*Timeline{trained(2, 60), trained(1, 100), trained(2, 70)}, "error"},
	} {
		found, err := scalingOf(c.kind, make([]string, len(c.runs)), c.runs)
		got := ""
		for _, e := range found {
			var unread []struct{ read, of int }
			for _, u := range e.Unread {
				unread = append(unread, struct{ read, of int }{u.Read, u.Of})
			}
			got += fmt.Sprintf("%d to %d: %.2f %v %d; ", e.From, e.To, float64(e.Percent), unread, e.FewSteps)
		}
		if err != nil {
			got = "error"
		}
		must.EqOp(t, c.want, got)
	}
}

func TestIncompleteStepsSkipped(t *testing.T) {
	d := Device{Steps: []Step{{Name: "1", Partial: &profiles.PartialStep{}, Parts: Parts{Span: 10}},
		{Name: "2", Parts: Parts{Span: 100}}}}
	y := typical{per: "step", devices: []*Device{&d}}
	isNear(t, "the mean of whole steps", y.part(spanOf), 100)
	d.Steps = d.Steps[:1]
	isNear(t, "the mean where none is whole", y.part(spanOf), 10)
}

// Calls before and after training, or in an incomplete step, do not count.
func TestCallsOutsideSteps(t *testing.T) {
	d := Device{Steps: []Step{{Name: "1", Partial: &profiles.PartialStep{}}, {Name: "2"}, {Name: "3"}},
		Collectives: []Collective{{Calls: 5, Sum: 1111, Exposed: 555}},
		seen: []seen{{end: 1000 * msec, exposed: 500 * msec, step: -1}, {end: 100 * msec, exposed: 50 * msec},
			{end: msec, exposed: msec, step: 1}, {end: 2 * msec, exposed: msec, step: 2},
			{end: 8 * msec, exposed: 3 * msec, step: 2}}}
	y := typical{per: "step", devices: []*Device{&d}}
	all := func(*Collective) bool { return true }
	must.EqOp(t, took{1.5, 5.5, 2.5}, y.calls(all))
	y.per = perRecording
	must.EqOp(t, took{5, 1111, 555}, y.calls(all))
}
