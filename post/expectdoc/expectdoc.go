// Package expectdoc reads results and logs of other benchmarks, and shows how they compare with published values.
package expectdoc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/atomicfile"
	"busbar/post/detect"
	"busbar/post/expect"
	"busbar/post/export"
	"busbar/post/importer"
	"busbar/post/input"
)

// Options are what post expect was asked to do.
type Options struct {
	Fabric    string   // between several nodes; "": of record or log
	Reference []string // tables of the user
	Peaks     analysis.Peaks
	FailBelow float64 // share of the median of the published values; 0: never fail
	Note      func(path string, made *importer.Imported)
}

// Expected is what was found.
type Expected struct {
	answers  []expect.Answer // the worst first
	ceilings *analysis.Ceilings
	failed   []string
	Problems []notice.Notice // of files
}

// Read judges what args name: results, and logs of other benchmarks. The error is that nothing was read.
func Read(ctx context.Context, args []string, o Options) (*Expected, error) {
	table, err := expect.With(o.Reference)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "post-expect-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // only copies
	files, sources, problems, err := find(ctx, args, dir, o.Note)
	if err != nil {
		return nil, err
	}
	e := &Expected{ceilings: analysis.NewCeilings(o.Peaks), Problems: problems}
	byFabric, left := map[string]*analysis.Collector{}, 0
	for _, path := range files {
		f, err := export.ReadRun(ctx, path)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			e.Problems = append(e.Problems, notice.OfError(path, err))
			continue
		}
		fabric := o.Fabric
		if log := sources[path]; fabric == "" && log != "" {
			fabric = fabricIn(log)
		}
		if byFabric[fabric] == nil {
			byFabric[fabric] = analysis.NewCollector()
		}
		for i := range f.Records {
			row := result.Row{Run: &f.Run, Record: &f.Records[i]}
			e.ceilings.Add(row)
			if !byFabric[fabric].Add(row) {
				left++
			}
		}
	}
	for _, fabric := range slices.Sorted(maps.Keys(byFabric)) {
		for _, c := range byFabric[fabric].Curves() {
			e.judge(table.Judge(c, fabric), o.FailBelow)
		}
	}
	if len(e.answers) == 0 && left > 0 {
		return nil, fmt.Errorf("%s without a time, collective or number of ranks: nothing to judge; "+
			"post import --set adds what a log lacks", units.Count(left, "point"))
	}
	if len(e.answers) == 0 {
		return nil, &result.NothingError{Problems: e.Problems}
	}
	slices.SortStableFunc(e.answers, expect.Worst)
	return e, nil
}

// find returns files of results, and the sources of those that were imported.
func find(ctx context.Context, args []string, dir string, note func(string, *importer.Imported)) (
	files []string, sources map[string]string, problems []notice.Notice, err error,
) {
	if len(args) == 0 {
		files, problems, err = input.Find(nil)
		return files, nil, problems, err
	}
	k := &detect.Kinds{Importer: importer.Importer{Dir: dir}, Note: note, Imported: map[string]string{}}
	for _, path := range args {
		if err := k.Add(ctx, path); err != nil {
			return nil, nil, nil, err
		}
	}
	if len(k.Results) > 0 {
		files, problems, err = input.Find(k.Results)
	}
	for path := range k.Imported {
		files = append(files, path)
	}
	slices.Sort(files)
	return files, k.Imported, problems, err
}

// fabricIn is the network that a log names; an unreadable one names none.
func fabricIn(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer f.Close()
	return expect.FabricInLog(f)
}

// BelowError reports results below --fail-below.
type BelowError struct{ results []string }

func (e *BelowError) Error() string { return strings.Join(e.results, "\n") }

func (e *Expected) judge(a expect.Answer, failBelow float64) {
	e.answers = append(e.answers, a)
	if p := a.Decisive(); p != nil && float64(p.BusBW) < failBelow*p.Median {
		e.failed = append(e.failed, fmt.Sprintf("%s: %v at %v is %v of %v, the median of published values",
			a.Curve.Title(), p.BusBW, p.Size, units.Share(float64(p.BusBW)/p.Median), units.Bandwidth(p.Median)))
	}
}

// Failed is the error of --fail-below; nil where no result is below it.
func (e *Expected) Failed() error {
	if e.failed == nil {
		return nil
	}
	return &BelowError{e.failed}
}

// Save writes the values as a table that --reference reads: dir/name.csv. Values without a known shape are left out.
func (e *Expected) Save(ctx context.Context, dir, name string, wrote func(path string)) error {
	var rows expect.Reference
	for _, a := range e.answers {
		rows = append(rows, a.Rows()...)
	}
	if len(rows) == 0 {
		return errors.New("nothing to save: no result has a known GPU, number of nodes and network (--fabric)")
	}
	files := []atomicfile.Named{{Name: filepath.Base(name) + ".csv", Write: rows.Write}}
	return atomicfile.WriteAll(ctx, dir, files, wrote)
}

// Document is what is shown.
func (e *Expected) Document(shows func(notice.Code) bool) *document.Document {
	d := &document.Document{Kind: "expect", Title: "Expected bandwidth", Data: e.data()}
	var first document.Findings
	for _, a := range e.answers {
		if n := a.Notice; shows(n.Code()) {
			first = append(first, n)
		}
	}
	d.Notices = first
	if first != nil {
		d.Add(first)
	}
	listed := map[string]bool{} // sources, by their title
	for _, a := range e.answers {
		if len(a.Points)+len(a.Limits) > 0 {
			d.Add(e.section(a, listed))
		}
	}
	return d
}

// section is the table of a curve. Sources and limits follow the first curve that has them.
func (e *Expected) section(a expect.Answer, listed map[string]bool) *document.Section {
	s := &document.Section{Title: a.Curve.Title()}
	s.Add(document.Paragraph("shape: " + a.Shape.String()))
	ceiling := e.ceilings.OfCurve(a.Curve)
	t := &document.Table{Columns: document.NumericColumns("size", "busbw", "lowest", "highest", "sources", "%peak")}
	t.Columns = append(t.Columns, document.Column{Name: "verdict"})
	for _, p := range a.Points {
		t.Row(p.Size.String(), units.Gigabytes(float64(p.BusBW)), units.Gigabytes(p.Lowest()),
			units.Gigabytes(p.Highest()), fmt.Sprint(len(p.Sources)), peak(ceiling, p), string(p.Verdict))
	}
	add := func(title string, rows []expect.Row) {
		if len(rows) > 0 && !listed[title] {
			listed[title] = true
			s.Add(&document.Section{Title: title, Blocks: []document.Block{list(rows)}})
		}
	}
	if p := a.Decisive(); p != nil {
		t.DropEmpty()
		s.Add(t)
		if a.Omit > 0 {
			s.Add(document.Paragraph(units.Count(a.Omit, "size") + " without three sources: no verdict"))
		}
		add(fmt.Sprintf("Sources: %v, %v", a.Shape, p.Size), p.Sources)
	}
	add(fmt.Sprintf("Thresholds and claims, not in the range: %v", a.Shape), a.Limits)
	return s
}

func peak(c analysis.Ceiling, p expect.Point) string {
	if !c.Known() {
		return ""
	}
	return fmt.Sprintf("%.1f", 100*c.Share(float64(p.BusBW)))
}

// list names rows with their values.
func list(rows []expect.Row) (all document.List) {
	for _, r := range rows {
		text := units.Bandwidth(r.BusBW).String()
		if r.Size > 0 {
			text += " at " + units.Bytes(r.Size).String()
		}
		if r.Kind != expect.Measured {
			text += ", " + string(r.Kind)
		}
		if r.System != "" {
			text += ", " + r.System
		}
		all = append(all, text+": "+r.Source)
	}
	return all
}
