package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"busbar/rank/launch"
	"busbar/rank/screen"
)

const helpHead = `rank measures collective communication, and steps of data-parallel training.
It is started once per GPU or CPU slot:

  mpirun -np N rank [flags]        srun -n N rank [flags]

Without flags it measures the sweep "quick" on the best backend there is and writes
profile_<backend>_world<N>_<time>.jsonl, and a .txt view beside it, into ./results.
Then: post merge && post plot
`

const helpTail = `
Examples
  mpirun -np 8 rank --sweep baseline
        all_reduce, 8 B to 8 GiB
  mpirun -np 8 rank -b 8 -e 8G -f 2 -n 20 -w 5 -c 1 -d float -o sum
        what all_reduce_perf of nccl-tests would be told; long names too
  mpirun -np 4 rank --collective all_gather --elements 1M,4M --mode latency
  mpirun -np 4 rank --sweep my.yaml --list
        the plan: cases, bytes, memory, time; nothing is measured
  mpirun --hostfile hosts --map-by ppr:8:node rank --pattern pairs
        which node or link is slow
  mpirun -np 4 rank --step resnet50 --bucket 5M,25M,all
        the step of a training: which bucket hides communication best
  mpirun -np 4 rank --sweep full --time-limit 10m --out runs
  mpirun -np 4 rank --sweep full --out runs --resume
        what is missing in runs

Numbers and words
  Sizes are whole numbers with K, M or G (powers of 1024); GB/s are 1e9 bytes per second.
  Lists are separated by commas. _ and - are alike in long names. Flags win over the sweep.

Exit codes, given by rank 0
  0   all measured; what the plan leaves out (world or memory too small) is said
  1   the command line or the sweep file
  2   the environment: library, MPI, device, output that cannot be written
  3   wrong data         4  a hang, named         5  a rank or the library failed
  6   finished, but some points failed
  130, 143  interrupted (SIGINT; SIGTERM, or SIGUSR1 after the case in hand); --resume continues
A launcher may give a code of its own instead: mpirun gives 1 after SIGTERM. The code that was
meant stands in the last line of the results file.

Signals
  TERM and INT end the run at once, USR1 after the case in hand. What was measured is kept.
`

// writeHelp writes the manual.
func writeHelp(w io.Writer) {
	f := newFlags(&config{})
	_, _ = fmt.Fprint(w, helpHead)
	last := ""
	f.VisitAll(func(fl *pflag.Flag) {
		if g := fl.Annotations[group][0]; g != last {
			_, _ = fmt.Fprintf(w, "\n%s\n", g)
			last = g
		}
		name := "    --" + fl.Name
		if fl.Shorthand != "" {
			name = "-" + fl.Shorthand + ", --" + fl.Name
		}
		if t := fl.Value.Type(); t != "bool" {
			name += " " + t
		}
		lines := screen.Wrap(fl.Usage, 52)
		_, _ = fmt.Fprintf(w, "  %-25s %s\n", name, lines[0])
		for _, l := range lines[1:] {
			_, _ = fmt.Fprintf(w, "  %-25s %s\n", "", l)
		}
	})
	_, _ = fmt.Fprint(w, helpTail)
}

func versionLine() string {
	return fmt.Sprintf(
		"rank of busbar %s (build %s, %s)",
		toolVersion(),
		screen.Clip(strings.TrimSpace(launch.BuildIdentity()), 24),
		runtime.Version(),
	)
}
