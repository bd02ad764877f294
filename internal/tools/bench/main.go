// Command bench compares rank's timed loop with bare C loops over MPI and the simulation of NCCL. It prints Markdown;
// scripts/bench.sh builds what it needs and runs it.
//
// People read its output beside the targets of docs/performance.md; no test depends on its values.
package main

import (
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
	budget time.Duration // of one row of the comparisons in one process
	max    int64         // largest message of the comparisons in bytes
	out    io.Writer
}

// parts are what can be measured, in the order of the report.
var parts = []struct {
	name, title string
	join        func(config) (*library, error) // makes this process a rank
	worlds      []int
}{
	{"loop", "The loop over MPI: rank's against bare C", joinMPI, []int{2}},
	{"nccl", "The loop over NCCL's simulation: rank's against bare C", joinNCCL, []int{1, 2}},
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
	flag.Parse()
	if err := c.run(strings.Split(*only, ","), *ranks); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (c config) run(only []string, ranks string) error {
	if ranks == "" {
		fmt.Fprintf(c.out, "%s\n", machine())
	}
	for _, p := range parts {
		var err error
		switch {
		case ranks == p.name:
			return c.rank(p.join)
		case ranks == "" && slices.Contains(only, p.name):
			fmt.Fprintf(c.out, "\n## %s\n\n", p.title)
			err = c.loops(p.name, p.worlds)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
