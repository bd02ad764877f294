package session

import (
	"io"
	"reflect"
	"testing"

	"busbar/internal/result"
	"busbar/rank/ledger"
)

// The end of each library's file has all ranks whose clocks were held back in some round, each once, by numbers of
// the launch.
func TestThrottledInGroups(t *testing.T) {

	r := &patternRun{worldRun: &worldRun{run: &Run{Ledger: ledger.New(io.Discard)}}}
	for range 2 {
		r.files = append(r.files, &groupFile{session: &session{sheet: &ledger.Sheet{}}})
	}
	send := func(groups ...[][]result.Throttled) {
		r.keepThrottled(append([][][]result.Throttled{nil}, groups...)) // nil: a rank that rests
	}
	send(
		[][]result.Throttled{nil, {{Rank: 5, Host: "b", Reasons: []string{"power"}}}},
		[][]result.Throttled{nil, {{Rank: 2, Host: "a", Reasons: []string{"heat"}}}},
	)
	send(
		[][]result.Throttled{nil, {{Rank: 5, Host: "b", Reasons: []string{"heat", "power"}}}},
		[][]result.Throttled{nil, nil},
	)
	want := []result.Throttled{
		{Rank: 2, Host: "a", Reasons: []string{"heat"}},
		{Rank: 5, Host: "b", Reasons: []string{"power", "heat"}},
	}
	if got := r.files[1].sheet.Throttled; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := r.files[0].sheet.Throttled; len(got) > 0 {
		t.Errorf("the other library has %+v", got)
	}
}
