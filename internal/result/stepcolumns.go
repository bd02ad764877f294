package result

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/step"
)

// stepColumn is one column of the table of training steps. Its text is empty where there is nothing to say.
type stepColumn struct {
	name string
	text func(*StepRow) string
}

// stepColumns are those of steps.csv; docs/file-format.md describes them.
var stepColumns = slices.Concat([]stepColumn{
	ofRun("run", func(r *Run) string { return r.ID }),
	ofRun("campaign", func(r *Run) string { return r.Campaign }),
	ofRun("launch", func(r *Run) string { return r.Launch }),
	ofRun("backend", func(r *Run) string { return r.Backend.Name }),
	ofRun("library", func(r *Run) string { return r.Backend.Title() }),
	ofRun("variant", func(r *Run) string { return r.Variant }),
	ofRun("block", func(r *Run) string { return r.Block }),
	ofRun("world", func(r *Run) string { return strconv.Itoa(r.World) }),
	ofRun("nodes", func(r *Run) string { return strconv.Itoa(r.Nodes) }),
	ofRun("ranks_per_node", func(r *Run) string { return strconv.Itoa(r.RanksPerNode) }),
	ofRun("device", func(r *Run) string { return r.Device }),
	ofRun("model", func(r *Run) string { return r.Step.Model }),
	ofRun("computing", func(r *Run) string { return r.Step.Computing }),
	ofPoint("strategy", func(p step.Point) string { return p.Strategy.String() }),
	ofPoint("bucket", func(p step.Point) string { return p.Bucket.String() }),
	ofPoint("type", func(p step.Point) string { return p.Type.String() }),
	ofPoint("compression", func(p step.Point) string { return p.Compression }),
	ofPoint("progress", func(p step.Point) string { return p.Progress.String() }),
	{"ops", func(r *StepRow) string {
		return ifAny(r.Record.Ops != nil, func() string { return strconv.Itoa(len(r.Record.Ops)) })
	}},
	{"bytes", func(r *StepRow) string {
		return ifAny(r.Record.Ops != nil, func() string { return strconv.FormatInt(r.Record.bytes(), 10) })
	}},
	{"rounds", ofFigures(func(f *step.Figures) string { return strconv.Itoa(f.Rounds) })},
},
	timeColumns("compute", func(f *step.Figures) *step.Time { return &f.Compute }),
	timeColumns("comm", func(f *step.Figures) *step.Time { return &f.Comm }),
	timeColumns("sequential", func(f *step.Figures) *step.Time { return &f.Sequential }),
	timeColumns("overlapped", func(f *step.Figures) *step.Time { return &f.Overlapped }),
	figureColumns("exposed", "_s", func(f *step.Figures) *step.Figure { return &f.Exposed }),
	figureColumns("overlap", "", func(f *step.Figures) *step.Figure { return f.Overlap }),
	figureColumns("overlap_intervals", "", func(f *step.Figures) *step.Figure { return f.ByInterval }),
	figureColumns("overlap_bound", "", func(f *step.Figures) *step.Figure { return f.Bound }),
	figureColumns("compute_slowdown", "", func(f *step.Figures) *step.Figure { return f.SlowerComp }),
	figureColumns("comm_slowdown", "", func(f *step.Figures) *step.Figure { return f.SlowerComm }),
	figureColumns("speed_up", "", func(f *step.Figures) *step.Figure { return f.SpeedUp }),
	figureColumns("weak_scaling", "", func(f *step.Figures) *step.Figure { return f.Efficiency }),
	[]stepColumn{
		{"best", func(r *StepRow) string { return standingWords[r.Standing.Verdict] }},
		{"slower", func(r *StepRow) string { return ifStands(r, true, func(f step.Figure) float64 { return f.Value }) }},
		{"slower_lo", func(r *StepRow) string { return ifStands(r, false, func(f step.Figure) float64 { return f.Lo }) }},
		{"slower_hi", func(r *StepRow) string { return ifStands(r, false, func(f step.Figure) float64 { return f.Hi }) }},
		{"stop", func(r *StepRow) string { return r.Record.Stop }},
		{"check", func(r *StepRow) string { return r.Record.Check.Result }},
		{"status", func(r *StepRow) string { return string(r.Record.Status) }},
		{"reason", func(r *StepRow) string { return r.Record.Reason }},
		{"notes", func(r *StepRow) string { return strings.Join(r.Record.Notes, "; ") }},
		{"warnings", func(r *StepRow) string {
			return slices.Concat(r.File.Run.Warnings, r.Record.Warnings).String()
		}},
		ofRun("rehearsed", func(r *Run) string { return ifAny(r.Rehearse, func() string { return "true" }) }),
	})

func ofRun(name string, f func(*Run) string) stepColumn {
	return stepColumn{name, func(r *StepRow) string { return f(&r.File.Run) }}
}

func ofPoint(name string, f func(step.Point) string) stepColumn {
	return stepColumn{name, func(r *StepRow) string { return f(r.Record.Point) }}
}

// ofFigures is empty where figures do not hold.
func ofFigures(f func(*step.Figures) string) func(*StepRow) string {
	return func(r *StepRow) string { return ifAny(r.Record.Timed(), func() string { return f(r.Record.Figures) }) }
}

// figureColumns are a figure and the bounds of its interval, which are empty where rounds are too few.
func figureColumns(name, unit string, of func(*step.Figures) *step.Figure) []stepColumn {
	column := func(name string, bound bool, value func(*step.Figure) float64) stepColumn {
		return stepColumn{name + unit, ofFigures(func(f *step.Figures) string {
			figure := of(f)
			if figure == nil || bound && !f.HasIntervals() {
				return ""
			}
			return shortest(value(figure))
		})}
	}
	return []stepColumn{
		column(name, false, func(f *step.Figure) float64 { return f.Value }),
		column(name+"_lo", true, func(f *step.Figure) float64 { return f.Lo }),
		column(name+"_hi", true, func(f *step.Figure) float64 { return f.Hi }),
	}
}

// timeColumns are those of the time of a mode.
func timeColumns(name string, of func(*step.Figures) *step.Time) []stepColumn {
	value := func(name string, f func(*step.Time) float64) stepColumn {
		return stepColumn{name, ofFigures(func(g *step.Figures) string {
			x := f(of(g))
			return ifAny(x != 0, func() string { return shortest(x) })
		})}
	}
	return append(figureColumns(name, "_s", func(f *step.Figures) *step.Figure { return &of(f).Figure }),
		value(name+"_min_s", func(t *step.Time) float64 { return t.Min }),
		value(name+"_p99_s", func(t *step.Time) float64 { return t.P99 }),
		value(name+"_max_s", func(t *step.Time) float64 { return t.Max }))
}

// standingWords are the words of the column best.
var standingWords = map[step.Verdict]string{
	step.Best: "best", step.Least: "least median", step.NoDifference: "no difference", step.Slower: "slower",
	step.TooFewRounds: "too few rounds",
}

// ifStands is a figure of how much slower than the best a point is; empty for the best itself, and for a bound that
// there is not.
func ifStands(r *StepRow, value bool, f func(step.Figure) float64) string {
	switch r.Standing.Verdict {
	case step.NoDifference, step.Slower:
		return shortest(f(r.Standing.Slower))
	case step.TooFewRounds:
		return ifAny(value, func() string { return shortest(f(r.Standing.Slower)) })
	}
	return ""
}

func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// bytes is the sum over the operations of a step.
func (r *StepRecord) bytes() (sum int64) {
	for _, op := range r.Ops {
		sum += op.Bytes
	}
	return sum
}

func stepColumnNames() []string {
	names := make([]string, len(stepColumns))
	for i, c := range stepColumns {
		names[i] = c.name
	}
	return names
}

// WriteStepsCSV writes the table of training steps, with a line of column names first.
func WriteStepsCSV(w io.Writer, rows []StepRow) error {
	table := csv.NewWriter(w)
	_ = table.Write(stepColumnNames()) // errors are kept for Error
	cells := make([]string, len(stepColumns))
	for i := range rows {
		for k, c := range stepColumns {
			cells[k] = c.text(&rows[i])
		}
		_ = table.Write(cells)
	}
	table.Flush()
	return table.Error()
}
