package report

import (
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// place collects where something occurred: in which runs, operations and sizes.
type place struct {
	n          int
	runs       []int // numbers, ascending
	operations []string
	from, to   int64 // bytes; to 0: no size is known
}

// add counts one more; the operation may be empty, and the size negative, where none is known.
func (p *place) add(number int, operation string, size int64) {
	p.n++
	if i, there := slices.BinarySearch(p.runs, number); !there {
		p.runs = slices.Insert(p.runs, i, number)
	}
	if operation != "" {
		p.operations = units.AddOnce(p.operations, operation)
	}
	if size >= 0 {
		if p.to == 0 || size < p.from {
			p.from = size
		}
		p.to = max(p.to, size)
	}
}

// words are "all_reduce, reduce; 8 B to 1 KiB; runs 1-3", with the runs where there are others.
func (p *place) words(runs int) string {
	sizes := ""
	if p.to > 0 {
		if sizes = size(p.from); p.from < p.to {
			sizes += " to " + size(p.to)
		}
	}
	return strings.Join(nonEmpty(units.Some(p.operations), sizes, runsIn(p.runs, runs)), "; ")
}

func size(bytes int64) string { return coll.FormatSize(bytes, true) }

// runsIn names some of all runs, "runs 1-12, 15"; "" where it is all of them.
func runsIn(numbers []int, all int) string { return notice.Runs{Numbers: numbers, Of: all}.Some() }
