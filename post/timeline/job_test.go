package timeline

import (
	"fmt"
	"slices"

	"busbar/post/trace"
)

// job is a run whose answers are known: ranks compute, meet in collectives, and end each of them together.
type job struct {
	ranks, steps int
	sizes        []int64                          // of the all-reduces of a step
	pure         int64                            // ns of each
	work         func(rank, step, call int) int64 // ns of computing before a call
	clock        func(rank int) int64             // ns that a rank's times are later than the first's
	noSteps      bool
	numbered     bool // the file numbers calls
	origin       int64
}

const us, msec = int64(1000), int64(1000000)

// ranksOf is what a reader makes of it.
func (j job) ranksOf() []Device {
	devices := make([]Device, j.ranks)
	at := make([]int64, j.ranks)
	for r := range devices {
		d := &devices[r]
		d.Rank, d.World, d.Label, d.Kernels, d.origin = &r, j.ranks, fmt.Sprintf("rank %d", r), 1, j.origin
		d.Groups = []Group{{Name: "0", Size: j.ranks}}
		for _, s := range j.sizes {
			d.Collectives = append(d.Collectives, Collective{Name: "all_reduce", Group: "0", Bytes: &s, Type: "float32",
				Ranks: j.ranks})
		}
		if j.clock != nil {
			at[r] = j.clock(r)
		}
	}
	number := int64(0)
	for s := range j.steps {
		for r := range devices {
			devices[r].Steps = append(devices[r].Steps, Step{Name: fmt.Sprintf("ProfilerStep#%d", s),
				Start: milliseconds(at[r])})
		}
		for c := range j.sizes {
			begin, end := make([]int64, j.ranks), int64(0)
			for r := range devices {
				w := j.work(r, s, c)
				begin[r] = at[r] + w
				devices[r].Steps[s].Compute += milliseconds(w)
				devices[r].Steps[s].Busy += milliseconds(w)
				if j.clock != nil {
					end = max(end, begin[r]-j.clock(r)+j.pure)
				} else {
					end = max(end, begin[r]+j.pure)
				}
			}
			for r := range devices {
				at[r] = end
				if j.clock != nil {
					at[r] += j.clock(r)
				}
				d := &devices[r]
				one := seen{start: begin[r], end: at[r], exposed: at[r] - begin[r], step: int32(s),
					collective: int32(slices.Index(j.sizes, j.sizes[c])),
					seq:        trace.Unknown, stream: int32(20 + r)}
				if j.numbered {
					one.seq = number
				}
				d.seen = append(d.seen, one)
				d.Steps[s].Comm += milliseconds(one.exposed)
			}
			number++
		}
		for r := range devices {
			p := &devices[r].Steps[s]
			p.Exposed, p.Span = p.Comm, p.Comm+p.Compute
			d := &devices[r]
			d.Compute, d.Comm, d.Exposed, d.Span, d.Busy = d.Compute+p.Compute, d.Comm+p.Comm, d.Exposed+p.Comm,
				d.Span+p.Span,
				d.Busy+p.Compute
		}
	}
	if j.noSteps {
		for r := range devices {
			devices[r].Steps = nil
			for i := range devices[r].seen {
				devices[r].seen[i].step = -1
			}
		}
	}
	return devices
}

func compared(devices ...Device) *Timeline {
	t := &Timeline{Devices: devices}
	compareRanks(t)
	t.review()
	return t
}

func mib(n ...int64) []int64 {
	for i := range n {
		n[i] <<= 20
	}
	return n
}
