package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/stats"
)

// memoryPart compares peaks of resident memory. What the bare program takes beyond its two buffers is MPI and its
// scratch; what rank takes beyond the bare program is busbar.
func memoryPart(c config) error {
	const allowed = 30e6
	fmt.Fprintln(c.out, "np 2, all_reduce of float32, out of place, with checks. Target: rank takes at most 30 MB more "+
		"than the bare program,")
	fmt.Fprintln(c.out, "which has the same two buffers of size S and MPI's scratch.")
	fmt.Fprintln(c.out,
		"\n| S | 2·S | bare program | rank | rank more than bare | on target |\n|---:|---:|---:|---:|---:|---|")
	for _, size := range []int64{8, 1 << 20, 16 << 20, 256 << 20, 1 << 30} {
		if 6*size > available() {
			fmt.Fprintf(c.out, "| %s | not enough free memory here | | | | |\n", coll.FormatSize(size, true))
			continue
		}
		s := fmt.Sprint(size)
		bare, err := c.peakOf(2, c.bareProgram(), "throughput", s, s, "2", "0", "multiple")
		if err != nil {
			return err
		}
		ours, err := c.peakOf(2, c.program("rank"), "--quiet", "--backend", "mpi", "--collective", "all_reduce",
			"--placement", "out",
			"-b", s, "-e", s, "-n", "5", "--mode", "throughput", "--out", filepath.Join(c.work, "memory"))
		if err != nil {
			return err
		}
		more := ours - bare
		fmt.Fprintf(c.out, "| %s | %s | %s | %s | %s | %s |\n", coll.FormatSize(size, true), megabytes(2*size),
			megabytes(bare),
			megabytes(ours), megabytes(more), yes(float64(more) <= allowed))
	}
	return nil
}

// startPart compares whole launches that measure one tiny case: their difference bounds what rank does before its
// first measurement, and includes what it does after it.
func startPart(c config) error {
	var ours, bare []float64
	for i := range c.rounds {
		l, err := c.mpirun(2, c.program("rank"), "--quiet", "--backend", "mpi", "--collective", "all_reduce", "--placement",
			"out", "-b", "8", "-e", "8",
			"-n", "20", "-c", "0", "--mode", "throughput", "--out", filepath.Join(c.work, fmt.Sprintf("start-%d", i)))
		if err != nil {
			return err
		}
		ours = append(ours, l.wall.Seconds())
		if l, err = c.mpirun(2, c.bareProgram(), "throughput", "8", "8", "2", "0", "multiple"); err != nil {
			return err
		}
		bare = append(bare, l.wall.Seconds())
	}
	more := stats.Median(ours) - stats.Median(bare)
	fmt.Fprintf(c.out, "np 2, one case of 8 B, from the start of mpirun to its end, %d launches each: rank %s (%s), the "+
		"bare program %s (%s).\n",
		c.rounds, seconds(stats.Median(ours)), span(ours), seconds(stats.Median(bare)), span(bare))
	fmt.Fprintf(c.out, "rank takes %s more, files and end included; target: at most 0.5 s: %s.\n", seconds(more),
		yes(more <= 0.5))
	return c.rehearsedStart()
}

// rehearsedStart times launches of many more ranks than cores, each with a simulated GPU.
func (c config) rehearsedStart() error {
	const ranks, launches = 64, 3
	var times []float64
	for i := range launches {
		l, err := c.mpirun(ranks, "env", fmt.Sprintf("BUSBAR_REHEARSAL_GPUS=%d", ranks), c.program("rank"), "--quiet",
			"--rehearse", "--backend", "nccl",
			"-b", "8", "-e", "8", "-n", "1", "--collective", "all_reduce", "--out",
			filepath.Join(c.work, fmt.Sprintf("rehearsed-%d", i)))
		if err != nil {
			return err
		}
		times = append(times, l.wall.Seconds())
	}
	fmt.Fprintf(c.out, "\nnp %d on %d CPUs, NCCL simulated, one case of 8 B and one iteration, %d launches: %s (%s), "+
		"mpirun included.\n",
		ranks, runtime.NumCPU(), launches, seconds(stats.Median(times)), span(times))
	return nil
}

// sweepsPart times the sweeps that users wait for.
func sweepsPart(c config) error {
	fmt.Fprintln(c.out, "| sweep | wall time | target | on target |\n|---|---:|---:|---|")
	for _, s := range []struct {
		title string
		limit time.Duration
		args  string
	}{
		{"all_reduce 8 B – 1 GiB at np 2, throughput, ±2 % or 4 s a case, with checks", 15 * time.Second,
			"--backend mpi --collective all_reduce -b 8 -e 1G -f 2 --placement out --mode throughput --precision 2% --budget " +
				"4s"},
		{"the quick sweep at np 2", 60 * time.Second, ""},
	} {
		args := append([]string{"--quiet", "--out", filepath.Join(c.work, "sweep-"+strconv.Itoa(len(s.args)))},
			strings.Fields(s.args)...)
		l, err := c.mpirun(2, c.program("rank"), args...)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "| %s | %.1f s | %s | %s |\n", s.title, l.wall.Seconds(), s.limit, yes(l.wall <= s.limit))
	}
	return nil
}
