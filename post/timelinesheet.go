package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/stats"
	"busbar/post/say"
	"busbar/post/timeline"
)

// timelineSheet writes a timeline down: what stands first is what one would say first, what stands last is what to do.
type timelineSheet struct {
	sheet
	*timeline.Timeline
}

func sheetOf(t *timeline.Timeline) *sheet {
	s := &timelineSheet{Timeline: t}
	s.files()
	s.headlines()
	s.devices()
	s.idle()
	s.steps()
	s.streams()
	s.ranks()
	s.collectives()
	s.buckets()
	s.exposed()
	s.list("Against the benchmark:", saysOf(t.Against, func(j timeline.Joined) string { return j.Says }))
	s.unclassified()
	s.limits()
	s.answers()
	s.advice()
	return &s.sheet
}

func saysOf[T any](all []T, says func(T) string) (texts []string) {
	for _, one := range all {
		texts = append(texts, says(one))
	}
	return texts
}

// ms writes a time in milliseconds.
func ms(v float64) string { return fmt.Sprintf("%.3f ms", v) }

// share writes a part of a whole in percent; "-" of nothing.
func share(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

// orNaN is a figure that may be missing; NaN is one that is.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// files says what was read.
func (s *timelineSheet) files() {
	if n := len(s.Files); n > 3 {
		s.say(fmt.Sprintf("%d files, the first of them %s: %s", n, s.Files[0].Path, fileKind(s.Files[0])))
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
	if f.Tool != "" {
		return cmp.Or(what, f.Format) + " (" + f.Tool + ")"
	}
	return cmp.Or(what, f.Format)
}

// aboutDevice is what is known of a device beside its times.
func aboutDevice(d *timeline.Device) string {
	words := []string{d.Label}
	if d.Rank != nil && d.World > 0 {
		words = append(words, fmt.Sprintf("of %s", say.Count(d.World, "rank")))
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

// headlines are the sentences that stand first.
func (s *timelineSheet) headlines() {
	s.title("In short:")
	for _, e := range s.Scaling {
		s.item(e.Says)
	}
	ran := 0
	for _, d := range s.Devices {
		if d.Span > 0 {
			ran++
		}
	}
	switch {
	case ran == 0:
		s.item("Nothing ran on a GPU in what was read.")
		return
	case len(s.Devices) == 1:
		s.oneDevice(&s.Devices[0])
	default:
		s.manyDevices()
	}
	for _, says := range s.shared() {
		s.item(says)
	}
	if a := s.Across; a != nil && a.Straggler != nil {
		s.item(a.Straggler.Says)
	}
}

func (s *timelineSheet) oneDevice(d *timeline.Device) {
	s.item(fmt.Sprintf("%s: of %s, %s (%s) are computation, %s (%s) communication that nothing hides, %s (%s) copies alone, and %s (%s) idle.", d.Label, ms(d.Span),
		ms(d.Compute), share(d.Compute, d.Span), ms(d.Exposed), share(d.Exposed, d.Span), ms(d.MemcpyOnly), share(d.MemcpyOnly, d.Span), ms(d.Idle), share(d.Idle, d.Span)))
	switch {
	case d.Comm <= 0:
		s.item("No communication ran: there is nothing to hide, and no overlap to speak of.")
	case d.Overlap <= 0:
		s.item(fmt.Sprintf("Communication takes %s, and none of it runs beside computation.", ms(d.Comm)))
	default:
		s.item(fmt.Sprintf("Communication takes %s, of which %s (%.2f %%) run beside computation.", ms(d.Comm), ms(d.Overlap), orNaN(d.Efficiency)))
	}
}

// manyDevices says the median over devices, with the least and the greatest.
func (s *timelineSheet) manyDevices() {
	over := func(of func(d *timeline.Device) float64) string {
		var all []float64
		for i := range s.Devices {
			if v := of(&s.Devices[i]); !math.IsNaN(v) {
				all = append(all, v)
			}
		}
		if all == nil {
			return "-"
		}
		return fmt.Sprintf("%.1f %% (%.1f to %.1f)", stats.Median(all), slices.Min(all), slices.Max(all))
	}
	ofSpan := func(part func(d *timeline.Device) float64) string {
		return over(func(d *timeline.Device) float64 { return 100 * part(d) / d.Span })
	}
	s.item(fmt.Sprintf("%d devices. Median of their span, with the least and the greatest: computation %s, communication that nothing hides %s, idle %s.", len(s.Devices),
		ofSpan(func(d *timeline.Device) float64 { return d.Compute }), ofSpan(func(d *timeline.Device) float64 { return d.Exposed }), ofSpan(func(d *timeline.Device) float64 { return d.Idle })))
	if hidden := over(func(d *timeline.Device) float64 { return orNaN(d.Efficiency) }); hidden == "-" {
		s.item("No communication ran: there is nothing to hide, and no overlap to speak of.")
	} else {
		s.item("Of communication, " + hidden + " run beside computation.")
	}
}

// partsColumns are the columns of times that make up a span.
var partsColumns = []figureColumn{{"span", 3}, {"compute", 3}, {"comm", 3}, {"overlap", 3}, {"exposed", 3}, {"copies", 3}, {"idle", 3}, {"overlap %", 2}, {"wall %", 2}}

const exposedColumn = 4

func partsFigures(p timeline.Parts) []float64 {
	return []float64{p.Span, p.Compute, p.Comm, p.Overlap, p.Exposed, p.MemcpyOnly, p.Idle, orNaN(p.Efficiency), orNaN(p.WallClock)}
}

// devices is the table of what each device did.
func (s *timelineSheet) devices() {
	t := figureTable{first: "device", columns: partsColumns, worst: exposedColumn, noun: "device"}
	below := false
	for _, d := range s.Devices {
		t.rows = append(t.rows, figureRow{d.Label, partsFigures(d.Parts)})
		below = below || orNaN(d.WallClock) < 0
	}
	if t.rows == nil {
		return
	}
	s.title("Devices, in ms:")
	s.figures(t)
	s.say("compute + exposed + copies + idle = span. comm is overlap + exposed; copies are those beside which nothing else ran. overlap % is overlap of comm. wall % is the other formula, (compute + comm - span) / comm.")
	if below {
		s.say("That formula is for compute and comm measured alone, and for a span without idle time: below 0 it says no more than that the device idled.")
	}
}

// idle says what idle time went to.
func (s *timelineSheet) idle() {
	t := figureTable{first: "device", columns: []figureColumn{{"idle", 3}, {"host-bound", 3}, {"waiting", 3}, {"not known", 3}, {"kernels", 0}, {"computing ms", 3}}, noun: "device"}
	idle := 0.0
	for _, d := range s.Devices {
		t.rows = append(t.rows, figureRow{d.Label, []float64{d.Idle, d.HostBound, d.Waiting, d.Unexplained, float64(d.Kernels), d.Busy}})
		idle += d.Idle
	}
	if idle == 0 {
		return
	}
	s.title("Idle time, in ms, and kernels:")
	s.figures(t)
	s.say("host-bound: what ran next had not been launched yet. waiting: it had been, and waited for an event, its stream or the device. not known: its launch is not in the file. computing ms: the kernels that compute, each by itself, summed.")
}

// shared says which streams have both communication and computation, one sentence for streams that are alike.
func (s *timelineSheet) shared() (sentences []string) {
	var streams []string
	on := map[string][]string{}
	for _, d := range s.Devices {
		for _, h := range d.Shared {
			stream := fmt.Sprintf("stream %d", h.ID)
			if on[stream] == nil {
				streams = append(streams, stream)
			}
			on[stream] = append(on[stream], fmt.Sprintf("%s (%s, %.0f %% of its communication)", d.Label, ms(h.Comm), h.OfComm))
		}
	}
	for _, stream := range streams {
		sentences = append(sentences, fmt.Sprintf("Communication on %s cannot be hidden behind the computation there: they share the stream, and run one after the other. So it is on %s.", stream, say.Some(on[stream])))
	}
	return sentences
}

// streams is a table of what each stream did, of a single device and where there is more than one way to see.
func (s *timelineSheet) streams() {
	if len(s.Devices) != 1 || len(s.Devices[0].Streams) < 2 {
		return
	}
	d := &s.Devices[0]
	t := figureTable{first: "stream", columns: []figureColumn{{"compute", 3}, {"comm", 3}, {"exposed", 3}, {"copies", 3}, {"kernels", 0}}, worst: 1, noun: "stream"}
	communicate := 0
	for _, r := range d.Streams {
		t.rows = append(t.rows, figureRow{fmt.Sprint(r.ID), []float64{r.Compute, r.Comm, r.Exposed, r.Memcpy, float64(r.Kernels)}})
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
	v, units := float64(*bytes), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for v >= 1024 && len(units) > 1 {
		v, units = v/1024, units[1:]
	}
	return fmt.Sprintf("%.2f %s", v, units[0])
}
