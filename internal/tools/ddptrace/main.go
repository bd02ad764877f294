// Command ddptrace writes the made-up traces of examples/ddp-timeline: two ranks of data-parallel training, as
// torch.profiler would have written them, with times that were chosen. Nothing in them was measured, and the GPU's name
// in them says so:
//
//	ddptrace -o examples/ddp-timeline
//
// A step of rank 0 computes for 100 ms and communicates for 30 ms, and takes 115 ms: half of the communication is
// hidden. The data of rank 1 comes 4 ms late, for which rank 0 waits in both all-reduces; they take 11 ms by
// themselves.
package main

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("o", ".", "folder for the files")
	flag.Parse()
	for rank := range world {
		if err := write(*out, rank); err != nil {
			fmt.Fprintln(os.Stderr, "ddptrace:", err)
			os.Exit(1)
		}
	}
}

func write(dir string, rank int) error {
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("rank%d.json.gz", rank)))
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	err = writeTrace(z, rank)
	for _, c := range []io.Closer{z, f} {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	return err
}

// writeTrace writes the trace of one rank, an event on each line.
func writeTrace(w io.Writer, rank int) error {
	head, err := json.Marshal(map[string]any{
		"schemaVersion": 1, "deviceProperties": []any{map[string]any{"id": rank,
			"name": "made up, no GPU was measured"}},
		"baseTimeNanoseconds": 1767225600000000000,
		"distributedInfo": map[string]any{"backend": "nccl", "rank": rank, "world_size": world, "pg_count": 1,
			"nccl_version": "2.27.5",
			"pg_config": []any{map[string]any{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl",
				"pg_size": world, "ranks": []int{0, 1}}}},
	})
	if err != nil {
		return err
	}
	t := trace{rank: rank}
	for i := range steps {
		t.step(i)
	}
	if _, err := fmt.Fprintf(w, "%s,\n\"traceEvents\": [\n", head[:len(head)-1]); err != nil {
		return err
	}
	for i, e := range t.events {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		end := ",\n"
		if i == len(t.events)-1 {
			end = "\n]}\n"
		}
		if _, err := w.Write(append(line, end...)); err != nil {
			return err
		}
	}
	return nil
}
