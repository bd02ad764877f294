package report

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
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

// words are "all_reduce, reduce; 8 B to 1 KiB; runs 1 to 3", with the runs where there are others.
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

// mostRanges is how many ranges of runs are named one by one.
const mostRanges = 12

// runsIn names some of all runs, "runs 1 to 12, 15"; "" where it is all of them.
func runsIn(numbers []int, all int) string {
	if len(numbers) == all {
		return ""
	}
	ranges := rangesOf(numbers)
	if n := len(ranges) - mostRanges; n > 0 {
		ranges = append(ranges[:mostRanges], fmt.Sprintf("and %d more", n))
	}
	if len(numbers) == 1 {
		return "run " + ranges[0]
	}
	return "runs " + strings.Join(ranges, ", ")
}

// rangesOf writes ascending numbers in as few words as it takes: 1 to 12, 15.
func rangesOf(numbers []int) (ranges []string) {
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		switch last - i {
		case 0:
			ranges = append(ranges, fmt.Sprint(numbers[i]))
		case 1:
			ranges = append(ranges, fmt.Sprint(numbers[i]), fmt.Sprint(numbers[last]))
		default:
			ranges = append(ranges, fmt.Sprintf("%d to %d", numbers[i], numbers[last]))
		}
		i = last + 1
	}
	return ranges
}
