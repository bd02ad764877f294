package step

import (
	"cmp"
	"fmt"
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
	Device      int  `json:"device"`
	Stream      int  `json:"stream"`
	Correlation int  `json:"correlation"`
	Work        Work `json:"work,omitempty"`
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
func (t *Trace) events() (all []event) {
	var at int64 // where the next step begins
	activities, most := 0, 0
	for n, s := range t.Steps {
		first, took := beginning(s.Spans), IntervalsOf(s.Spans).Span
		add := func(category, name string, process, thread int, start, took int64, args any) {
			all = append(all, event{Phase: "X", Category: category, Name: name, Process: process, Thread: thread,
				Start: micros(at + start), Took: micros(took), Args: args})
		}
		name := fmt.Sprintf("ProfilerStep#%d", s.Number)
		add("user_annotation", name, t.Process, t.Process, 0, took, nil)
		add("gpu_user_annotation", name, t.Device, computeStream, 0, took, nil)
		for i, span := range s.Spans.Segments {
			if activities++; ran(span) {
				segment := &t.Plan.Segments[i]
				span = whole(span)
				add("kernel", segmentName(segment), t.Device, computeStream, span.Start-first, span.End-span.Start,
					activityArgs{t.Device, computeStream, activities, segment.Work})
			}
		}
		free := rows{}
		for i, span := range s.Spans.Ops {
			if activities++; ran(span) {
				op := &t.Plan.Ops[i]
				span = whole(span)
				args := t.collective(op, n*len(t.Plan.Ops)+i+1)
				args.activityArgs = activityArgs{Device: t.Device, Stream: free.take(span), Correlation: activities}
				add("kernel", opName(op), t.Device, args.Stream, span.Start-first, span.End-span.Start, args)
			}
		}
		at, most = at+took, max(most, len(free))
	}
	return append(t.names(most), all...)
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

// names are what a viewer shows beside rows, so many of them with communication.
func (t *Trace) names(communication int) []event {
	label := fmt.Sprintf("rank %d of %d", t.Rank, t.Plan.World)
	if t.Host != "" {
		label += " on " + t.Host
	}
	device := cmp.Or(t.GPU, "CPU, no GPU")
	if t.Rehearsed {
		device, label = "SIMULATED, no GPU", label+", SIMULATED"
	}
	name := func(what, key string, process, thread int, text string) event {
		return event{Phase: "M", Name: what, Process: process, Thread: thread, Args: map[string]string{key: text}}
	}
	all := []event{
		name("process_name", "name", t.Process, 0, "busbar rank"),
		name("process_labels", "labels", t.Process, 0, label),
		name("thread_name", "name", t.Process, t.Process, "steps"),
		name("process_name", "name", t.Device, 0, device),
		name("process_labels", "labels", t.Device, 0, t.Computing),
		name("thread_name", "name", t.Device, computeStream, "computing"),
	}
	for i := range communication {
		all = append(all, name("thread_name", "name", t.Device, commStream+i, "communication"))
	}
	return all
}

// collective is an operation in torch's words.
func (t *Trace) collective(op *Op, seq int) collectiveArgs {
	c := coll.Case{Collective: op.Collective, World: t.Plan.World, Count: op.Count}
	args := collectiveArgs{
		Name: cmp.Or(torchCollectives[op.Collective], op.Collective.String()), In: c.SendCount(t.Rank),
		Out: c.RecvCount(t.Rank), Size: t.Plan.World,
		Type:  cmp.Or(torchTypes[t.Plan.Point.Type], t.Plan.Point.Type.String()),
		Group: groupName, About: groupAbout, Stride: 1, Rank: t.Rank, Seq: seq, Layers: op.Layers,
	}
	if t.Plan.World <= mostListedRanks {
		args.Ranks = strings.ReplaceAll(fmt.Sprint(t.ranks()), " ", ", ")
	}
	return args
}

// torchCollectives are what torch.distributed calls collectives: of a flat tensor where there are shares.
var torchCollectives = map[coll.Collective]string{
	coll.AllReduce: "allreduce", coll.AllGather: "_allgather_base", coll.ReduceScatter: "_reduce_scatter_base",
}

// torchTypes are what torch calls types.
var torchTypes = map[coll.DataType]string{
	coll.Float16: "Half", coll.BFloat16: "BFloat16", coll.Float32: "Float", coll.Float64: "Double",
	coll.Float8E4M3: "Float8_e4m3fn", coll.Float8E5M2: "Float8_e5m2",
}
