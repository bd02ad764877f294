// Command bench looks at what measuring costs: rank's loop against a bare C loop, over MPI, over the rehearsal of
// NCCL and over Gloo, the watchdog, memory, start-up, whole sweeps, growing worlds, merging and comparing a million
// points, merging many small files, importing long logs, and analysing a long trace. It prints Markdown;
// scripts/bench.sh builds what it needs and runs it.
//
// It is for people to read and judges against the targets of docs/performance.md; no test depends on its figures.
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

// MPI is spoken to from the thread that initialised it.
func init() { runtime.LockOSThread() }

// config is what the command line says.
type config struct {
	top    string        // folder of bin and lib
	work   string        // temporary folder
	budget time.Duration // of one point of the comparison in one process
	max    int64         // largest message of the comparisons in bytes
	rounds int           // launches of whole programs
	log    int64         // size of a log that is imported, in bytes
	trace  int64         // size of a trace that is analysed, in bytes
	out    io.Writer
}

// parts are what can be looked at, in the order of the report.
var parts = []struct {
	name  string
	title string
	run   func(c config) error
}{
	{"loop", "The loop: rank's against bare C, in one process", loopPart},
	{"nccl", "NCCL: rank's loop against bare C over the simulation, and the watchdog", ncclPart},
	{"gloo", "Gloo: rank's loop against bare C++, and launches against torch.distributed", glooPart},
	{"programs", "Whole programs, launch by launch", programsPart},
	{"memory", "Memory of a rank", memoryPart},
	{"start", "Start-up", startPart},
	{"sweeps", "Whole sweeps", sweepsPart},
	{"growth", "Growing worlds", growthPart},
	{"merge", "Merging a million points", mergePart},
	{"files", "Merging ten thousand small files", smallFilesPart},
	{"compare", "Comparing a million points", comparePart},
	{"report", "Reporting on a million points", reportPart},
	{"import", "Importing a long log", importPart},
	{"timeline", "Analysing a long trace", timelinePart},
}

func main() {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	only := flag.String("only", strings.Join(names, ","), "parts to run")
	ranks := flag.String("ranks", "",
		"be one of the ranks of a part: loop, nccl, gloo or watchdog (started by the bench itself)")
	c := config{out: os.Stdout}
	flag.StringVar(&c.top, "top", ".", "folder of bin and lib")
	flag.DurationVar(&c.budget, "budget", 15*time.Second, "time for one row of the parts loop, nccl and gloo")
	flag.Int64Var(&c.max, "max", 64<<20, "largest message of loop, nccl, gloo and programs, in bytes")
	flag.Int64Var(&c.log, "log", 100e6, "size of each log of the part import, in bytes")
	flag.Int64Var(&c.trace, "trace", 500e6, "size of the trace of the part timeline, in bytes")
	flag.IntVar(&c.rounds, "launches", 8, "launches of each program")
	flag.Parse()
	if err := run(c, strings.Split(*only, ","), *ranks); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(c config, only []string, ranks string) (err error) {
	if ranks != "" {
		as := asRanks[ranks]
		if as == nil {
			return fmt.Errorf("-ranks %s: it can be loop, nccl, gloo or watchdog", ranks)
		}
		return as(c)
	}
	if c.work, err = os.MkdirTemp("", "busbar-bench-"); err != nil {
		return err
	}
	defer func() { err = first(err, os.RemoveAll(c.work)) }()
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

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
