package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"busbar/post/trace/tracetest"
)

// What post timeline may take for a Kineto trace of 500 MB.
const (
	mostTimelineTime   = 10 * time.Second
	mostTimelineMemory = 250e6
)

// timelinePart analyses one long trace of torch.profiler, as text and compressed.
func timelinePart(c config) error {
	fmt.Fprintf(c.out, "| trace | file | time | processor time | sha256sum | largest memory | target | on target "+
		"|\n|---|---:|---:|---:|---:|---:|---:|---|\n")
	for _, k := range []struct {
		name string
		pack bool
	}{{"trace.json", false}, {"trace.json.gz", true}} {
		path := filepath.Join(c.work, k.name)
		size, err := writeTrace(path, c.trace, k.pack)
		if err != nil {
			return err
		}
		peer, err := start("sha256sum", path)
		if err != nil {
			return err
		}
		l, err := start(c.program("post"), "timeline", path)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "| %s, %s of text | %s | %s | %s | %s | %s | %s, %s | %s |\n", k.name, megabytes(c.trace),
			megabytes(size), seconds(l.wall.Seconds()), seconds(l.cpu.Seconds()),
			seconds(peer.wall.Seconds()), megabytes(l.peak), mostTimelineTime, megabytes(mostTimelineMemory),
			yes(l.wall <= mostTimelineTime && l.peak <= mostTimelineMemory))
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// writeTrace writes a trace of so many bytes of text; size is that of the file.
func writeTrace(path string, bytes int64, pack bool) (size int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := &counting{w: bufio.NewWriterSize(f, 1<<20)}
	if err := writePacked(w, bytes, pack); err != nil {
		return 0, err
	}
	return w.n, w.w.Flush()
}

func writePacked(w io.Writer, bytes int64, pack bool) error {
	if !pack {
		return tracetest.Big(w, bytes)
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	return errors.Join(tracetest.Big(z, bytes), z.Close())
}
