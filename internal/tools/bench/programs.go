package main

import (
	"bufio"
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
)

// programsPart sets whole launches of rank beside launches of the bare program, in turns: two launches of one binary
// differ by more than two loops do, so the launch is the sample here.
func programsPart(c config) error {
	fmt.Fprintf(c.out, "np 2, all_reduce of float32; %d launches of each program in turns, each launch gives one median "+
		"a size. busbar asks for\n", c.rounds)
	fmt.Fprintln(c.out, "MPI_THREAD_MULTIPLE, and so does \"bare C\"; the last column is the bare program with "+
		"MPI_THREAD_SINGLE, for the price of that.")
	fmt.Fprintln(c.out, "\n| size | mode | busbar | bare C | ratio | 95 % interval | busbar's launches | bare launches "+
		"| bare, single |\n|---:|---|---:|---:|---:|---|---|---|---:|")
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		ours, bare, single := map[int64][]float64{}, map[int64][]float64{}, map[int64][]float64{}
		for i := range c.rounds {
			launches := []func() error{
				func() error { return c.launchRank(mode, i, ours) },
				func() error { return c.launchBare(mode, "multiple", bare) },
				func() error { return c.launchBare(mode, "single", single) },
			}
			if i%2 == 1 {
				slices.Reverse(launches)
			}
			for _, launch := range launches {
				if err := launch(); err != nil {
					return err
				}
			}
		}
		for size := int64(8); size <= c.max; size *= 8 {
			if len(ours[size]) != c.rounds || len(bare[size]) != c.rounds {
				return fmt.Errorf("%d and %d times at %d bytes, wanted %d", len(ours[size]), len(bare[size]), size, c.rounds)
			}
			r := compare(ours[size], bare[size])
			fmt.Fprintf(c.out, "| %s | %s | %s | %s | %.3f | %.3f – %.3f | %s | %s | %s |\n", coll.FormatSize(size, true),
				mode, seconds(r.ours),
				seconds(r.bare), r.median, r.lo, r.hi, span(ours[size]), span(bare[size]), seconds(stats.Median(single[size])))
		}
	}
	return nil
}

func (c config) launchRank(mode coll.Mode, i int, times map[int64][]float64) error {
	dir := filepath.Join(c.work, fmt.Sprintf("programs-%s-%d", mode, i))
	_, err := c.mpirun(2, c.program("rank"), "--quiet", "--backend", "mpi", "--collective", "all_reduce", "--placement",
		"out",
		"-b", "8", "-e", fmt.Sprint(c.max), "-f", "8", "--mode", mode.String(), "--budget", "200ms", "-c", "0", "--out", dir)
	if err != nil {
		return err
	}
	return recordTimes(dir, times)
}

// recordTimes adds the time of each record in the files of a folder to those of its size; all must be ok.
func recordTimes(dir string, times map[int64][]float64) error {
	return records(dir, func(r *result.Record) error {
		if r.Status != result.OK {
			return fmt.Errorf("%s is %s: %s", r.Case, r.Status, r.Reason)
		}
		times[r.SizeBytes] = append(times[r.SizeBytes], r.Time.Seconds)
		return nil
	})
}

func (c config) launchBare(mode coll.Mode, threads string, times map[int64][]float64) error {
	l, err := c.mpirun(2, c.bareProgram(), mode.String(), "8", fmt.Sprint(c.max), "8", "0.2", threads)
	if err != nil {
		return err
	}
	if err := readTimes(l.stdout, times); err != nil {
		return fmt.Errorf("%s: %w", c.bareProgram(), err)
	}
	return nil
}

// readTimes reads "BYTES SECONDS" lines and passes over others (peak_kib).
func readTimes(stdout []byte, times map[int64][]float64) error {
	lines := bufio.NewScanner(bytes.NewReader(stdout))
	for lines.Scan() {
		size, t, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			continue
		}
		s, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return err
		}
		times[n] = append(times[n], s)
	}
	return lines.Err()
}

// records reads every record of the files in a folder.
func records(dir string, each func(*result.Record) error) error {
	files, err := result.Find(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := result.Scan(file, each); err != nil {
			return err
		}
	}
	return nil
}
