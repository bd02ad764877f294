package step

import (
	"fmt"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/program"
)

// Streams of a trace, which are rows in a viewer. An operation that is on its way while another is has a row further
// down.
const (
	computeStream = 1
	commStream    = 2
)

// The communicator of all ranks, as torch.distributed calls it.
const (
	groupName  = "0"
	groupAbout = "default_pg"
)

// mostListedRanks is up to how many ranks each event lists; the head of the file has all of them.
const mostListedRanks = 30

// event is one event of chrome's trace format.
type event struct {
	Phase    string `json:"ph"`
	Category string `json:"cat,omitempty"`
	Name     string `json:"name"`
	Process  int    `json:"pid"`
	Thread   int    `json:"tid"`
	Start    micros `json:"ts"`
	Took     micros `json:"dur"`
	Args     any    `json:"args,omitempty"`
}

// micros is a time in nanoseconds, which traces spell as microseconds with decimals.
type micros int64

// MarshalJSON writes digits, without a float64 in between.
func (m micros) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%03d", int64(m)/1000, int64(m)%1000), nil
}

// activityArgs are those of a segment.
type activityArgs struct {
	Device      int    `json:"device"`
	Stream      int    `json:"stream"`
	Correlation int    `json:"correlation"`
	Work        string `json:"work,omitempty"`
}

// collectiveArgs are those of an operation, under the names that torch.distributed gives them.
type collectiveArgs struct {
	activityArgs
	Name   string `json:"Collective name"`
	In     int64  `json:"In msg nelems"`
	Out    int64  `json:"Out msg nelems"`
	Size   int    `json:"Group size"`
	Type   string `json:"dtype"`
	Group  string `json:"Process Group Name"`
	About  string `json:"Process Group Description"`
	Ranks  string `json:"Process Group Ranks,omitempty"`
	First  int    `json:"Global rank start"`
	Stride int    `json:"Global rank stride"`
	Rank   int    `json:"Rank"`
	Seq    int    `json:"Seq"`
	Layers int    `json:"Layers"` // whose gradients or parameters it carries
}

// events are all of a trace.
func (t *Trace) events() []event {
	all := t.rows()
	var at int64 // where the next step begins
	activities := 0
	for n, s := range t.Steps {
		first := beginning(s.Spans)
		took := IntervalsOf(s.Spans).Span
		name := fmt.Sprintf("ProfilerStep#%d", s.Number)
		all = append(all,
			event{Phase: "X", Category: "user_annotation", Name: name, Process: t.Process, Thread: t.Process, Start: micros(at),
				Took: micros(took)},
			event{Phase: "X", Category: "gpu_user_annotation", Name: name, Process: t.Device, Thread: computeStream,
				Start: micros(at), Took: micros(took)})
		place := func(name string, s program.Span, args any, stream int) {
			s = whole(s)
			all = append(all, event{Phase: "X", Category: "kernel", Name: name, Process: t.Device, Thread: stream,
				Start: micros(at + s.Start - first), Took: micros(s.End - s.Start), Args: args})
		}
		for i, span := range s.Spans.Segments {
			if activities++; ran(span) {
				segment := &t.Plan.Segments[i]
				place(segmentName(segment), span, activityArgs{t.Device, computeStream, activities, segment.Work.String()},
					computeStream)
			}
		}
		free := rows{}
		for i, span := range s.Spans.Ops {
			if activities++; ran(span) {
				op := &t.Plan.Ops[i]
				args := t.collective(op, n*len(t.Plan.Ops)+i+1)
				args.activityArgs = activityArgs{Device: t.Device, Stream: free.take(whole(span)), Correlation: activities}
				place(opName(op), span, args, args.Stream)
			}
		}
		at += took
	}
	return all
}

// beginning is when the first segment or operation of a step began.
func beginning(s program.Spans) int64 {
	if all := union(append(s.Segments[:len(s.Segments):len(s.Segments)], s.Ops...)); len(all) > 0 {
		return all[0].Start
	}
	return 0
}

// rows are until when each row of communication is taken.
type rows []int64

// take is the stream of an operation: the first row that is free when it begins.
func (r *rows) take(s program.Span) int {
	for i, until := range *r {
		if until <= s.Start {
			(*r)[i] = s.End
			return commStream + i
		}
	}
	*r = append(*r, s.End)
	return commStream + len(*r) - 1
}

// rows name what a viewer shows.
func (t *Trace) rows() []event {
	label := fmt.Sprintf("rank %d of %d", t.Rank, t.Plan.World)
	if t.Host != "" {
		label += " on " + t.Host
	}
	device := t.GPU
	switch {
	case t.Rehearsed:
		device, label = "SIMULATED, no GPU", label+", SIMULATED"
	case device == "":
		device = "CPU, no GPU"
	}
	name := func(what string, process, thread int, text string) event {
		key := "name"
		if what == "process_labels" {
			key = "labels"
		}
		return event{Phase: "M", Name: what, Process: process, Thread: thread, Args: map[string]string{key: text}}
	}
	all := []event{
		name("process_name", t.Process, 0, "busbar rank"), name("process_labels", t.Process, 0, label),
		name("thread_name", t.Process, t.Process, "steps"),
		name("process_name", t.Device, 0, device), name("process_labels", t.Device, 0, t.Computing),
		name("thread_name", t.Device, computeStream, "computing"),
	}
	for i := range t.mostAtOnce() {
		text := "communication"
		if i > 0 {
			text += ", beside others"
		}
		all = append(all, name("thread_name", t.Device, commStream+i, text))
	}
	return all
}

// mostAtOnce is how many rows of communication there are.
func (t *Trace) mostAtOnce() (most int) {
	for _, s := range t.Steps {
		free := rows{}
		for _, span := range s.Spans.Ops {
			if ran(span) {
				free.take(whole(span))
			}
		}
		most = max(most, len(free))
	}
	return most
}

// collective is an operation in torch's words.
func (t *Trace) collective(op *Op, seq int) collectiveArgs {
	c := coll.Case{Collective: op.Collective, World: t.Plan.World, Count: op.Count}
	args := collectiveArgs{
		Name: torchCollective(op.Collective), In: c.SendCount(t.Rank), Out: c.RecvCount(t.Rank), Size: t.Plan.World,
		Type:  torchType(t.Plan.Point.Type),
		Group: groupName, About: groupAbout, Stride: 1, Rank: t.Rank, Seq: seq, Layers: op.Layers,
	}
	if t.Plan.World <= mostListedRanks {
		ranks := make([]string, t.Plan.World)
		for i := range ranks {
			ranks[i] = strconv.Itoa(i)
		}
		args.Ranks = "[" + strings.Join(ranks, ", ") + "]"
	}
	return args
}

// torchCollective is what torch.distributed calls a collective: of a flat tensor where there are shares.
func torchCollective(c coll.Collective) string {
	switch c {
	case coll.AllReduce:
		return "allreduce"
	case coll.AllGather:
		return "_allgather_base"
	case coll.ReduceScatter:
		return "_reduce_scatter_base"
	}
	return c.String()
}

// torchType is what torch calls a type.
func torchType(d coll.DataType) string {
	switch d {
	case coll.Float16:
		return "Half"
	case coll.BFloat16:
		return "BFloat16"
	case coll.Float32:
		return "Float"
	case coll.Float64:
		return "Double"
	case coll.Float8E4M3:
		return "Float8_e4m3fn"
	case coll.Float8E5M2:
		return "Float8_e5m2"
	}
	return d.String()
}
