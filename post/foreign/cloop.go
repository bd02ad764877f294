package foreign

import (
	"regexp"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// cLoop reads the lines of a plain timing loop around an MPI library: ranks, bytes, then median, percentiles and
// largest time in microseconds. Which collective it was is not among them.
type cLoop struct {
	in   *input
	test *test
}

func newCLoop(in *input) *cLoop { return &cLoop{in: in} }

var (
	cLoopRow = regexp.MustCompile(
		`^np (\d+) (\S.*?) bytes (\d+) med ([\d.]+) p90 ([\d.]+) p99 ([\d.]+) max ([\d.]+) us$`)
	cLoopClock = regexp.MustCompile(`^(clock_gettime|MPI_Wtime) ([\d.]+ ns.*)$`)
)

func (p *cLoop) opens(l line) bool { return cLoopRow.MatchString(l.body) }

func (p *cLoop) take(l line) (bool, error) {
	if m := cLoopClock.FindStringSubmatch(l.body); m != nil {
		return p.test != nil, nil
	}
	m := cLoopRow.FindStringSubmatch(l.body)
	if m == nil {
		return false, nil
	}
	world, okWorld := amount(m[1])
	size, okSize := count(m[3])
	rec := &result.Record{
		Case:   coll.Case{Collective: coll.Other, Root: -1, Mode: coll.Latency, World: world, SizeBytes: size, Count: -1},
		Status: result.OK, Check: result.Check{Result: "off"},
		Imported: &result.Origin{Line: l.n, Stated: map[string]string{"loop": m[2]}},
	}
	t := &result.Time{Outliers: -1, Summary: "median over iterations"}
	ok := okWorld && okSize
	for i, to := range []*float64{&t.Seconds, &t.P90, &t.P99, &t.Max} {
		us, isNumber := number(m[4+i])
		*to, ok = seconds(us, 1e-6), ok && isNumber
	}
	if !ok {
		return true, p.in.torn(l.n, l.text)
	}
	rec.Time = t
	if p.test == nil {
		const tool = "C timing loop"
		p.test = p.in.newTest(tool, "lines of a timing loop in C", l.n)
		p.test.run.Backend = result.Backend{Name: "mpi", Library: libraryBy("MPI", "", tool)}
	}
	p.in.counts.Rows++
	return true, p.test.add(rec)
}

func (p *cLoop) close() error {
	t := p.test
	if p.test = nil; t == nil {
		return nil
	}
	return t.end(result.Complete, nil)
}
