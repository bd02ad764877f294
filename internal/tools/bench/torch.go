package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// glooPart compares the loops over Gloo if it is installed.
func glooPart(c config) error {
	if _, err := os.Stat(c.lib("busbar-bare-gloo.so")); err != nil {
		fmt.Fprintln(c.out, "Not measured: Gloo is not installed (apt-get install libgloo-dev).")
		return nil
	}
	return c.loops("gloo", 2)
}

// torchSizes are the messages that torch is measured with, in bytes: each ten times the one before.
var torchSizes = []int64{1 << 20, 10 << 20, 100 << 20}

// torchPython is Debian's: its python3-torch is linked to Debian's libgloo, the one that rank uses.
const torchPython = "/usr/bin/python3"

// torchPart compares launches of rank with launches of torch.distributed over the same library, in turns: two launches
// of one binary differ by more than two loops do, so the launch is the sample here.
func torchPart(c config) error {
	if _, err := start(torchPython, "-c", "import torch.distributed"); err != nil {
		fmt.Fprintln(c.out, "Not measured: torch.distributed is not installed (apt-get install python3-torch).")
		return nil
	}
	rounds := 3 * c.rounds // launches differ by a tenth and more, and a fiftieth is to be seen
	fmt.Fprintf(c.out, "%d launches of each in turns, np 2, all_reduce of float32 in place, back to back; "+
		"test/torch_gloo.py on the same\nlibgloo and interface. A launch gives one median per size. Target: "+
		"upper end at most 1.02.\n\n| size | busbar | torch | ratio | 95 %% CI | on target "+
		"|\n|---:|---:|---:|---:|---|---|\n",
		rounds)
	if err := os.Setenv("GLOO_SOCKET_IFNAME", "lo"); err != nil { // both read it
		return err
	}
	ours, torch := map[int64][]float64{}, map[int64][]float64{}
	for i := range rounds {
		launches := []func() error{
			func() error { return c.launchGloo(i, ours) }, func() error { return c.launchTorch(i, torch) },
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
	for _, size := range torchSizes {
		if len(ours[size]) != rounds || len(torch[size]) != rounds {
			return fmt.Errorf("%d and %d times at %d bytes, want %d", len(ours[size]), len(torch[size]), size, rounds)
		}
		r := compare(ours[size], torch[size])
		fmt.Fprintf(c.out, "| %s | %s | %s | %.3f | %.3f – %.3f | %s |\n", coll.FormatSize(size, true),
			seconds(r.ours), seconds(r.bare), r.median, r.lo, r.hi, r.within(1.02, 0))
	}
	return nil
}

func (c config) launchGloo(i int, times map[int64][]float64) error {
	dir := filepath.Join(c.work, fmt.Sprintf("gloo-%d", i))
	_, err := c.mpirun(2, c.program("rank"), "--quiet", "--backend", "gloo", "--collective", "all_reduce",
		"--placement", "in", "-b", fmt.Sprint(torchSizes[0]), "-e", fmt.Sprint(torchSizes[len(torchSizes)-1]), "-f",
		"10",
		"--budget", "1s", "-c", "0", "--out", dir)
	if err != nil {
		return err
	}
	files, err := result.Find(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := result.Scan(file, func(r *result.Record) error {
			if r.Status != result.OK {
				return fmt.Errorf("%s is %s: %s", r.Case, r.Status, r.Reason)
			}
			times[r.SizeBytes] = append(times[r.SizeBytes], r.Time.Seconds)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func (c config) launchTorch(i int, times map[int64][]float64) error {
	args := []string{filepath.Join(c.top, "test", "torch_gloo.py"), filepath.Join(c.work, fmt.Sprintf("torch-%d", i)),
		"1"}
	for _, size := range torchSizes {
		args = append(args, fmt.Sprint(size))
	}
	l, err := c.mpirun(2, torchPython, args...)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(l.stdout)); lines.Scan(); { // BYTES SECONDS
		size, t, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			continue
		}
		s, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return fmt.Errorf("torch_gloo.py: %w", err)
		}
		times[n] = append(times[n], s)
	}
	return nil
}
