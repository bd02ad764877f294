// Package benchtest has what tests of measuring need: a world whose ranks are goroutines, and the suite that every
// backend must pass.
package benchtest

import (
	"fmt"
	"slices"
	"sync"

	"busbar/internal/bench"
)

// Run runs f once per rank of a world of n, each in a goroutine of its own, and returns their errors by rank.
func Run(n int, f func(w bench.World) error) []error {
	m := &meeting{n: n}
	m.cond = sync.NewCond(&m.mu)
	errs := make([]error, n)
	hosts := make([]string, n)
	for r := range hosts {
		hosts[r] = fmt.Sprintf("node%02d", r/4)
	}
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			errs[r] = f(bench.World{Rank: r, Size: n, Hosts: hosts, Comm: &comm{m, r}})
		})
	}
	wg.Wait()
	return errs
}

// Exchange returns what each rank of a world of Run brings, by rank. Collective.
func Exchange(w bench.World, bring any) []any {
	c := w.Comm.(*comm)
	return c.m.meet(c.rank, bring)
}

// meeting synchronises goroutine ranks: each passes a value and gets all values.
type meeting struct {
	mu     sync.Mutex
	cond   *sync.Cond
	n      int
	round  int
	came   int
	brings []any
	all    []any
}

// meet blocks until all n ranks have called it and returns their values, by rank.
func (m *meeting) meet(rank int, bring any) []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.brings == nil {
		m.brings = make([]any, m.n)
	}
	m.brings[rank] = bring
	if m.came++; m.came == m.n {
		m.all, m.brings, m.came = m.brings, nil, 0
		m.round++
		m.cond.Broadcast()
		return m.all
	}
	for round := m.round; round == m.round; {
		m.cond.Wait()
	}
	return m.all
}

// comm is a rank's bench.Comm.
type comm struct {
	m    *meeting
	rank int
}

// exchange returns every rank's x.
func (c *comm) exchange(x []float64) (all [][]float64) {
	for _, y := range c.m.meet(c.rank, slices.Clone(x)) {
		all = append(all, y.([]float64))
	}
	return all
}

func (c *comm) fold(x []float64, f func(a, b float64) float64) error {
	for r, y := range c.exchange(x) {
		for i, v := range y {
			if r == 0 {
				x[i] = v
			} else {
				x[i] = f(x[i], v)
			}
		}
	}
	return nil
}

func (c *comm) Max(x []float64) error {
	return c.fold(x, func(a, b float64) float64 { return max(a, b) })
}

func (c *comm) Sum(x []float64) error {
	return c.fold(x, func(a, b float64) float64 { return a + b })
}

func (c *comm) Gather(x []float64) ([]float64, error) {
	all := slices.Concat(c.exchange(x)...)
	if c.rank != 0 {
		return nil, nil
	}
	return all, nil
}

func (c *comm) Bcast(x []float64) error {
	copy(x, c.exchange(x)[0])
	return nil
}
