package ledger

import (
	"io"
	"testing"

	"busbar/internal/result"

	"github.com/shoenig/test"
)

// The end of a file lists the ranks with reduced clocks, each once.
func TestThrottled(t *testing.T) {
	l, s := New(io.Discard), &Sheet{}
	l.Throttled(s, []result.Throttled{{Rank: 5, Host: "b", Reasons: []string{"power"}}})
	l.Throttled(s, []result.Throttled{{Rank: 2, Host: "a", Reasons: []string{"heat"}}})
	l.Throttled(s, []result.Throttled{{Rank: 5, Host: "b", Reasons: []string{"heat", "power"}}})
	l.Throttled(s, nil)
	want := []result.Throttled{
		{Rank: 2, Host: "a", Reasons: []string{"heat"}},
		{Rank: 5, Host: "b", Reasons: []string{"power", "heat"}},
	}
	test.Eq(t, want, s.end(result.Complete, nil, 0).Throttled)
}
