package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/input"
	"busbar/post/usage"
)

// side is one of the things that are compared: the launches behind an argument, or those that share a value of --by.
type side struct {
	letter, name string
	runs         []*result.Run
	ids          map[string]bool // of the runs, which may have several files each
	launches     []string        // in the order of their start; of a campaign the blocks, which hold one each
	number       units.Numbers[string]
	rehearsed    bool
	crowd        map[analysis.Shape]notice.Fact // worlds whose ranks or threads shared cores, and how

	data    *result.Dataset
	entries map[point][]entry
}

// letter names the i-th side in tables.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("S%d", i+1)
}

// sorts are the words of --by beside environment variables, with the paths of headerOf.
var sorts = map[string]string{
	"variant": "variant", "library": "title", "backend": "backend.name", "device": "device", "host": "machine.host",
	"tool": "tool", "campaign": "campaign", "launch": "launch", "date": "date",
}

// environmentSort begins the words of --by that name an environment variable.
const environmentSort = "env:"

// sortBy is the path of headerOf for a word of --by.
func sortBy(word string) (path string, err error) {
	if name, is := strings.CutPrefix(word, environmentSort); is && name != "" {
		return "environment." + name, nil
	}
	if path := sorts[word]; path != "" {
		return path, nil
	}
	return "", coll.Unknown("word for --by", word, append(slices.Sorted(maps.Keys(sorts)), environmentSort+"NAME"))
}

// sidesOf are the sides that arguments name, one each. Two of them may be the same runs; the error is also that they
// share some of their runs only.
func sidesOf(
	ctx context.Context, args []string, o result.MergeOptions,
) (sides []*side, notes []notice.Notice, err error) {
	for i, arg := range args {
		data, passed, err := input.Merge(ctx, []string{arg}, o)
		if err != nil {
			return nil, nil, err
		}
		s := newSide(letter(i), arg, data, data.Runs())
		notes = append(notes, passed...)
		for _, other := range sides {
			if id := s.sharedRun(other); id != "" && !s.sameRuns(other) {
				err := fmt.Errorf("run %s is in %s and in %s, which differ in other runs: compare different runs",
					id, other.name, arg)
				return nil, nil, usage.New(err)
			}
		}
		sides = append(sides, s)
	}
	return sides, notes, nil
}

// sharedRun is the ID of a run of both sides; "" without one.
func (s *side) sharedRun(other *side) string {
	for _, r := range s.runs {
		if other.ids[r.ID] {
			return r.ID
		}
	}
	return ""
}

// sameRuns reports whether two sides are the same runs, perhaps in copies.
func (s *side) sameRuns(other *side) bool { return maps.Equal(s.ids, other.ids) }

// sidesBy are the sides that a dataset falls into by a value of its runs, the oldest first.
func sidesBy(data *result.Dataset, path string) (sides []*side) {
	label := func(r *result.Run) string { return headerOf(r)[path] }
	for i, runs := range units.GroupBy(data.Runs(), label) { // oldest first
		sides = append(sides, newSide(letter(i), cmp.Or(label(runs[0]), "(none)"), data, runs))
	}
	return sides
}

func newSide(letter, name string, data *result.Dataset, runs []*result.Run) *side {
	s := &side{
		letter: letter, name: name, data: data, entries: map[point][]entry{},
		ids: map[string]bool{}, crowd: map[analysis.Shape]notice.Fact{},
	}
	s.runs = slices.Clone(runs)
	slices.SortStableFunc(s.runs, func(a, b *result.Run) int { return a.Start.Compare(b.Start) })
	for _, r := range s.runs {
		s.ids[r.ID] = true
		if _, added := s.number.Of(r.PairedBy()); added {
			s.launches = append(s.launches, r.PairedBy())
		}
		s.rehearsed = s.rehearsed || r.Rehearse
		if why := r.Crowded(); why != nil {
			s.crowd[analysis.Shape{World: r.World, Nodes: r.Nodes, PerNode: r.RanksPerNode}] = why
		}
	}
	return s
}

// sidesOf are the sides as far as they have runs of a kind: none where fewer than two have, or the first has none.
// Notices name those without, where others have some.
func (k *kind) sidesOf(sides []*side) (of []*side, lacking []notice.Notice) {
	for _, s := range sides {
		runs := units.Where(s.runs, k.has)
		if len(runs) == 0 {
			lacking = append(lacking, notice.New(notice.NotComparable{Side: s.name, Kind: k.name}))
			continue
		}
		of = append(of, newSide(s.letter, s.name, s.data, runs))
	}
	switch {
	case len(of) == 0:
		return nil, nil
	case len(of) == 1 || of[0].letter != sides[0].letter:
		return nil, lacking
	}
	return of, lacking
}

// base puts the side of that name first, where the others are compared with it.
func base(sides []*side, name string) ([]*side, error) {
	if name == "" {
		return sides, nil
	}
	i := slices.IndexFunc(sides, func(s *side) bool { return s.name == name })
	if i < 0 {
		var names []string
		for _, s := range sides {
			names = append(names, s.name)
		}
		return nil, coll.Unknown("side", name, names)
	}
	sides = slices.Concat(sides[i:i+1], sides[:i], sides[i+1:])
	for i, s := range sides {
		s.letter = letter(i)
	}
	return sides, nil
}

// refuseRehearsed is the error of simulated values against measured ones, unless a flag permits it.
func refuseRehearsed(sides []*side) error {
	i := slices.IndexFunc(sides, func(s *side) bool { return s.rehearsed })
	j := slices.IndexFunc(sides, func(s *side) bool { return !s.rehearsed })
	if i < 0 || j < 0 {
		return nil
	}
	err := fmt.Errorf("%s was simulated (its values are not about hardware) and %s was measured: %w",
		sides[i].name, sides[j].name, errSimulated)
	return usage.New(err)
}

var (
	errSimulated = errors.New("compare measured results only, or allow both with --include-simulated")
	errOneSide   = errors.New("only one side: name two or more files or folders, or use --by to divide the results")
)
