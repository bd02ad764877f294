// Package benchtest has what tests of measuring need: a world whose ranks are goroutines, a fake backend with scripted
// times and faults, and the suite that every backend must pass.
package benchtest

import (
	"fmt"
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

// meeting is where goroutine ranks meet: each brings something, the last one combines, all take the outcome.
type meeting struct {
	mu     sync.Mutex
	cond   *sync.Cond
	n      int
	round  int
	came   int
	brings []any
	result any
}

// meet blocks until all n ranks have called it and returns combine's value to each.
func (m *meeting) meet(rank int, bring any, combine func(all []any) any) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.brings == nil {
		m.brings = make([]any, m.n)
	}
	m.brings[rank] = bring
	if m.came++; m.came == m.n {
		m.result = combine(m.brings)
		m.brings, m.came = nil, 0
		m.round++
		m.cond.Broadcast()
		return m.result
	}
	for round := m.round; round == m.round; {
		m.cond.Wait()
	}
	return m.result
}

// comm is a rank's bench.Comm.
type comm struct {
	m    *meeting
	rank int
}

func (c *comm) fold(x []float64, f func(a, b float64) float64) error {
	all := c.m.meet(c.rank, append([]float64(nil), x...), func(all []any) any {
		sum := append([]float64(nil), all[0].([]float64)...)
		for _, y := range all[1:] {
			for i, v := range y.([]float64) {
				sum[i] = f(sum[i], v)
			}
		}
		return sum
	})
	copy(x, all.([]float64))
	return nil
}

func (c *comm) Max(x []float64) error {
	return c.fold(x, func(a, b float64) float64 { return max(a, b) })
}

func (c *comm) Sum(x []float64) error {
	return c.fold(x, func(a, b float64) float64 { return a + b })
}

func (c *comm) Gather(x []float64) ([]float64, error) {
	all := c.m.meet(c.rank, append([]float64(nil), x...), func(all []any) any {
		var list []float64
		for _, y := range all {
			list = append(list, y.([]float64)...)
		}
		return list
	})
	if c.rank != 0 {
		return nil, nil
	}
	return all.([]float64), nil
}

func (c *comm) Bcast(x []float64) error {
	copy(x, c.m.meet(c.rank, append([]float64(nil), x...), func(all []any) any { return all[0] }).([]float64))
	return nil
}
