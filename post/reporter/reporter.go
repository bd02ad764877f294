// Package reporter writes the files of post report: the report, tables and plots, or those of the comparison.
package reporter

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/anonymizer"
	"busbar/post/atomicfile"
	"busbar/post/export"
	"busbar/post/hang"
	"busbar/post/input"
	"busbar/post/notices"
	"busbar/post/plot"
	"busbar/post/report"
	"busbar/post/sidebyside"
	"busbar/post/timeline"
)

// Reporter is what post report was asked to do.
type Reporter struct {
	result.MergeOptions
	notices.Selection
	Out       string // folder
	Mark      string // begins Traced.Tool: a report with it may be replaced
	Anonymize bool
	Peaks     analysis.Peaks
	Traces    []string // files and folders of --timeline
	Traced    timeline.Options

	Stderr io.Writer
	Note   func([]notice.Notice)
	Wrote  func(path string)
	files  []string // written so far
}

// anonymized copies what is read into the folder of the report, and returns the copies.
func (r *Reporter) anonymized(ctx context.Context, args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{input.DefaultFolder}
	}
	copies, left, err := anonymizer.Copy(ctx, r.Out, slices.Concat(args, r.Traces))
	if err != nil {
		return nil, err
	}
	r.Note(left)
	r.Traces = copies[len(args):]
	return copies[:len(args)], nil
}

// Comparison writes the files that set backends side by side, with the headlines of the report.
func (r *Reporter) Comparison(ctx context.Context, args []string) (err error) {
	if r.Anonymize {
		if args, err = r.anonymized(ctx, args); err != nil {
			return err
		}
	}
	r.NoSteps = true
	data, passed, err := input.Merge(ctx, args, r.MergeOptions)
	if err != nil {
		return err
	}
	found, err := sidebyside.Gather(ctx, data)
	if err != nil {
		return err
	}
	made, err := report.Of(ctx, report.Sources{Data: data, Notes: passed, Shows: r.Shows}, r.options())
	if err != nil {
		return err
	}
	if r.Out, err = input.Folder(r.Out, args); err != nil {
		return err
	}
	outputs, notDrawn := found.Files(made.Summary())
	for _, words := range notDrawn {
		fmt.Fprintln(r.Stderr, "post: not drawn:", words)
	}
	err = atomicfile.WriteAll(ctx, r.Out, outputs, r.Wrote)
	r.Note(slices.Concat(passed, found.Notes()))
	return err
}

// Full writes the report on all runs, and on timelines where they were named, as a page and as Markdown. It returns the
// summary.
func (r *Reporter) Full(ctx context.Context, args []string) (summary *document.Document, err error) {
	if r.Anonymize {
		if args, err = r.anonymized(ctx, args); err != nil {
			return nil, err
		}
	}
	var traced *timeline.Timeline
	if len(r.Traces) > 0 {
		var notes []notice.Notice
		traced, notes, err = timeline.Read(ctx, r.Traces, r.Traced)
		r.Note(r.Kept(notes))
		if err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(input.DefaultFolder); err != nil && len(args) == 0 && traced != nil {
		return r.onlyTimeline(ctx, traced)
	}
	data, passed, err := input.Merge(ctx, args, r.MergeOptions)
	if err != nil {
		return nil, err
	}
	if err := r.place(args); err != nil {
		return nil, err
	}
	hung, err := hang.InFolders(ctx, args)
	if err != nil {
		return nil, err
	}
	made, err := report.Of(ctx, report.Sources{
		Hang: hung, Data: data, Notes: passed, Timeline: traced, Peaks: r.Peaks, Shows: r.Shows,
		Rehearsed: r.IncludeRehearsed,
	}, r.options())
	if err != nil {
		return nil, err
	}
	if err := r.tables(ctx, data); err != nil {
		return nil, err
	}
	summary, err = r.write(ctx, made)
	r.Note(r.Kept(slices.Concat(passed, data.Notes())))
	return summary, err
}

// tables writes what post merge and post plot write into the folder of the report.
func (r *Reporter) tables(ctx context.Context, data *result.Dataset) error {
	merged, err := export.Merge(ctx, data, export.TableFormats[:2], r.Out)
	r.files = append(r.files, merged.Paths...)
	if err != nil {
		return err
	}
	points, err := plot.Gather(ctx, data, r.Peaks)
	if err != nil {
		return err
	}
	plots, _, err := points.Files(plot.Options{Formats: plot.Formats, Bandwidths: []plot.Measure{plot.BusBW}})
	if err != nil {
		return nil // without a point to plot, the report states why
	}
	return atomicfile.WriteAll(ctx, filepath.Join(r.Out, "plots"), plots, func(path string) {
		r.files = append(r.files, path)
	})
}

// onlyTimeline writes a report about timelines alone.
func (r *Reporter) onlyTimeline(ctx context.Context, found *timeline.Timeline) (*document.Document, error) {
	if err := r.place(r.Traces); err != nil {
		return nil, err
	}
	fmt.Fprintf(r.Stderr, "post: there are no results in ./%s: the report is about the timeline alone\n",
		input.DefaultFolder)
	found.Ignore(r.Shows)
	return r.write(ctx, report.OfTimeline(found, r.options()))
}

// place sets the folder of the report. The error may be that of a file there that post did not write.
func (r *Reporter) place(args []string) (err error) {
	if r.Out, err = input.Folder(r.Out, args); err != nil {
		return err
	}
	return atomicfile.MayReplace(r.Out, r.Mark, "report.html", "report.md")
}

func (r *Reporter) options() report.Options {
	return report.Options{Tool: r.Traced.Tool, Made: time.Now(), Dir: r.Out}
}

// filesData is what the JSON of post report has beside notices.
type filesData struct {
	Files []string `json:"files"` // that were written
}

// write writes both forms of a report and returns its summary.
func (r *Reporter) write(ctx context.Context, made *report.Report) (*document.Document, error) {
	err := atomicfile.WriteAll(ctx, r.Out, made.Forms("report"), func(path string) {
		r.files = append(r.files, path)
		r.Wrote(path)
	})
	summary := made.Summary()
	summary.Data = filesData{r.files}
	return summary, err
}
