// Command bench compares rank's timed loop with bare C loops over MPI and the simulation of NCCL, and commands with
// simple peers that read the same files. It prints Markdown; scripts/bench.sh builds what it needs and runs it.
//
// People read its output beside the targets of docs/performance.md; no test depends on its values.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// MPI is called from the thread that initialised it.
func init() { runtime.LockOSThread() }

// config is what the command line asks for.
type config struct {
	top    string        // folder of bin and lib
	work   string        // temporary folder
	budget time.Duration // of one row of the comparisons in one process
	max    int64         // largest message of the comparisons in bytes
	size   int64         // of the log that is imported and of a fifth of the trace that is analysed, in bytes
	out    io.Writer
}

// parts are what can be measured, in the order of the report.
var parts = []struct {
	name  string
	title string
	run   func(c config) error
}{
	{"loop", "The loop over MPI: rank's against bare C", func(c config) error { return c.loops("loop", 2) }},
	{"nccl", "The loop over NCCL's simulation: rank's against bare C",
		func(c config) error { return c.loops("nccl", 1, 2) }},
	{"commands", "Commands", commandsPart},
}

func main() {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	only := flag.String("only", strings.Join(names, ","), "parts to run")
	ranks := flag.String("ranks", "",
		"be one of the ranks of a part: loop or nccl (the bench starts them itself)")
	c := config{out: os.Stdout}
	flag.StringVar(&c.top, "top", ".", "folder of bin and lib")
	flag.DurationVar(&c.budget, "budget", 15*time.Second, "time for one row of the parts loop and nccl")
	flag.Int64Var(&c.max, "max", 64<<20, "largest message of loop and nccl, in bytes")
	flag.Int64Var(&c.size, "size", 100e6, "size of the log of the part commands, and of a fifth of its trace, in bytes")
	flag.Parse()
	err := c.run(strings.Split(*only, ","), *ranks)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (c config) run(only []string, ranks string) (err error) {
	if ranks != "" {
		return c.rank(ranks)
	}
	if c.work, err = os.MkdirTemp("", "busbar-bench-"); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(c.work)) }()
	fmt.Fprintf(c.out, "%s\n", machine())
	for _, p := range parts {
		if !slices.Contains(only, p.name) {
			continue
		}
		fmt.Fprintf(c.out, "\n## %s\n\n", p.title)
		if err := p.run(c); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
