package report

import (
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// place collects where something was met: in which runs, operations and sizes.
type place struct {
	n          int
	runs       []int // numbers, ascending
	operations []string
	from, to   int64 // bytes; to < from: no size is known
}

func newPlace() *place { return &place{from: 1, to: 0} }

func (p *place) add(number int, r *result.Record) {
	p.inRun(number)
	operation := r.Operation()
	if !slices.Contains(p.operations, operation) {
		p.operations = append(p.operations, operation)
	}
	switch {
	case r.SizeBytes < 0:
	case p.to < p.from:
		p.from, p.to = r.SizeBytes, r.SizeBytes
	default:
		p.from, p.to = min(p.from, r.SizeBytes), max(p.to, r.SizeBytes)
	}
}

// inRun counts one more, in a run.
func (p *place) inRun(number int) {
	p.n++
	if i, there := slices.BinarySearch(p.runs, number); !there {
		p.runs = slices.Insert(p.runs, i, number)
	}
}

// words are "all_reduce, reduce; 8 B to 1 KiB; runs 1-3", with the runs where there are others.
func (p *place) words(runs int) string {
	var words []string
	if len(p.operations) > 0 {
		words = append(words, units.Some(p.operations))
	}
	switch {
	case p.to < p.from:
	case p.from == p.to:
		words = append(words, size(p.from))
	default:
		words = append(words, size(p.from)+" to "+size(p.to))
	}
	if in := runsIn(p.runs, runs); in != "" {
		words = append(words, in)
	}
	return strings.Join(words, "; ")
}

func size(bytes int64) string { return coll.FormatSize(bytes, true) }

// runsIn names some of all runs, "runs 1-12, 15"; "" where it is all of them.
func runsIn(numbers []int, all int) string { return notice.Runs{Numbers: numbers, Of: all}.Some() }
