package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/result"
)

// growthPart shows what a case costs beside its measuring as the world grows: what ranks exchange, and what the file
// takes.
func growthPart(c config) error {
	fmt.Fprintln(c.out, "Exchanged between batches, a case: what one rank hands to rank 0 (gather) and to reductions, "+
		"in bytes. It may grow with the")
	fmt.Fprintln(c.out, "iterations (the vector of the largest times) but not with the ranks. Counted in package bench "+
		"over a fake backend, latency mode.")
	fmt.Fprintln(c.out,
		"\n| ranks | iterations | gathered per rank | reduced per rank | record |\n|---:|---:|---:|---:|---:|")
	for _, ranks := range []int{2, 4, 8, 16, 32} {
		for _, iterations := range []int{100, 1000} {
			if err := countCase(c, ranks, iterations); err != nil {
				return err
			}
		}
	}
	if err := countCase(c, 16384, 20); err != nil {
		return err
	}
	fmt.Fprintln(c.out, "\nA record of 16,384 ranks is to stay under 4 KiB; the times of all ranks are in the sidecar.")
	fmt.Fprintln(c.out, "\nReal launches, more ranks than cores from some point on:")
	fmt.Fprintln(c.out, "\n| ranks | wall time | cases | file bytes a case |\n|---:|---:|---:|---:|")
	for _, ranks := range []int{2, 4, 8, 16, 32} {
		dir := filepath.Join(c.work, fmt.Sprintf("growth-%d", ranks))
		l, err := c.mpirun(ranks, c.program("rank"), "--quiet", "--backend", "mpi", "--collective", "all_reduce,all_gather",
			"--placement", "out",
			"-b", "1K", "-e", "64K", "-f", "8", "-n", "20", "--mode", "throughput,latency", "--out", dir)
		if err != nil {
			return err
		}
		cases, size := 0, 0
		if err := records(dir, func(r *result.Record) error {
			line, err := json.Marshal(r)
			cases, size = cases+1, size+len(line)+1
			return err
		}); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "| %d | %.1f s | %d | %d |\n", ranks, l.wall.Seconds(), cases, size/max(1, cases))
	}
	return nil
}

// counted is a rank's Comm that counts the bytes that it hands over.
type counted struct {
	bench.Comm
	gathered, reduced *atomic.Int64
}

func (c counted) Gather(x []float64) ([]float64, error) {
	c.gathered.Add(int64(8 * len(x)))
	return c.Comm.Gather(x)
}

func (c counted) Max(x []float64) error {
	c.reduced.Add(int64(8 * len(x)))
	return c.Comm.Max(x)
}

func (c counted) Sum(x []float64) error {
	c.reduced.Add(int64(8 * len(x)))
	return c.Comm.Sum(x)
}

func countCase(c config, ranks, iterations int) error {
	var gathered, reduced atomic.Int64
	var record *result.Record
	point, err := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1,
		Placement: coll.OutOfPlace,
		Mode:      coll.Latency, World: ranks}.WithElements(4)
	if err != nil {
		return err
	}
	script := &benchtest.Script{}
	for _, err := range benchtest.Run(ranks, func(w bench.World) error {
		fake := &benchtest.Fake{World: w, Script: script}
		w.Comm = counted{w.Comm, &gathered, &reduced}
		r, err := bench.Measure(w, fake, point, bench.Options{Iterations: iterations, Average: bench.Max,
			Clock: bench.Clock{Common: true}})
		if err == nil && w.Rank == 0 {
			record = r
			bench.Shorten(r.Ranks, w) // the lists of a large world go into the sidecar
		}
		return err
	}) {
		if err != nil {
			return err
		}
	}
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	n := int64(ranks)
	fmt.Fprintf(c.out, "| %d | %d | %d | %d | %d |\n", ranks, iterations, gathered.Load()/n, reduced.Load()/n, len(line)+1)
	return nil
}
