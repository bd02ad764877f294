package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// mostImportMemory is what post import may take, however long the log.
const mostImportMemory = 200e6

// importPart imports one long log of nccl-tests, in which most lines are of NCCL's own log.
func importPart(c config) error {
	fmt.Fprintf(c.out, "| log | rows | tests | time | processor time | sha256sum | largest memory | target | on target "+
		"|\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for _, k := range []struct {
		words string
		log   logShape
	}{
		{"one test, all rows", logShape{rows: 1 << 30}},
		{"tests of 30 rows", logShape{rows: 30}},
		{"NCCL's log between rows", logShape{rows: 1 << 30, info: 20}},
	} {
		path := filepath.Join(c.work, "long.log")
		rows, tests, err := writeLog(path, c.log, k.log)
		if err != nil {
			return err
		}
		peer, err := start("sha256sum", path)
		if err != nil {
			return err
		}
		out := filepath.Join(c.work, "imported")
		l, err := start(c.program("post"), "import", "-o", out, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "| %s, %s | %d | %d | %s | %s | %s | %s | %s | %s |\n", k.words, megabytes(c.log), rows, tests,
			seconds(l.wall.Seconds()), seconds(l.cpu.Seconds()),
			seconds(peer.wall.Seconds()), megabytes(l.peak), megabytes(mostImportMemory), yes(l.peak <= mostImportMemory))
		if err := errors.Join(os.RemoveAll(out), os.Remove(path)); err != nil {
			return err
		}
	}
	return nil
}

// logShape is what a made-up log consists of.
type logShape struct {
	rows int // of one test
	info int // lines of NCCL's log for each row
}

// writeLog writes a log of about so many bytes, and counts its rows and tests.
func writeLog(path string, size int64, shape logShape) (rows, tests int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := &counting{w: bufio.NewWriterSize(f, 1<<20)}
	for w.n < size {
		tests++
		fmt.Fprint(w, "# nccl-tests version 2.19.0 nccl-headers=22803 nccl-library=22907\n# Collective test starting: "+
			"all_reduce_perf\n"+
			"# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 "+
			"graph: 0\n"+
			"#  Rank  0 Group  0 Pid   1 on      node1 device  0 [0000:0a:00] Synthetic GPU\n#  Rank  1 Group  0 Pid   2 on   "+
			"   node2 device  0 [0000:0a:00] Synthetic GPU\n"+
			"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "+
			"#wrong\n")
		for i := 0; i < shape.rows && w.n < size; i++ {
			bytes := int64(8) << (i % 30)
			us := 5 + float64(bytes)/300e3
			fmt.Fprintf(w, "%12d  %12d     float     sum      -1  %7.2f  %6.2f  %6.2f       0  %7.2f  %6.2f  %6.2f       0\n",
				bytes, bytes/4, us, float64(bytes)/us/1e3, float64(bytes)/us/1e3,
				us, float64(bytes)/us/1e3, float64(bytes)/us/1e3)
			for j := range shape.info {
				fmt.Fprintf(w, "node1:4711:4712 [0] NCCL INFO Channel %02d/0 : 0[0] -> 1[0] [send] via NET/IB/%d/GDRDMA\n", j, j%8)
			}
			rows++
		}
		fmt.Fprint(w, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.00\n#\n")
	}
	return rows, tests, w.w.Flush()
}

// counting counts what is written through it.
type counting struct {
	w *bufio.Writer
	n int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
