package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"busbar/internal/units"
	"busbar/post/trace/tracetest"
)

// command is one row of the part commands.
type command struct {
	name   string
	make   func(c config, input string) error // makes the input, a folder
	run    string                             // the command; IN is the input, OUT a new folder
	peer   string                             // a program that reads the same files, or empty
	limit  time.Duration                      // target of the time
	memory int64                              // target of the largest memory in bytes; 0: none
}

const readAll = "find IN -type f -exec cat {} +"

var commands = []command{
	{"merge a million points", points("-n", "1000000"),
		"post merge --include-simulated -o OUT IN", readAll, 30 * time.Second, 500e6},
	{"merge 10,000 files", points("-n", "100000", "-files", "10000"),
		"post merge --include-simulated -o OUT IN", readAll, 5 * time.Second, 0},
	{"compare two halves of a million points", halves,
		"post compare IN/a IN/b", readAll, 30 * time.Second, 500e6},
	{"report on a million points", points("-imported", "-n", "1000000"),
		"post report -o OUT IN", readAll, 30 * time.Second, 500e6},
	{"import a log of nccl-tests", writeLog,
		"post import -o OUT IN/long.log", "sha256sum IN/long.log", 30 * time.Second, 200e6},
	{"analyse a Kineto trace", writeTrace,
		"post timeline IN/trace.json", "sha256sum IN/trace.json", 10 * time.Second, 250e6},
	{"start and end of np 2, one case", nothing,
		"mpirun 2 rank --quiet --backend mpi --collective all_reduce -b 8 -e 8 -n 20 -c 0 --mode throughput --out OUT",
		"mpirun 2 busbar-bare throughput 8 8 2 0 multiple", 0, 0},
	{"start and end of np 64, simulated", nothing,
		"mpirun 64 env BUSBAR_REHEARSAL_GPUS=64 rank --quiet --simulate --backend nccl -b 8 -e 8 -n 1 --out OUT",
		"", 0, 0},
	{"the quick sweep at np 2", nothing, "mpirun 2 rank --quiet --out OUT", "", time.Minute, 0},
	{"8 B to 1 GiB at np 2, 4 s a case", nothing,
		"mpirun 2 rank --quiet --backend mpi --collective all_reduce -b 8 -e 1G -f 2 --placement out --mode " +
			"throughput --budget 4s --out OUT", "", 15 * time.Second, 0},
}

// commandsPart runs commands, each in turns with its peer, and takes the fastest of three runs.
func commandsPart(c config) error {
	fmt.Fprintln(c.out, "The fastest of three runs. A peer reads the same files, or starts as many processes.\n\n"+
		"| command | time | CPU time | peer | ratio | largest memory | target | on target |\n"+
		"|---|---:|---:|---:|---:|---:|---:|---|")
	for i, row := range commands {
		input := filepath.Join(c.work, fmt.Sprintf("input-%d", i))
		if err := errors.Join(os.MkdirAll(input, 0o777), row.make(c, input)); err != nil {
			return err
		}
		ours, peer, err := c.fastest(row, input)
		if err != nil {
			return err
		}
		beside, target, met := " | ", "", ""
		if row.peer != "" {
			beside = fmt.Sprintf(
				"%s | %.2f",
				units.Duration(peer.wall.Seconds()),
				ours.wall.Seconds()/peer.wall.Seconds(),
			)
		}
		if row.limit > 0 {
			target, met = row.limit.String(),
				yes(ours.wall <= row.limit && (row.memory == 0 || ours.peak <= row.memory))
		}
		if row.memory > 0 {
			target += ", " + megabytes(row.memory)
		}
		fmt.Fprintf(c.out, "| %s | %s | %s | %s | %s | %s | %s |\n", row.name, units.Duration(ours.wall.Seconds()),
			units.Duration(ours.cpu.Seconds()), beside, megabytes(ours.peak), target, met)
		if err := os.RemoveAll(input); err != nil {
			return err
		}
	}
	return nil
}

// fastest is the fastest of three runs of a command and of its peer.
func (c config) fastest(row command, input string) (ours, peer launched, err error) {
	for i := range 3 {
		words := strings.NewReplacer("IN", input, "OUT", fmt.Sprintf("%s-out-%d", input, i))
		if row.peer != "" {
			l, err := c.shell(words.Replace(row.peer))
			if err != nil {
				return ours, peer, err
			}
			peer = faster(peer, l)
		}
		l, err := c.shell(words.Replace(row.run))
		if err != nil {
			return ours, peer, err
		}
		ours = faster(ours, l)
	}
	return ours, peer, nil
}

// shell runs a command line whose programs are ours or the system's; its words have no blanks.
func (c config) shell(line string) (launched, error) {
	args := strings.Fields(line)
	for i, arg := range args {
		switch arg {
		case "rank", "post":
			args[i] = c.program(arg)
		case "busbar-bare":
			args[i] = c.lib(arg)
		}
	}
	if args[0] == "mpirun" {
		args = append([]string{filepath.Join(c.top, "scripts", "mpirun.sh"), "-np"}, args[1:]...)
	}
	return start(args[0], args[1:]...)
}

func nothing(config, string) error { return nil }

// points makes synthetic results.
func points(args ...string) func(config, string) error {
	return func(c config, folder string) error {
		_, err := start("go", append([]string{"-C", c.top, "run", "./internal/tools/points", "-o", folder}, args...)...)
		return err
	}
}

// halves makes fifty launches for each side that took turns, in the folders a and b.
func halves(c config, folder string) error {
	if err := points("-n", "1000000")(c, folder); err != nil {
		return err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for i, f := range files {
		side := filepath.Join(folder, string("ab"[i%2]))
		if err := errors.Join(os.MkdirAll(side, 0o777),
			os.Rename(filepath.Join(folder, f.Name()), filepath.Join(side, f.Name()))); err != nil {
			return err
		}
	}
	return nil
}

// writeLog writes a log of nccl-tests of about c.size bytes with NCCL's own log between the rows.
func writeLog(c config, folder string) error {
	return writeFile(filepath.Join(folder, "long.log"), func(w io.Writer) error {
		log := &counting{w: w}
		fmt.Fprint(log, "# nccl-tests version 2.19.0 nccl-headers=22803 nccl-library=22907\n"+
			"# Collective test starting: all_reduce_perf\n"+
			"# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 "+
			"validation: 1 graph: 0\n"+
			"#  Rank  0 Group  0 Pid   1 on      node1 device  0 [0000:0a:00] Synthetic GPU\n"+
			"#  Rank  1 Group  0 Pid   2 on      node2 device  0 [0000:0a:00] Synthetic GPU\n"+
			"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "+
			"busbw  #wrong\n")
		for i := 0; log.n < c.size; i++ {
			bytes := int64(8) << (i % 30)
			us := 5 + float64(bytes)/300e3
			bw := float64(bytes) / us / 1e3
			fmt.Fprintf(log,
				"%12d  %12d     float     sum      -1  %7.2f  %6.2f  %6.2f       0  %7.2f  %6.2f  %6.2f       0\n",
				bytes, bytes/4, us, bw, bw, us, bw, bw)
			fmt.Fprintf(log,
				"node1:4711:4712 [0] NCCL INFO Channel %02d/0 : 0[0] -> 1[0] [send] via NET/IB/%d/GDRDMA\n", i%16, i%8)
		}
		_, err := fmt.Fprint(log, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.00\n#\n")
		return err
	})
}

// writeTrace writes a Kineto trace of 5 × c.size bytes.
func writeTrace(c config, folder string) error {
	return writeFile(filepath.Join(folder, "trace.json"), func(w io.Writer) error { return tracetest.Big(w, 5*c.size) })
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// counting counts what is written through it.
type counting struct {
	w io.Writer
	n int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

func faster(a, b launched) launched {
	if a.wall == 0 || b.wall < a.wall {
		return b
	}
	return a
}
