package timeline

import (
	"maps"
	"slices"

	"busbar/post/trace"
)

// ofStream is the activity of one stream.
type ofStream struct {
	running [copying + 1]spans
	kernels int
}

// streams returns a device's streams by number, and those on which communication waits for computation.
func (s *study) streams() (all []Stream, shared []SharedStream) {
	of := map[int32]*ofStream{}
	for i := range s.Activities {
		a := &s.Activities[i]
		stream := of[a.Stream]
		if stream == nil {
			stream = &ofStream{}
			of[a.Stream] = stream
		}
		running := &stream.running[s.classes[i]]
		*running = running.with(trace.Span{Start: a.Start, End: a.End})
		if a.Kind == trace.Kernel {
			stream.kernels++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		running := of[id].running
		compute, comm := running[computing].length(), running[communicating].length()
		all = append(all, Stream{
			ID: int(id), Compute: milliseconds(compute), Comm: milliseconds(comm),
			Memcpy:  milliseconds(running[copying].length()),
			Exposed: milliseconds(s.exposedIn(running[communicating]...)), Kernels: of[id].kernels,
		})
		ofCompute := share(compute, s.cover.sets[computing].of.length())
		if compute > 0 && comm > 0 && ofCompute >= minShared {
			shared = append(shared, SharedStream{ID: int(id), Comm: milliseconds(comm),
				OfComm: share(comm, s.cover.sets[communicating].of.length()), OfCompute: ofCompute})
		}
	}
	return all, shared
}

// minShared is the minimum percentage of its device's computation for a shared stream. Streams of sharded training
// have some copies and casts beside their collectives; the computation that hides them is elsewhere.
const minShared = 10

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
