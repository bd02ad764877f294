// Package fleet compares each node with the other nodes of a fleet, and with its own earlier nights.
package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/compare"
	"busbar/post/input"
	"busbar/post/usage"
)

// tonight is the night of the results to judge; it sorts behind all dates.
const tonight = "tonight"

// curve is what times must share to be compared, but for the size.
type curve struct {
	analysis.Contender // without the library: its upgrade does not end a history
	analysis.Condition
}

// cell is one size in one night on one node, or set of nodes.
type cell struct {
	size        int64
	night, node string
}

// times are those of a curve.
type times struct {
	curve
	title   string
	seconds map[cell][]float64
	failed  map[cell]bool // tonight
	spread
}

// A Fleet is what was found of each node.
type Fleet struct {
	*compare.Options
	Notes   []notice.Notice // on what was read
	curves  map[curve]*times
	judged  map[string]bool            // IDs of tonight's runs
	nodes   map[string]map[string]bool // by night
	last    string                     // date of tonight
	unnamed int                        // runs
	facts   []notice.Fact              // on the runs of tonight
	results []Result                   // the slowest first, by node and curve
	fails   map[string]int             // points, by node
	tests   int
}

// Compare judges the nodes of o.Args by all results there and in the folder baseline. The error of a wrong call is a
// usage.Error.
func Compare(ctx context.Context, o *compare.Options, baseline string) (*Fleet, error) {
	f := &Fleet{Options: o, curves: map[curve]*times{}, judged: map[string]bool{}, fails: map[string]int{},
		nodes: map[string]map[string]bool{tonight: {}}}
	if o.NoSteps = true; o.Divide || o.Base != "" {
		return nil, usage.New(errors.New("--baseline excludes --by and --base"))
	}
	err := f.read(ctx, o.Args, tonight)
	if err == nil {
		err = f.read(ctx, []string{baseline}, "")
	}
	switch {
	case err != nil:
		return nil, err
	case len(f.nodes) == 1 && f.unnamed == 0:
		return nil, usage.New(fmt.Errorf("--baseline %s has the same runs as tonight's results: name earlier ones",
			baseline))
	case len(f.nodes[tonight]) == 0 || len(f.curves) == 0:
		return nil, errors.New("no result of a known node: results need a host and a time")
	}
	f.judge()
	return f, nil
}

// read adds the results that arguments name.
func (f *Fleet) read(ctx context.Context, args []string, night string) error {
	data, passed, err := input.Merge(ctx, args, f.MergeOptions)
	if err != nil {
		return err
	}
	var lacking analysis.Incomparable
	var rows []result.Row
	err = data.EachWhole(func(row result.Row) error {
		if !lacking.Add(row) {
			rows = append(rows, row)
		}
		return context.Cause(ctx)
	}, func(file *result.File) error {
		f.add(file, rows, night)
		rows = rows[:0]
		return nil
	})
	f.Notes = slices.Concat(f.Notes, passed, data.Notes(), lacking.Notices())
	return err
}

// add adds the rows of a file, unless it is one of tonight's in the baseline.
func (f *Fleet) add(file *result.File, rows []result.Row, night string) {
	run, date, node := &file.Run, file.Run.Start.UTC().Format(time.DateOnly), nodeOf(file)
	if night == "" {
		if f.judged[run.ID] {
			return
		}
		night = date
	} else {
		f.judged[run.ID], f.last = true, max(f.last, date)
		f.facts = append(f.facts, run.Crowded())
		if run.Rehearse {
			f.facts = append(f.facts, notice.SimulatedRuns{})
		}
	}
	if node == "" {
		f.unnamed++
		return
	}
	if f.nodes[night] == nil {
		f.nodes[night] = map[string]bool{}
	}
	f.nodes[night][node] = true
	who := analysis.ContenderOf(run)
	who.Library = ""
	for _, row := range rows {
		r, at := row.Record, cell{row.Record.SizeBytes, night, node}
		key := curve{who, analysis.TableOf(analysis.ConditionOf(run, r))}
		t := f.curves[key]
		if t == nil {
			t = &times{curve: key, seconds: map[cell][]float64{}, failed: map[cell]bool{}}
			f.curves[key] = t
		}
		if r.Timed() && r.Time.Seconds > 0 {
			t.seconds[at] = append(t.seconds[at], r.Time.Seconds)
		} else if night == tonight && compare.Failed(r.Status) {
			t.failed[at] = true
		}
	}
}

// nodeOf is the host of a run, or all its hosts; "" where they are not recorded.
func nodeOf(file *result.File) string {
	hosts := map[string]bool{}
	for _, r := range file.Ranks {
		hosts[r.Host] = true
	}
	if delete(hosts, ""); len(hosts) == 0 {
		return file.Run.Machine.Host
	}
	return strings.Join(slices.Sorted(maps.Keys(hosts)), "+")
}

// missing are nodes that only the baseline has.
func (f *Fleet) missing() (names []string) {
	for _, of := range f.nodes {
		for node := range of {
			if !f.nodes[tonight][node] {
				names = append(names, node)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ordered are the curves in the order of tables, with their titles.
func (f *Fleet) ordered() []*times {
	var who []analysis.Contender
	for c := range f.curves {
		who = units.AddOnce(who, c.Contender)
	}
	name := analysis.Names(who)
	for c, t := range f.curves {
		t.title = name[c.Contender] + ", " + c.Condition.Title()
	}
	return slices.SortedFunc(maps.Values(f.curves), func(a, b *times) int {
		return cmp.Or(analysis.CompareConditions(a.Condition, b.Condition), cmp.Compare(a.title, b.title))
	})
}
