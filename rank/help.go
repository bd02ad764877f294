package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"busbar/rank/launch"
	"busbar/rank/screen"
)

const helpHead = `rank measures the latency and bandwidth of collective communication between GPUs or CPUs.
It also measures training steps and finds slow nodes and links.

  mpirun -np N rank [flags]        srun -n N rank [flags]
`

const examples = `
Examples
  mpirun -np 8 rank && post report
  mpirun -np 8 rank -b 8 -e 8G -f 2 -n 20 -w 5 -c 1 -d float -o sum      # as all_reduce_perf
  mpirun -np 8 rank --backend nccl --sweep full --time-limit 10m --out runs
  mpirun --hostfile hosts --map-by ppr:8:node rank --pattern pairs       # find a slow node or link
  mpirun -np 4 rank --step resnet50 --bucket 5M,25M,all                  # compare bucket sizes
`

const shortTail = `
rank --help: all flags, exit codes, signals. rank --step --help: flags of training steps.
`

const helpTail = `
Training step
  --step MODEL measures the training steps of a model; rank --step --help lists its flags.

Results
  rank writes profile_<backend>_world<N>_<time>.jsonl and .txt into ./results, or --out DIR.
  Next: post report [DIR]

Values
  SIZE is an integer with K, M or G (powers of 1024). GB/s are 1e9 bytes per second.
  LIST is separated by commas. Long names accept _ for -. Flags override the sweep.
  Defaults are in parentheses. With --sweep, the sweep sets -b, -e and -f.

Columns of the table
  rt     root                                 time   of one operation
  in     placement: out, in                   ±      half-width of the 95 % CI of time
  how    mode: thr(oughput), lat(ency)        #      wrong elements (- unchecked)

Environment
  BUSBAR_SIDE_CHANNEL=off  open no TCP connections between ranks
  BUSBAR_TIME_SCALE=N      multiply the timeouts after a failure by N (0.1 to 100)

Exit codes (of rank 0)
  0         success; points that the plan skips (world or memory too small) are reported
  1         usage: command line or sweep file
  2         environment: library, MPI, device, unwritable output, or a --preflight error
  3         wrong data
  4         hang; the report names the ranks
  5         a rank or the library failed
  6         some points failed
  130, 143  interrupted by SIGINT; by SIGTERM or SIGUSR1. --resume continues the run
mpirun may exit with its own code: with 1 after SIGTERM. The last line of the results file
has the exit code of rank.

Signals
  SIGTERM and SIGINT end the run at once, SIGUSR1 after the current case. rank keeps all results.
`

// daily lists the flags of the short help.
var daily = strings.Fields(`
	backend sweep collective minbytes maxbytes stepfactor datatype op mode time-limit pattern out resume list
	preflight`)

// writeHelp prints the help that the command line asks for.
func (c *config) writeHelp(w io.Writer) {
	switch {
	case c.shortHelp:
		writeShortHelp(w)
	case c.Step.Model != "":
		writeStepHelp(w)
	default:
		writeFullHelp(w)
	}
}

// writeShortHelp prints the daily flags.
func writeShortHelp(w io.Writer) {
	_, _ = fmt.Fprint(w, helpHead, examples, "\nFlags\n")
	f := newFlags(&config{})
	for _, name := range daily {
		writeFlag(w, f.Lookup(name))
	}
	_, _ = fmt.Fprint(w, shortTail)
}

// writeFullHelp prints all flags, without those of --step.
func writeFullHelp(w io.Writer) {
	_, _ = fmt.Fprint(w, helpHead, examples)
	var sections []string
	newFlags(&config{}).VisitAll(func(fl *pflag.Flag) {
		if s := fl.Annotations[group][0]; s != stepSection && !slices.Contains(sections, s) {
			sections = append(sections, s)
		}
	})
	for _, s := range sections {
		writeSection(w, s)
	}
	_, _ = fmt.Fprint(w, helpTail)
}

// writeStepHelp prints the flags of --step.
func writeStepHelp(w io.Writer) {
	_, _ = fmt.Fprint(w, "rank --step MODEL measures training steps of a model: their time with and without "+
		"communication,\nand the exposed communication.\n\n  mpirun -np N rank --step resnet50 [flags]\n")
	writeSection(w, stepSection)
	_, _ = fmt.Fprint(w, "\nrank --help has the general flags, for example "+stepAlso+".\n")
}

// stepAlso lists general flags that are useful with --step.
const stepAlso = "--backend, -d, --worlds, -n, --budget"

// writeSection prints the flags of a section.
func writeSection(w io.Writer, section string) {
	_, _ = fmt.Fprintf(w, "\n%s\n", section)
	newFlags(&config{}).VisitAll(func(fl *pflag.Flag) {
		if fl.Annotations[group][0] == section {
			writeFlag(w, fl)
		}
	})
}

// writeFlag prints the name and the description of a flag.
func writeFlag(w io.Writer, fl *pflag.Flag) {
	name := "    --" + fl.Name
	if fl.Shorthand != "" {
		name = "-" + fl.Shorthand + ", --" + fl.Name
	}
	if t := fl.Value.Type(); t != "bool" {
		name += " " + t
	}
	for _, line := range screen.Wrap(fl.Usage, 71) {
		_, _ = fmt.Fprintf(w, "  %-26s %s\n", name, line)
		name = ""
	}
}

func versionLine() string {
	return fmt.Sprintf(
		"rank of busbar %s (build %s, %s)",
		toolVersion(),
		screen.Clip(strings.TrimSpace(launch.BuildIdentity()), 24),
		runtime.Version(),
	)
}
