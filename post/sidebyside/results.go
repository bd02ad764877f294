// Package sidebyside sets backends side by side: the tables, plots and analysis of post report --layout comparison.
package sidebyside

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/usage"
)

// Results are what a comparison uses: the rows of all runs that are included, in the order of its tables.
type Results struct {
	rows      []result.Row
	runs      []*result.Run // that have a row
	times     *analysis.Measurements
	name      map[analysis.Contender]string
	left      []string        // backends whose simulated runs were left out
	Notes     []notice.Notice // on files
	rehearsed int             // simulated rows
}

// Gather reads runs, simulated ones only if rehearsed is set. The error is that none are left.
func Gather(ctx context.Context, files []string, passed []notice.Notice, rehearsed bool) (*Results, error) {
	data, err := result.MergeContext(ctx, files, result.MergeOptions{IncludeRehearsed: true, NoSteps: true})
	if err != nil {
		return nil, err
	}
	f := &Results{times: analysis.NewMeasurements()}
	seen, lacking := map[*result.Run]bool{}, analysis.Incomparable{}
	err = data.Each(func(row result.Row) error {
		switch {
		case row.Run.Rehearse && !rehearsed:
			f.left = units.AddOnce(f.left, row.Run.Backend.Name)
			return context.Cause(ctx)
		case lacking.Add(row):
			return context.Cause(ctx)
		case row.Run.Rehearse:
			f.rehearsed++
		}
		if f.rows = append(f.rows, row); !seen[row.Run] {
			seen[row.Run] = true
			f.runs = append(f.runs, row.Run)
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	f.Notes = slices.Concat(passed, data.Notes(), lacking.Notices())
	if len(f.rows) == 0 {
		if f.left != nil {
			err := fmt.Errorf("all results of %s are simulated (not about hardware); include them with --include-simulated",
				units.Some(files))
			return nil, usage.New(err, "post report")
		}
		return nil, &result.NothingError{Problems: f.Notes}
	}
	for _, backend := range f.left {
		n := notice.New(notice.SimulatedSkipped{})
		n.At.Subject = backend
		f.Notes = append(f.Notes, n)
	}
	who := map[*result.Run]analysis.Contender{}
	for _, run := range f.runs {
		who[run] = analysis.ContenderOf(run)
	}
	slices.SortStableFunc(f.rows, func(a, b result.Row) int {
		return cmp.Or(analysis.CompareContenders(who[a.Run], who[b.Run]),
			analysis.CompareConditions(analysis.ConditionOf(a.Run, a.Record), analysis.ConditionOf(b.Run, b.Record)),
			a.Run.Start.Compare(b.Run.Start), cmp.Compare(a.Record.N, b.Record.N))
	})
	for _, row := range f.rows {
		f.times.Add(row.Run, row.Record)
	}
	var all []analysis.Contender
	for _, run := range f.runs {
		if c := who[run]; !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	f.name = analysis.Names(all)
	return f, nil
}

// rowsByTable are the rows family by family, and within one by contender, world and size.
func (f *Results) rowsByTable() []result.Row {
	rows := slices.Clone(f.rows)
	slices.SortStableFunc(rows, func(a, b result.Row) int {
		return analysis.CompareConditions(analysis.FamilyOf(analysis.ConditionOf(a.Run, a.Record)),
			analysis.FamilyOf(analysis.ConditionOf(b.Run, b.Record)))
	})
	return rows
}

// has reports whether a backend has a run.
func (f *Results) has(backend string) bool {
	return slices.ContainsFunc(f.runs, func(r *result.Run) bool { return r.Backend.Name == backend })
}

// expected are the backends whose absence is reported.
var expected = []string{"gloo", "nccl"}

// missing are the expected backends without a result; simulated results of NCCL count for NCCL.
func (f *Results) missing() (backends []string) {
	for _, b := range expected {
		if !f.has(b) && (b != "nccl" || !f.has(rehearsal)) {
			backends = append(backends, b)
		}
	}
	return backends
}

// rehearsal is the backend of simulated NCCL.
const rehearsal = "nccl-rehearsal"
