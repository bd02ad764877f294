package timeline

import (
	"cmp"
	"slices"

	"busbar/post/trace"
)

// ofStream is what ran on one stream.
type ofStream struct {
	running [copying + 1]union
	exposed int64 // ns, of its communication
	kernels int
}

// union is how long a set is whose spans come in order and are not kept.
type union struct {
	last   trace.Span
	length int64 // of those before the last
}

// add takes a span, and gives the one that it ends, if it does.
func (u *union) add(a trace.Span) (ended trace.Span) {
	if a.Start <= u.last.End && u.last != (trace.Span{}) {
		u.last.End = max(u.last.End, a.End)
		return trace.Span{}
	}
	return u.end(a)
}

// end begins a new span.
func (u *union) end(a trace.Span) (ended trace.Span) {
	ended, u.last = u.last, a
	u.length += ended.End - ended.Start
	return ended
}

// streams are the streams of a device, by number, and those of them on which communication waits for computing.
func (s *study) streams() ([]Stream, []SharedStream) {
	of := map[int32]*ofStream{}
	for i := range s.Activities {
		a := &s.Activities[i]
		stream := of[a.Stream]
		if stream == nil {
			stream = &ofStream{}
			of[a.Stream] = stream
		}
		ended := stream.running[s.classes[i]].add(trace.Span{Start: a.Start, End: a.End})
		if s.classes[i] == communicating {
			stream.exposed += s.exposedIn(ended)
		}
		if a.Kind == trace.Kernel {
			stream.kernels++
		}
	}
	all, shared := []Stream{}, []SharedStream{}
	for id, stream := range of {
		for c := range stream.running {
			ended := stream.running[c].end(trace.Span{})
			if class(c) == communicating {
				stream.exposed += s.exposedIn(ended)
			}
		}
		compute, comm := stream.running[computing].length, stream.running[communicating].length
		all = append(all, Stream{
			ID: int(id), Compute: milliseconds(compute), Comm: milliseconds(comm),
			Memcpy:  milliseconds(stream.running[copying].length),
			Exposed: milliseconds(stream.exposed), Kernels: stream.kernels,
		})
		if compute > 0 && comm > 0 {
			shared = append(shared, SharedStream{
				ID: int(id), Comm: milliseconds(comm), OfComm: share(comm, s.cover.comm.of.length()),
				OfCompute: share(compute, s.cover.compute.of.length()),
			})
		}
	}
	slices.SortFunc(all, func(a, b Stream) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(shared, func(a, b SharedStream) int { return cmp.Compare(a.ID, b.ID) })
	return all, slices.DeleteFunc(shared, func(s SharedStream) bool { return s.OfCompute < leastShared })
}

// leastShared is how much of its device's computing, in percent, a stream has to have to be told as shared. The streams
// of sharded training have some kernels beside their collectives, which copy and cast: what computes runs elsewhere,
// and hides them.
const leastShared = 10

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
