package report

import (
	"context"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/hang"
	"busbar/post/hangdoc"
	"busbar/post/sidebyside"
	"busbar/post/steps"
	"busbar/post/timeline"
)

// Sources are what a report is about.
type Sources struct {
	Data      *result.Dataset
	Notes     []notice.Notice // on files that were not read
	Timeline  *timeline.Timeline
	Hang      *hang.Finding // about a hung job; nil for none
	Peaks     analysis.Peaks
	Shows     func(notice.Code) bool // whether notices with this code are reported
	Rehearsed bool                   // compare the timeline with simulated results
}

// Of reads all rows once and makes the report of them, and of the timeline if there is one.
func Of(ctx context.Context, from Sources, o Options) (*Report, error) {
	runs := from.Data.Runs()
	b := newBuilder(runs, o)
	sides, ceilings := sidebyside.NewHeadliner(runs), analysis.NewCeilings(from.Peaks)
	rows := 0
	err := from.Data.EachWhole(func(row result.Row) error {
		rows++
		b.add(row)
		sides.Add(row)
		ceilings.Add(row)
		return context.Cause(ctx)
	}, func(f *result.File) error {
		b.addFile(f)
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	trained, unread, err := steps.Read(ctx, from.Data)
	if err != nil {
		return nil, err
	}
	b.addStepRuns(trained)
	notes := slices.Concat(from.Notes, from.Data.Notes(), unread)
	if rows == 0 && len(trained) == 0 {
		return nil, &result.NothingError{Problems: notes}
	}
	f := analysed{
		Curves: b.curves.Curves(), Ceilings: ceilings.OfCurve, Models: analysis.ModelOf, Headlines: sides.Headlines(),
		Notes: notes,
	}
	f.Findings, f.More = analysis.Find(f.Curves, analysis.Options{Ceiling: ceilings.OfCurve})
	f.Findings = slices.DeleteFunc(f.Findings, func(f analysis.Finding) bool { return !from.Shows(f.Code()) })
	for i := range f.Findings {
		f.Findings[i].Number = i + 1
	}
	made := b.report(f)
	made.ignore(from.Shows)
	if from.Timeline != nil {
		from.Timeline.Ignore(from.Shows)
		from.Timeline.Join(f.Curves, from.Rehearsed)
		made.addTimeline(from.Timeline, o)
	}
	if from.Hang != nil {
		made.hang = hangdoc.Sections(from.Hang)
	}
	return made, nil
}
