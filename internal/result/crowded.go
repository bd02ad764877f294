package result

import "busbar/internal/notice"

// Crowded is why the ranks of a run, or the threads of its library, had to share cores or a GPU: times are then those
// of waiting for a turn and show no speed of communication. It is nil where each had its own.
func (r *Run) Crowded() notice.Fact {
	if r.Method.Shared {
		return notice.SharedGPU{}
	}
	return r.Warnings.Crowded()
}
