// Package fleet compares each node with the other nodes of a fleet, and with its own earlier nights.
package fleet

import (
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

// place is one size in one night on one node, or set of nodes.
type place struct {
	of    int    // a curve
	Size  int64  `json:"size_bytes"`
	Node  string `json:"node"`
	night string
}

// value is a time in seconds, or a level: the natural logarithm of a time over that of the fleet.
type value struct {
	place
	v float64
}

// A Fleet is what was found of each node.
type Fleet struct {
	*compare.Options
	Notes   []notice.Notice // on what was read
	times   []value
	failed  []place         // tonight
	judged  map[string]bool // IDs of tonight's runs
	nodes   map[string]bool // of tonight
	nights  map[string]bool
	curves  map[curve]int
	last    string // date of tonight
	facts   []notice.Fact
	results []Result // the worst first
	tests   int
}

// Compare judges the nodes of o.Args by all results there and in the folder baseline. The error of a wrong call is a
// usage.Error.
func Compare(ctx context.Context, o *compare.Options, baseline string) (*Fleet, error) {
	if o.NoSteps = true; o.Divide || o.Base != "" {
		return nil, usage.New(errors.New("--baseline excludes --by and --base"))
	}
	f := &Fleet{Options: o, judged: map[string]bool{}, nodes: map[string]bool{}, nights: map[string]bool{},
		curves: map[curve]int{}}
	for _, args := range [][]string{o.Args, {baseline}} {
		if err := f.read(ctx, args, len(f.judged) == 0); err != nil {
			return nil, err
		}
	}
	switch {
	case len(f.nights) == 0:
		return nil, usage.New(fmt.Errorf("--baseline %s has the same runs as tonight: name earlier ones", baseline))
	case len(f.times) == 0:
		return nil, errors.New("no result of tonight or of the baseline has a time")
	}
	f.judge()
	return f, nil
}

// read adds the results that arguments name.
func (f *Fleet) read(ctx context.Context, args []string, now bool) error {
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
		err := f.add(file, rows, now)
		rows = nil
		return err
	})
	f.Notes = slices.Concat(f.Notes, passed, data.Notes(), lacking.Notices())
	return err
}

// add adds the rows of a file, unless it is one of tonight's in the baseline.
func (f *Fleet) add(file *result.File, rows []result.Row, now bool) error {
	run, node := &file.Run, nodeOf(file)
	at := place{Node: node, night: run.Start.UTC().Format(time.DateOnly)}
	switch {
	case node == "":
		return fmt.Errorf("%s: no host is recorded: results of nodes need one", file.Path)
	case now:
		f.judged[run.ID], f.nodes[node], f.last, at.night = true, true, max(f.last, at.night), tonight
		if f.facts = append(f.facts, run.Crowded()); run.Rehearse {
			f.facts = append(f.facts, notice.SimulatedRuns{})
		}
	case f.judged[run.ID]:
		return nil
	default:
		f.nights[at.night] = true
	}
	who := analysis.ContenderOf(run)
	who.Library = ""
	for _, row := range rows {
		r := row.Record
		key := curve{who, analysis.TableOf(analysis.ConditionOf(run, r))}
		if f.curves[key] == 0 {
			f.curves[key] = len(f.curves) + 1
		}
		at.Size, at.of = r.SizeBytes, f.curves[key]
		if r.Timed() && r.Time.Seconds > 0 {
			f.times = append(f.times, value{at, r.Time.Seconds})
		} else if now && compare.Failed(r.Status) {
			f.failed = append(f.failed, at)
		}
	}
	return nil
}

// nodeOf is the host of a run, or all its hosts; "" where they are not recorded.
func nodeOf(file *result.File) string {
	hosts := map[string]bool{file.Run.Machine.Host: true}
	for _, r := range file.Ranks {
		hosts[r.Host] = true
	}
	delete(hosts, "")
	return strings.Join(slices.Sorted(maps.Keys(hosts)), "+")
}

// titles name the curves.
func (f *Fleet) titles() map[int]string {
	var who []analysis.Contender
	for c := range f.curves {
		who = units.AddOnce(who, c.Contender)
	}
	names, titles := analysis.Names(who), map[int]string{}
	for c, i := range f.curves {
		titles[i] = names[c.Contender] + ", " + c.Condition.Title()
	}
	return titles
}
