package step

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"busbar/internal/notice"
	"busbar/internal/program"
)

// TracedSteps is how many overlapped steps a trace holds at most: the last ones.
const TracedSteps = 3

// Trace is what one rank's trace file holds: the last overlapped steps of one point.
type Trace struct {
	Tool      string // "busbar 0.9.0"
	Run       string // ID of the run
	Point     int    // its number in the run's list, from 1
	Plan      *Plan
	Backend   string // as everywhere: mpi, gloo, nccl, nccl-rehearsal
	Library   string // that communicated, with its version; ""
	Computing string // what computed: "1 thread of FMA"
	GPU       string // name of the device; "" where threads of the host computed
	Device    int    // its number; 0 on a host
	Rehearsed bool
	Rank      int
	Host      string
	Process   int       // pid of the rank
	Began     time.Time // when the first of Steps began; zero: not known
	Steps     []TracedStep
}

// TracedStep is one overlapped step.
type TracedStep struct {
	Number int // of its round, from 1
	Spans  program.Spans
}

// Write writes the trace as the JSON that torch.profiler writes and Perfetto shows. Steps stand one behind the other:
// what was measured between them is not in it. The error is that of w, or says which step does not fit the plan.
func (t *Trace) Write(w io.Writer) error {
	for _, s := range t.Steps {
		if len(s.Spans.Segments) != len(t.Plan.Segments) || len(s.Spans.Ops) != len(t.Plan.Ops) {
			return fmt.Errorf("trace of rank %d: round %d has %d segments and %d operations, the plan %d and %d",
				t.Rank, s.Number, len(s.Spans.Segments), len(s.Spans.Ops), len(t.Plan.Segments), len(t.Plan.Ops))
		}
	}
	b := bufio.NewWriter(w)
	text := traceText{to: b, before: "{\n"}
	for _, m := range t.head() {
		text.member(m.key, m.value)
	}
	text.open("traceEvents")
	events := t.events()
	for i := range events {
		text.element(&events[i])
	}
	text.write("\n]}\n")
	if text.err != nil {
		return text.err
	}
	return b.Flush()
}

// member is one entry of the object that a trace is.
type member struct {
	key   string
	value any
}

// head is what stands before the events. Readers know what a file is of by its first lines, so what it is stands first.
func (t *Trace) head() []member {
	var began int64
	if !t.Began.IsZero() {
		began = t.Began.UnixNano()
	}
	name := t.GPU
	if name == "" {
		name = "CPU, " + t.Computing
	}
	world := t.Plan.World
	ranks := make([]int, world)
	for i := range ranks {
		ranks[i] = i
	}
	group := map[string]any{"pg_name": groupName, "pg_desc": groupAbout, "backend_config": t.Backend, "pg_size": world,
		"ranks": ranks}
	return []member{
		{"schemaVersion", 1},
		{"busbar", TraceAbout{
			Tool: t.Tool, Run: t.Run, Point: t.Point, Says: notice.Paragraph(t.origin()), Model: t.Plan.Model,
			Step: t.Plan.Point.String(), Backend: t.Backend,
			Library: t.Library, Computing: t.Computing, OnHost: t.GPU == "", Rehearsed: t.Rehearsed,
			NonBlocking: t.Plan.Point.Progress == NoCalls || t.Plan.Point.Progress == Poll, Rank: t.Rank, Host: t.Host,
		}},
		{"deviceProperties", []map[string]any{{"id": t.Device, "name": name}}},
		{"distributedInfo", map[string]any{"backend": t.Backend, "rank": t.Rank, "world_size": world, "pg_count": 1,
			"pg_config": []any{group}}},
		{"displayTimeUnit", "ms"},
		{"baseTimeNanoseconds", began},
		{"traceName", fmt.Sprintf("rank%d.json", t.Rank)},
	}
}

// TraceAbout is what a trace file of busbar says of itself, under the key "busbar". It is also how such a file is
// known.
type TraceAbout struct {
	Tool      string `json:"tool"`
	Run       string `json:"run,omitempty"`
	Point     int    `json:"point"`
	Says      string `json:"says"` // what was traced and how, in sentences
	Model     string `json:"model"`
	Step      string `json:"step"` // Point.String
	Backend   string `json:"backend"`
	Library   string `json:"library,omitempty"`
	Computing string `json:"computing"`
	OnHost    bool   `json:"on_host"` // threads of CPUs computed, and no GPU
	Rehearsed bool   `json:"rehearsed"`
	Rank      int    `json:"rank"`
	Host      string `json:"host,omitempty"`

	// operations are begun, and looked after later: a span is no time of communication
	NonBlocking bool `json:"non_blocking,omitempty"`
}

// origin is for people who open the file in a viewer.
func (t *Trace) origin() notice.OwnTrace {
	return notice.OwnTrace{
		Tool: t.Tool, Model: t.Plan.Model, Step: t.Plan.Point.String(), Backend: t.Backend,
		Computing: notice.Computer{By: t.Computing, OnHost: t.GPU == "", Simulated: t.Rehearsed},
		Events:    notice.EventTimes(t.GPU != "" && !t.Rehearsed),
	}
}

// traceText writes JSON a line for each value, so that a person can read it too.
type traceText struct {
	to     io.Writer
	before string // what stands before the next value
	err    error
}

func (t *traceText) write(s string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.to, s)
	}
}

func (t *traceText) value(v any) {
	text, err := json.Marshal(v)
	if t.err == nil {
		t.err = err
	}
	t.write(string(text))
}

func (t *traceText) member(key string, v any) {
	t.write(fmt.Sprintf("%s %q: ", t.before, key))
	t.value(v)
	t.before = ",\n"
}

func (t *traceText) open(key string) {
	t.write(fmt.Sprintf("%s %q: [", t.before, key))
	t.before = "\n"
}

func (t *traceText) element(v any) {
	t.write(t.before)
	t.value(v)
	t.before = ",\n"
}

// segmentName is the name of a segment in a trace, with its work first.
func segmentName(s *Segment) string {
	work := s.Work.String()
	if s.Name == work || strings.HasPrefix(s.Name, work+" ") {
		return tracePrefix + s.Name
	}
	return strings.TrimSpace(tracePrefix + work + " " + s.Name)
}

// opName is the name of an operation in a trace, with what it does first. No name here is one that a library's kernel
// has.
func opName(o *Op) string { return fmt.Sprintf("%s%s (%s)", tracePrefix, o.Collective, o.Name) }

// tracePrefix begins the name of everything that busbar ran itself; post/timeline knows it.
const tracePrefix = "busbar "
