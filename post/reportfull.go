package main

import (
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/atomicfile"
	"busbar/post/export"
	"busbar/post/hang"
	"busbar/post/input"
	"busbar/post/plot"
	"busbar/post/report"
	"busbar/post/timeline"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// full writes the report on all runs, and on timelines where they were named, as a page and as Markdown.
func (r *reporter) full(ctx context.Context, args []string) error {
	var traced *timeline.Timeline
	if len(r.traces) > 0 {
		var notes []notice.Notice
		var err error
		traced, notes, err = timeline.Read(ctx, r.traces, r.traced)
		note(r.stderr, r.Kept(notes))
		if err != nil {
			return err
		}
	}
	if _, err := os.Stat(input.DefaultFolder); err != nil && len(args) == 0 && traced != nil {
		return r.onlyTimeline(ctx, traced)
	}
	data, passed, err := input.Merge(ctx, args, r.MergeOptions)
	if err != nil {
		return err
	}
	if err := r.place(args); err != nil {
		return err
	}
	hung, err := hang.InFolders(ctx, args)
	if err != nil {
		return err
	}
	made, err := report.Of(ctx, report.Sources{
		Hang: hung, Data: data, Notes: passed, Timeline: traced, Peaks: r.ceilings, Shows: r.Shows,
		Rehearsed: r.IncludeRehearsed,
	}, r.options())
	if err != nil {
		return err
	}
	if err := r.tables(ctx, data); err != nil {
		return err
	}
	err = r.write(ctx, made)
	note(r.stderr, r.Kept(slices.Concat(passed, data.Notes())))
	return err
}

// tables writes what post merge and post plot write into the folder of the report.
func (r *reporter) tables(ctx context.Context, data *result.Dataset) error {
	merged, err := export.Merge(ctx, data, export.TableFormats[:2], r.out)
	r.written.Files = append(r.written.Files, merged.Paths...)
	if err != nil {
		return err
	}
	points, err := plot.Gather(ctx, data, r.ceilings)
	if err != nil {
		return err
	}
	plots, _, err := points.Files(plot.Options{Formats: pictureFormats, Bandwidths: []plot.Measure{plot.BusBW}})
	if err != nil {
		return nil // without a point to plot, the report states why
	}
	return atomicfile.WriteAll(ctx, filepath.Join(r.out, "plots"), plots, func(path string) {
		r.written.Files = append(r.written.Files, path)
	})
}

// onlyTimeline writes a report about timelines alone.
func (r *reporter) onlyTimeline(ctx context.Context, found *timeline.Timeline) error {
	if err := r.place(r.traces); err != nil {
		return err
	}
	fmt.Fprintf(r.stderr, "post: there are no results in ./%s: the report is about the timeline alone\n",
		input.DefaultFolder)
	found.Ignore(r.Shows)
	return r.write(ctx, report.OfTimeline(found, r.options()))
}

// place sets the folder of the report. The error may be that of a file there that post did not write.
func (r *reporter) place(args []string) (err error) {
	if r.out, err = input.Folder(r.out, args); err != nil {
		return err
	}
	return atomicfile.MayReplace(r.out, toolName, "report.html", "report.md")
}

func (r *reporter) options() report.Options {
	return report.Options{Tool: versionLine(), Made: time.Now(), Dir: r.out}
}

// filesData is what the JSON of post report has beside notices.
type filesData struct {
	Files []string `json:"files"` // that were written
}

// write writes both forms of a report and prints its summary. The error may be that of --fail-on.
func (r *reporter) write(ctx context.Context, made *report.Report) error {
	written := &r.written
	err := atomicfile.WriteAll(ctx, r.out, made.Forms("report"), func(path string) {
		if written.Files = append(written.Files, path); r.format != document.JSON {
			fmt.Fprintln(r.stdout, path)
		}
	})
	if err != nil {
		return err
	}
	if r.format != document.JSON {
		fmt.Fprintln(r.stdout)
	}
	summary := made.Summary()
	summary.Data = r.written
	return r.outputFlags.write(summary, r.stdout)
}
