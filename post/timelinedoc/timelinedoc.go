// Package timelinedoc makes a document of a timeline.
package timelinedoc

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// timelineDocument makes a document of a timeline: the main facts first, what to do last.
type timelineDocument struct {
	sheet
	*timeline.Timeline
}

// Of returns a timeline as a document, whose JSON has all that was found.
func Of(t *timeline.Timeline) *document.Document {
	s := &timelineDocument{Timeline: t}
	s.files()
	s.list("In short:", t.InShortTexts())
	d := &s.Document
	d.Add(Details(t)...)
	d.Kind, d.Tool, d.Data, d.Notices = "timeline", t.Tool, t, t.Notices()
	return d
}

// Details returns the sections of a timeline below what it states first: tables, limits, questions, advice.
func Details(t *timeline.Timeline) []document.Block {
	s := &timelineDocument{Timeline: t}
	s.devices()
	s.idle()
	s.steps()
	s.streams()
	s.ranks()
	s.collectives()
	s.buckets()
	s.exposed()
	s.list("Against the benchmark:", textsOf(t.Against, timeline.Joined.Text))
	s.unclassified()
	s.limits()
	s.answers()
	s.advice()
	return s.Blocks
}

func textsOf[T any](all []T, text func(T) string) (texts []string) {
	for _, one := range all {
		texts = append(texts, text(one))
	}
	return texts
}

// ms writes a time in milliseconds.
func ms(v float64) string { return fmt.Sprintf("%.3f ms", v) }

// orNaN is a figure that may be missing; NaN is one that is.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// files says what was read.
func (s *timelineDocument) files() {
	if n := len(s.Files); n > 3 {
		s.say(fmt.Sprintf("%s and %s: %s", s.Files[0].Path, units.Count(n-1, "more file"), fileKind(s.Files[0])))
	} else {
		for _, f := range s.Files {
			s.say(f.Path + ": " + fileKind(f))
		}
	}
	for _, f := range s.Files {
		if f.Cut != "" {
			s.say(fmt.Sprintf("! %s ends early: %s", f.Path, f.Cut))
		}
	}
	if len(s.Devices) == 1 {
		if words := aboutDevice(&s.Devices[0]); words != "" {
			s.say(words)
		}
	}
	if p := s.Rule.CommPattern; p != "" {
		s.say("Kernels that match " + p + " are counted as communication too.")
	}
}

// fileKind says what a file is.
func fileKind(f timeline.File) string {
	what := map[string]string{"kineto": "a Kineto trace", "nsight": "an export of Nsight Systems"}[f.Format]
	if f.Own != "" {
		return cmp.Or(what, f.Format) + " of busbar's own step"
	}
	if f.Tool != "" {
		return cmp.Or(what, f.Format) + " (" + f.Tool + ")"
	}
	return cmp.Or(what, f.Format)
}

// aboutDevice is what is known of a device beside its times.
func aboutDevice(d *timeline.Device) string {
	words := []string{d.Label}
	if d.Rank != nil && d.World > 0 {
		words = append(words, fmt.Sprintf("of %s", units.Count(d.World, "rank")))
	}
	text := strings.Join(words, " ")
	for _, w := range []string{d.GPU, d.Host} {
		if w != "" {
			text += ", " + w
		}
	}
	if d.NCCL != "" {
		text += ", NCCL " + d.NCCL
	}
	if text == d.Label {
		return ""
	}
	return text
}

// partsColumns are the columns of times that make up a span.
var partsColumns = []figureColumn{{"span", 3}, {"compute", 3}, {"comm", 3}, {"overlap", 3}, {"exposed", 3},
	{"copies", 3}, {"idle", 3}, {"overlap %", 2}, {"wall %", 2}}

const exposedColumn = 4

func partsFigures(p timeline.Parts) []float64 {
	return []float64{p.Span, p.Compute, p.Comm, p.Overlap, p.Exposed, p.MemcpyOnly, p.Idle, orNaN(p.Efficiency),
		orNaN(p.WallClock)}
}

// devices is the table of what each device did.
func (s *timelineDocument) devices() {
	t := figureTable{first: "device", columns: partsColumns, worst: exposedColumn, noun: "device"}
	below := false
	for _, i := range s.Working() {
		d := &s.Devices[i]
		t.rows = append(t.rows, figureRow{d.Label, partsFigures(d.Parts)})
		below = below || orNaN(d.WallClock) < 0
	}
	if t.rows == nil {
		return
	}
	s.title("Devices, in ms:")
	s.figures(t)
	s.say("compute + exposed + copies + idle = span. comm is overlap + exposed; copies are those beside which nothing " +
		"else ran. overlap % is overlap of comm. wall % is the other formula, (compute + comm - span) / comm.")
	if below {
		s.say("That formula is for compute and comm measured alone, and for a span without idle time: below 0 it says no " +
			"more than that the device idled.")
	}
}

// idle says what idle time went to.
func (s *timelineDocument) idle() {
	t := figureTable{first: "device", columns: []figureColumn{{"idle", 3}, {"host-bound", 3}, {"waiting", 3},
		{"unknown", 3}, {"kernels", 0}, {"computing ms", 3}}, noun: "device"}
	idle := 0.0
	for _, i := range s.Working() {
		d := &s.Devices[i]
		t.rows = append(t.rows,
			figureRow{d.Label, []float64{d.Idle, d.HostBound, d.Waiting, d.Unexplained, float64(d.Kernels), d.Busy}})
		idle += d.Idle
	}
	if idle == 0 {
		return
	}
	s.title("Idle time, in ms, and kernels:")
	s.figures(t)
	s.say("host-bound: what ran next had not been launched yet. waiting: it had been, and waited for an event, its " +
		"stream or the device. unknown: its launch is not in the file. computing ms: the kernels that compute, each by " +
		"itself, summed.")
}

// streams is a table of what each stream did, of a single device and where there is more than one way to see.
func (s *timelineDocument) streams() {
	if len(s.Devices) != 1 || len(s.Devices[0].Streams) < 2 {
		return
	}
	d := &s.Devices[0]
	t := figureTable{first: "stream", columns: []figureColumn{{"compute", 3}, {"comm", 3}, {"exposed", 3}, {"copies", 3},
		{"kernels", 0}}, worst: 1, noun: "stream"}
	communicate := 0
	for _, r := range d.Streams {
		t.rows = append(t.rows,
			figureRow{fmt.Sprint(r.ID), []float64{r.Compute, r.Comm, r.Exposed, r.Memcpy, float64(r.Kernels)}})
		if r.Comm > 0 {
			communicate++
		}
	}
	if len(d.Shared) == 0 && communicate < 2 {
		return
	}
	s.title("Streams, in ms:")
	s.figures(t)
}

// sizeWords writes a size that may be unknown, exact where that is short.
func sizeWords(bytes *int64) string {
	if bytes == nil || *bytes < 0 {
		return "-"
	}
	exact := coll.FormatSize(*bytes, true)
	if len(exact) <= len("1023 KiB") {
		return exact
	}
	v, names := float64(*bytes), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for v >= 1024 && len(names) > 1 {
		v, names = v/1024, names[1:]
	}
	return fmt.Sprintf("%.2f %s", v, names[0])
}
