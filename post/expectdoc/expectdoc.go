// Package expectdoc reads results and logs of other benchmarks, and shows how they compare with published values.
package expectdoc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
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
	"busbar/post/importer"
	"busbar/post/input"
)

// Options are what post expect was asked to do.
type Options struct {
	Fabric    string   // between several nodes; "": of record or log
	Reference []string // tables of the user
	Peaks     analysis.Peaks
	Note      func(path string, made *importer.Imported)
}

// Expected is what was found.
type Expected struct {
	Answers  []expect.Answer // the worst first
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
	k := &detect.Kinds{Importer: importer.Importer{Dir: dir}, Note: o.Note, Imported: map[string]string{}}
	for _, path := range args {
		if err := k.Add(ctx, path); err != nil {
			return nil, err
		}
	}
	e, files := &Expected{}, slices.Sorted(maps.Keys(k.Imported))
	if len(args) == 0 || len(k.Results) > 0 {
		more, problems, err := input.Find(k.Results)
		if err != nil {
			return nil, err
		}
		files, e.Problems = append(files, more...), problems
	}
	ceilings, left := analysis.NewCeilings(o.Peaks), 0
	curves := map[string]*analysis.Collector{} // by network
	for _, path := range files {
		f, err := result.ReadFile(ctx, path)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			e.Problems = append(e.Problems, notice.OfError(path, err))
			continue
		}
		log, _ := os.ReadFile(k.Imported[path]) // it was read for the import; results have none
		fabric := expect.FabricInLog(string(log))
		if curves[fabric] == nil {
			curves[fabric] = analysis.NewCollector()
		}
		for i := range f.Records {
			row := result.Row{Run: &f.Run, Record: &f.Records[i]}
			ceilings.Add(row)
			if !curves[fabric].Add(row) {
				left++
			}
		}
	}
	for _, fabric := range slices.Sorted(maps.Keys(curves)) {
		for _, c := range curves[fabric].Curves() {
			e.Answers = append(e.Answers, table.Judge(c, o.Fabric, fabric, ceilings.OfCurve(c)))
		}
	}
	switch slices.SortStableFunc(e.Answers, expect.Worst); {
	case e.Answers != nil:
		return e, nil
	case left == 0 && e.Problems == nil:
		return nil, errors.New("nothing to judge: no bandwidth in these files; post expect reads results of rank and " +
			"output of other benchmarks (post import --help)")
	case left == 0:
		return nil, &result.NothingError{Problems: e.Problems}
	}
	return nil, fmt.Errorf("nothing to judge: %s without a time, collective or number of ranks; "+
		"post import --set adds what a log lacks", units.Count(left, "point"))
}

// BelowError reports results below --fail-below.
type BelowError struct{ text string }

func (e *BelowError) Error() string { return e.text }

// Failed is an error if a result is below that share of the median of its sources.
func (e *Expected) Failed(share float64) error {
	var low []string
	for _, a := range e.Answers {
		if len(a.Points) == 0 {
			continue
		}
		if p := a.Decisive(); float64(p.BusBW) < share*float64(p.Median()) {
			low = append(low, fmt.Sprintf("%s: %v at %v is %v of %v, the median of published values", a.Title, p.BusBW,
				p.Size, units.Share(p.BusBW/p.Median()), p.Median()))
		}
	}
	if low == nil {
		return nil
	}
	return &BelowError{strings.Join(low, "\n")}
}

// Save writes the values as a table that --reference reads: dir/name.csv. Values without a known shape are left out.
func (e *Expected) Save(ctx context.Context, dir, name string, wrote func(path string)) error {
	var rows expect.Reference
	for _, a := range e.Answers {
		rows = append(rows, a.Own...)
	}
	if len(rows) == 0 {
		return errors.New("nothing to save: no result has a known GPU, number of nodes and network (--fabric)")
	}
	files := []atomicfile.Named{{Name: strings.TrimSuffix(name, ".csv") + ".csv", Write: rows.Write}}
	return atomicfile.WriteAll(ctx, dir, files, wrote)
}

// Document is what is shown.
func (e *Expected) Document(shows func(notice.Code) bool) *document.Document {
	data := struct {
		Verdict notice.PublishedVerdict `json:"verdict"` // of the worst curve
		Sources []expect.Row            `json:"sources"` // of that verdict
		Curves  []expect.Answer         `json:"curves"`
	}{Verdict: e.Answers[0].Verdict, Curves: e.Answers}
	if len(e.Answers[0].Points) > 0 {
		data.Sources = e.Answers[0].Decisive().Sources
	}
	d := &document.Document{Kind: "expect", Title: "Expected bandwidth", Data: data}
	for _, a := range e.Answers {
		if shows(a.Notice.Code()) {
			d.Notices = append(d.Notices, a.Notice)
		}
	}
	if d.Notices != nil {
		d.Add(document.Findings(slices.Clone(d.Notices)))
	}
	listed := map[string]bool{} // titles
	for _, a := range e.Answers {
		addCurve(d, a, listed)
	}
	return d
}

// addCurve adds the table of a curve. Sources and limits follow the first curve that has them.
func addCurve(d *document.Document, a expect.Answer, listed map[string]bool) {
	add := func(title string, rows []expect.Row) {
		var list document.List
		for _, r := range rows {
			words := r.BusBW.String()
			if r.Size > 0 {
				words += " at " + units.Bytes(r.Size).String()
			}
			if r.Kind != expect.Measured {
				words += ", " + string(r.Kind)
			}
			if r.System != "" {
				words += ", " + r.System
			}
			list = append(list, words+": "+r.Source)
		}
		if title += ": " + a.Shape.String(); list != nil && !listed[title] {
			listed[title] = true
			d.Add(document.NewSection(title, list))
		}
	}
	if len(a.Points) > 0 {
		t := document.NewTable("size>", "busbw>", "lowest>", "highest>", "sources>", "%peak>", "verdict")
		for _, p := range a.Points {
			peak := ""
			if p.Peak > 0 {
				peak = fmt.Sprintf("%.1f", 100*float64(p.Peak))
			}
			t.Row(p.Size.String(), units.Gigabytes(float64(p.BusBW)), units.Gigabytes(float64(p.Lowest())),
				units.Gigabytes(float64(p.Highest())), fmt.Sprint(len(p.Sources)), peak, string(p.Verdict))
		}
		t.DropEmpty()
		d.Add(document.NewSection(a.Title, t))
		add("Sources at "+a.Decisive().Size.String(), a.Decisive().Sources)
	}
	add("Thresholds and claims, not in the range", a.Limits)
}
