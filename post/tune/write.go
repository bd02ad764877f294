package tune

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/atomicfile"
)

// Row is a range of message sizes for which one choice is significantly faster than NCCL's own.
type Row struct {
	place
	Min int64 `json:"min_bytes"`
	Max int64 `json:"max_bytes"`
	Choice
	Sizes []Size `json:"sizes"`
}

// Size is a size that was measured: with the fastest variant, and the ratio of its time to that of NCCL's choice.
type Size struct {
	Bytes   units.Bytes `json:"size_bytes"`
	Variant string      `json:"variant"`
	Ratio   float64     `json:"ratio"`
	Lo      float64     `json:"lo"`
	Hi      float64     `json:"hi"`
}

// Gain is how much less time the size with the smallest gain takes, and its confidence interval.
func (r Row) Gain() string {
	s := slices.MaxFunc(r.Sizes, func(a, b Size) int { return cmp.Compare(a.Ratio, b.Ratio) })
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*(1-s.Ratio), 100*(1-s.Hi), 100*(1-s.Lo))
}

// Line is the row in a tuner file: of NVIDIA's example plugin and RCCL, or of NCCLX, whose sizes are per rank.
func (r Row) Line(ncclx bool) string {
	name := strings.ReplaceAll(r.Collective.String(), "_", "")
	choice := fmt.Sprintf("%s,%s,%d,%d", r.Algorithm, r.Protocol, r.Channels, r.Nodes)
	if n := int64(r.Ranks); ncclx {
		return fmt.Sprintf("%s,[%d,%d],%s,%d", name, r.Min/n, r.Max/n, choice, r.Ranks/r.Nodes)
	}
	return fmt.Sprintf("%s,%d,%d,%s,%d,-1,-1", name, r.Min, r.Max, choice, r.Ranks)
}

// Tuned is what was found.
type Tuned struct {
	Rows  []Row   `json:"rows"`
	Own   string  `json:"default"` // the variant that leaves the choice to NCCL
	Alpha float64 `json:"alpha"`   // family-wise false-positive rate: of any row of the file
	Pairs int     `json:"pairs"`   // blocks with both times, the most of any point

	notices []notice.Notice
	run     *result.Run // one of those measured
}

// Help is the text of post tune --help; tunerFile is the file that it writes.
var (
	//go:embed help.txt
	Help string
	//go:embed tuner.tmpl
	tunerFile string
)

// Save writes the tuner file; without a path or rows it does nothing.
func (t *Tuned) Save(ctx context.Context, path string, wrote func(path string)) error {
	if path == "" || len(t.Rows) == 0 {
		return nil
	}
	data := map[string]any{"Rows": t.Rows, "Gain": t.gain(), "NCCLX": t.run.Backend.Name == "ncclx",
		"Simulated": t.run.Rehearse,
		// Readers have short lines.
		"Of": units.Truncate(units.Printable(t.run.Device+", "+t.run.Backend.Title()), 200)}
	write := func(w io.Writer) error { return template.Must(template.New("").Parse(tunerFile)).Execute(w, data) }
	return atomicfile.WriteAll(ctx, filepath.Dir(path), []atomicfile.Named{{Name: filepath.Base(path), Write: write}},
		wrote)
}

// gain is the title of the gains.
func (t *Tuned) gain() string { return fmt.Sprintf("less time (%.0f %% CI)", 100-100*t.Alpha) }

// Document is what is shown; kept are the notices that are reported.
func (t *Tuned) Document(kept func([]notice.Notice) []notice.Notice) *document.Document {
	d := &document.Document{Kind: "tune", Title: "Tuner file", Data: t, Notices: kept(t.notices)}
	d.Add(document.Findings(slices.Clone(d.Notices)))
	for _, rows := range units.GroupBy(t.Rows, func(r Row) place { return r.place }) {
		table := document.NewTable("from>", "to>", "algorithm", "protocol", "channels>", t.gain())
		for _, r := range rows {
			table.Row(units.Bytes(r.Min).String(), units.Bytes(r.Max).String(), r.Algorithm, r.Protocol,
				fmt.Sprint(r.Channels), r.Gain())
		}
		world := analysis.Shape{World: rows[0].Ranks, Nodes: rows[0].Nodes}
		d.Add(document.NewSection(fmt.Sprintf("%v, %s", rows[0].Collective, world.Words()), table))
	}
	return d
}
