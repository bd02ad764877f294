package result

import "strings"

// Crowded is why the ranks of a run, or the threads of its library, had to share cores or a GPU, as rank says: times are
// then those of waiting for a turn and say nothing about speed. It is empty where each had its own.
func (r *Run) Crowded() string {
	if r.Method.Shared {
		return "ranks share a GPU"
	}
	for _, w := range r.Warnings {
		for _, kind := range []string{"oversubscribed: ", "threads: "} {
			if why, is := strings.CutPrefix(w, kind); is {
				why, _, _ = strings.Cut(why, ": ") // what it means, and what to do
				return strings.TrimPrefix(kind, "oversubscribed: ") + why
			}
		}
	}
	return ""
}
