package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/atomicfile"
	"busbar/post/input"
	"busbar/post/report"
	"busbar/post/sidebyside"
	"busbar/post/steps"
	"busbar/post/timeline"
)

// The files of a report.
const (
	pageName = "report.html"
	textName = "report.md"
)

// full writes the report about all that the runs tell, and timelines where they were named, as a page and as Markdown.
func (r *reporter) full(ctx context.Context, args []string, ceilings *analysis.Ceilings) error {
	traced, err := r.readTraces(ctx)
	if err != nil {
		return err
	}
	files, passed, err := input.Find(args)
	var data *result.Dataset
	if err == nil {
		data, err = result.MergeContext(ctx, files, r.MergeOptions)
	}
	if r.alone(args, err) {
		return r.onlyTimeline(ctx, traced)
	}
	if err != nil {
		return err
	}
	if r.out, err = input.Folder(r.out, args); err != nil {
		return err
	}
	if err := r.mayWrite(); err != nil {
		return err
	}
	made, err := r.build(ctx, data, passed, ceilings, traced)
	if err != nil {
		return err
	}
	err = r.write(ctx, made)
	note(r.stderr, r.Kept(slices.Concat(passed, data.Notes())))
	return err
}

// mayWrite is the error of a file that lies where the report is to be and is none of ours.
func (r *reporter) mayWrite() error {
	for _, name := range []string{pageName, textName} {
		if err := atomicfile.MayReplace(filepath.Join(r.out, name), toolName); err != nil {
			return err
		}
	}
	return nil
}

// filesData is what the JSON of post report has beside notices.
type filesData struct {
	Files []string `json:"files"` // that were written
}

// write writes both forms of a report and prints its summary. The error may be that of --fail-on.
func (r *reporter) write(ctx context.Context, made *report.Report) error {
	var written filesData
	files := []atomicfile.Named{{Name: pageName, Write: made.WritePage}, {Name: textName, Write: made.WriteMarkdown}}
	err := atomicfile.WriteAll(ctx, r.out, files, func(path string) { written.Files = append(written.Files, path) })
	if r.format != document.JSON {
		for _, path := range written.Files {
			fmt.Fprintln(r.stdout, path)
		}
	}
	if err != nil {
		return err
	}
	if r.format != document.JSON {
		fmt.Fprintln(r.stdout)
	}
	summary := made.Summary()
	summary.Data = written
	return r.outputFlags.write(summary, r.stdout)
}

// build reads all rows once and makes the report of them; traced is nil where there are no timelines.
func (r *reporter) build(
	ctx context.Context, data *result.Dataset, passed []notice.Notice, ceilings *analysis.Ceilings,
	traced *timeline.Timeline,
) (*report.Report, error) {
	runs := data.Runs()
	b := report.NewBuilder(runs, r.options())
	sides := sidebyside.NewHeadliner(runs)
	rows := 0
	err := data.EachWhole(func(row result.Row) error {
		rows++
		b.Add(row)
		sides.Add(row)
		ceilings.Add(row)
		return context.Cause(ctx)
	}, func(f *result.File) error {
		b.AddFile(f)
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	trained, unread, err := steps.Read(ctx, data)
	if err != nil {
		return nil, err
	}
	b.AddSteps(trained)
	notes := slices.Concat(passed, data.Notes(), unread)
	if rows == 0 && len(trained) == 0 {
		return nil, &result.NothingError{Problems: notes}
	}
	found := report.Found{Curves: b.Curves(), Models: analysis.ModelOf, Headlines: sides.Headlines(), Notes: notes}
	found.Findings, found.More = analysis.Find(found.Curves, analysis.Options{Ceiling: ceilings.OfCurve})
	found.Findings = slices.DeleteFunc(found.Findings, func(f analysis.Finding) bool { return !r.Shows(f.Code()) })
	for i := range found.Findings {
		found.Findings[i].Number = i + 1
	}
	found.Ceilings = ceilings.OfCurve
	made := b.Report(found)
	made.Ignore(r.Shows)
	if traced != nil {
		traced.Ignore(r.Shows)
		traced.Join(found.Curves, r.IncludeRehearsed)
		made.AddTimeline(traced, r.options())
	}
	return made, nil
}
