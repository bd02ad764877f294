package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// --strict refuses what is torn and what is unknown, each by itself, and nothing else; of what it refuses nothing is
// kept.
func TestStrictImport(t *testing.T) {
	const head = "# Collective test starting: all_reduce_perf\n# size count type redop root time algbw busbw #wrong " +
		"time algbw busbw #wrong\n"
	const ranks = "#  Rank  0 Group  0 Pid 1 on a device 0 [0000:01:00] X\n#  Rank  1 Group  0 Pid 1 on a device 1 " +
		"[0000:02:00] X\n"
	const row = "1024 256 float sum -1 10.5 1.0 1.0 0 11.5 1.0 1.0 0\n"
	for _, c := range []struct{ what, text, words string }{
		{"whole", head + row, ""},
		{"with the library's log", head + "blue:77:88 [0] NCCL INFO Channel 00 : 0[0] -> 1[1]\n" + row, ""},
		{"torn", head + row + row[:30], ":4: a torn row: "},
		{"unknown", head + "hello\n" + row, ":3: not part of a known layout: "},
		{"contradictory", head + ranks + strings.Replace(row, " 1.0 1.0 ", " 1.00 1.75 ", 1),
			":5: busbw/algbw contradicts the number of ranks"},
	} {
		for _, strict := range []bool{false, true} {
			dir := t.TempDir()
			path, out := filepath.Join(dir, "some.log"), filepath.Join(dir, "out")
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), []string{"import", fmt.Sprintf("--strict=%v", strict), "-o", out, path}, &stdout,
				&stderr)
			left, _ := os.ReadDir(out)
			if refused := strict && c.words != ""; (err != nil) != refused || (len(left) == 0) != refused ||
				(stdout.Len() == 0) != refused {
				t.Errorf("%s, strict %v: %v; %d files, said %s%s", c.what, strict, err, len(left), stdout.String(),
					stderr.String())
			}
			if !strings.Contains(stderr.String(), path+c.words) ||
				strings.Contains(stderr.String(), "--strict") != (strict &&
					c.words != "") {
				t.Errorf("%s, strict %v: says %s", c.what, strict, stderr.String())
			}
		}
	}
}
