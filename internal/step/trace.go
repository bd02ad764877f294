package step

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/program"
)

// TracedSteps is how many overlapped steps a trace holds at most: the last ones.
const TracedSteps = 20

// Trace is what one rank's trace file holds: the last overlapped steps of one point.
type Trace struct {
	TraceAbout // Write sets what follows from the other fields
	Plan       *Plan
	GPU        string    // name of the device; "" where threads of the host computed
	Device     int       // its number; 0 on a host
	Process    int       // pid of the rank
	Began      time.Time // when the first of Steps began; zero: unknown
	Steps      []TracedStep
}

// TracedStep is one overlapped step.
type TracedStep struct {
	Number int // of its round, from 1
	Spans  program.Spans
}

// traceFile is the top-level object of a trace. Readers detect a file by its first lines, so its kind comes first.
type traceFile struct {
	Schema      int        `json:"schemaVersion"`
	About       TraceAbout `json:"busbar"`
	Devices     []device   `json:"deviceProperties"`
	Distributed struct {
		Backend string       `json:"backend"`
		Rank    int          `json:"rank"`
		World   int          `json:"world_size"`
		Count   int          `json:"pg_count"`
		Groups  []torchGroup `json:"pg_config"`
	} `json:"distributedInfo"`
	Unit   string  `json:"displayTimeUnit"`
	Began  int64   `json:"baseTimeNanoseconds"`
	Name   string  `json:"traceName"`
	Events []event `json:"traceEvents"`
}

type device struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// torchGroup is the communicator of all ranks, as torch.distributed describes it.
type torchGroup struct {
	Name    string `json:"pg_name"`
	About   string `json:"pg_desc"`
	Backend string `json:"backend_config"`
	Size    int    `json:"pg_size"`
	Ranks   []int  `json:"ranks"`
}

// Write writes the trace as JSON in the format of torch.profiler, which Perfetto shows. Steps follow each other
// directly; the trace leaves out what was measured between them. The error is that of w.
func (t *Trace) Write(w io.Writer) error {
	about := t.TraceAbout
	about.Model, about.Step, about.OnHost = t.Plan.Model, t.Plan.Point.String(), t.GPU == ""
	about.NonBlocking = t.Plan.Point.Progress == NoCalls || t.Plan.Point.Progress == Poll
	about.Text = notice.Paragraph(profiles.OwnTrace{
		Tool: t.Tool, Model: about.Model, Step: about.Step, Backend: t.Backend,
		Computing: profiles.Computer{By: t.Computing, OnHost: about.OnHost, Simulated: t.Rehearsed},
		Events:    t.GPU != "" && !t.Rehearsed,
	})
	f := traceFile{Schema: 1, Unit: "ms", Name: fmt.Sprintf("rank%d.json", t.Rank), Events: t.events(), About: about,
		Devices: []device{{t.Device, cmp.Or(t.GPU, "CPU, "+t.Computing)}}}
	if !t.Began.IsZero() {
		f.Began = t.Began.UnixNano()
	}
	all := torchGroup{Name: groupName, About: groupAbout, Backend: t.Backend, Size: t.Plan.World, Ranks: t.ranks()}
	d := &f.Distributed
	d.Backend, d.Rank, d.World, d.Count, d.Groups = t.Backend, t.Rank, t.Plan.World, 1, []torchGroup{all}
	return json.NewEncoder(w).Encode(&f)
}

// ranks are all ranks of the world.
func (t *Trace) ranks() (all []int) {
	for rank := range t.Plan.World {
		all = append(all, rank)
	}
	return all
}

// TraceAbout is how a trace file of busbar describes itself, under the key "busbar", by which such a file is known.
type TraceAbout struct {
	Tool      string `json:"tool"`          // "busbar 0.9.0"
	Run       string `json:"run,omitempty"` // ID of the run
	Point     int    `json:"point"`         // its number in the run's list, from 1
	Text      string `json:"text"`          // what was traced and how, in sentences
	Model     string `json:"model"`
	Step      string `json:"step"`              // Point.String
	Backend   string `json:"backend"`           // as everywhere: mpi, gloo, nccl, nccl-rehearsal
	Library   string `json:"library,omitempty"` // that communicated, with its version
	Computing string `json:"computing"`         // what computed: "1 thread of FMA"
	OnHost    bool   `json:"on_host"`           // threads of CPUs computed, and no GPU
	Rehearsed bool   `json:"rehearsed"`
	Rank      int    `json:"rank"`
	Host      string `json:"host,omitempty"`

	// operations are begun, and looked after later: a span is no time of communication
	NonBlocking bool `json:"non_blocking,omitempty"`
}

// segmentName is the name of a segment in a trace, with its work first.
func segmentName(s *Segment) string {
	work := string(s.Work)
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
