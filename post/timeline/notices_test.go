package timeline

import (
	"slices"
	"testing"

	"busbar/internal/notice"
)

// A straggler and shared streams are reported once, and not at all where they are ignored.
func TestNoticesOfStragglerAndStreams(t *testing.T) {
	tl := compared(job{ranks: 4, steps: 5, sizes: mib(25), pure: msec, work: late}.ranksOf()...)
	tl.Devices[0].Shared = []SharedStream{{ID: 7, OfComm: 100, OfCompute: 90}}
	tl.review()
	codes := []notice.Code{"straggler", "shared-streams"}
	found := func(code notice.Code) (times int) {
		for _, n := range tl.Notices() {
			if n.Code() == code {
				times += max(1, n.Count)
			}
		}
		return times
	}
	for _, code := range codes {
		if n := found(code); n != 1 {
			t.Errorf("%s is reported %d times, want 1", code, n)
		}
	}
	all := notice.SharedStreams{Streams: streamsOf(tl.Devices), Share: 1, Exposed: 1, Per: "step"}
	tl.Advice = append(tl.Advice, Advice{Fact: all})
	if n := found("shared-streams"); n != 1 {
		t.Errorf("shared streams are reported %d times beside the advice on them, want 1", n)
	}
	tl.Ignore(func(code notice.Code) bool { return !slices.Contains(codes, code) })
	for _, code := range codes {
		if n := found(code); n != 0 {
			t.Errorf("%s is ignored and reported %d times", code, n)
		}
		if slices.ContainsFunc(tl.InShort(), func(f notice.Fact) bool { return f.Code() == code }) {
			t.Errorf("%s is ignored and among the main facts", code)
		}
	}
}
