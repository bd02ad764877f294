package result

import (
	"testing"

	"busbar/internal/step"
)

func TestTracedIsInSeconds(t *testing.T) {
	got := TracedOf(3, step.Intervals{Span: 5e9, Compute: 2e9, Comm: 25e8, Overlap: 5e8, Exposed: 2e9, Idle: 1e9})
	if want := (Traced{Rank: 3, Span: 5, Compute: 2, Comm: 2.5, Overlap: 0.5, Exposed: 2, Idle: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
