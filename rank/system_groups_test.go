package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"
)

// inTwoGroups measures two sizes on four ranks in two groups.
func inTwoGroups(out, more string) rankRun {
	return rankRun{np: 4, args: append(strings.Fields("--groups 2:strided --collective all_gather -b 64 -e 4K "+
		"-f 64 -n 20 --out "+out), strings.Fields(more)...)}
}

// forget removes the lines of a file that contain any of these texts.
func forget(t *testing.T, path string, texts ...string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		if !slices.ContainsFunc(texts, func(s string) bool { return bytes.Contains(line, []byte(s)) }) {
			kept = append(kept, line...)
		}
	}
	if err := os.WriteFile(path, kept, 0o666); err != nil {
		t.Fatal(err)
	}
}

// Each point is measured in each group alone, then in all groups at once; --resume measures only what is missing.
func TestGroups(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"--backend mpi", "--simulate", "--backend gloo --mode latency"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(backend, "gloo") {
				glooShim(t)
			}
			out := t.TempDir()
			inTwoGroups(out, backend).mustRun(t)
			first := readOne(t, out)
			checkWhole(t, first, result.OK)
			var got, want []string
			for _, bytes := range []int{64, 4096} {
				for _, group := range []string{"1 alone", "2 alone", "1", "2"} {
					want = append(want, fmt.Sprint(bytes, " in ", group))
				}
			}
			for _, r := range first.Records {
				got = append(got, fmt.Sprint(r.SizeBytes, " in ", r.Groups.Name()))
				if r.World != 2 || r.Nodes != 1 || r.RanksPerNode != 2 || r.Ranks.Slowest%2 != r.Groups.Number-1 ||
					r.Check.Result != "ok" || r.Time.Iterations != 20 {
					t.Errorf("%s: world %d, %d on each of %d nodes, slowest %d, check %s, %d iterations", r.Groups,
						r.World, r.RanksPerNode, r.Nodes, r.Ranks.Slowest, r.Check.Result, r.Time.Iterations)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("records are of %q, want %q", got, want)
			}
			forget(t, first.Path, `"number":2}`) // at once with group 1
			inTwoGroups(out, backend+" --resume").mustRun(t)
			if files := read(t, out); len(files) != 2 || len(files[1].Records) != 2 {
				t.Errorf("%d files, want the second with the 2 missing points", len(files))
			}
			points := merged(t, out)
			for p, n := range points {
				if n != 1 {
					t.Errorf("%v is measured %d times", p, n)
				}
			}
			if len(points) != len(want) {
				t.Errorf("%d points, want %d", len(points), len(want))
			}
		})
	}
}

// If a group fails, no group has a value at once: the others measured beside an idle group. A group that hangs is
// named.
func TestFaultInGroup(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		fault string
		code  int
		words []string
		ok    int // groups
	}{
		{"hang@phase=measure", exit.Hang, []string{"rank 3 on", "(issuing)", "of group 2 (ranks 1, 3)"}, 0},
		{"async-error@phase=warm-up,size=64", exit.Points, []string{"ncclInternalError", "1 skipped"}, 2},
		{"oom@phase=check,size=64", exit.Points, []string{"1 skipped, 1 oom"}, 2},
	} {
		t.Run(k.fault, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			inTwoGroups(out, "--simulate").mustRun(t)
			first := readOne(t, out)
			forget(t, first.Path, `"number":1}`, `"number":2}`) // all at once
			o := inTwoGroups(out, "--simulate --resume --deadline "+hangDeadline).withFault(t, k.fault)
			if ok := len(merged(t, out)) - 4; o.code != k.code || ok != k.ok {
				t.Errorf("%d groups measured, want %d, with exit code %d: %s", ok, k.ok, k.code, o)
			}
			for _, f := range read(t, out) {
				for _, r := range f.Records {
					if r.Nodes != 1 || r.RanksPerNode != 2 {
						t.Errorf("%s, %s: %d ranks on each of %d nodes, want 2 on 1", r.Groups, r.Status,
							r.RanksPerNode, r.Nodes)
					}
				}
			}
			has(t, strings.ReplaceAll(o.stdout, "\n#   ", " ")+o.stderr, k.words...)
		})
	}
}

// withFault runs it with a fault of the simulation on rank 3.
func (l rankRun) withFault(t *testing.T, fault string) outcome {
	script := `if [ "$OMPI_COMM_WORLD_RANK" = 3 ]; then export BUSBAR_REHEARSAL_FAULT="$F"; fi; exec "$0" "$@"`
	l.program, l.args = "sh", append([]string{"-c", script, compiled(t).rank}, l.args...)
	l.env = []string{"F=" + fault}
	return l.run(t)
}

// inDimensions measures two sizes on four ranks in groups of two kinds.
func inDimensions(out, more string) rankRun {
	return rankRun{np: 4, args: append(strings.Fields("--groups tp=2,dp=2 --collective all_reduce,all_gather -b 64 "+
		"-e 4K -f 64 -n 20 --out "+out), strings.Fields(more)...)}
}

// Two kinds of groups are measured each alone and both at once, by all ranks.
func TestDimensions(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"--backend mpi", "--simulate"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			inDimensions(out, backend+" --placement both --mode both").mustRun(t)
			f := readOne(t, out)
			checkWhole(t, f, result.OK)
			measured := map[string]int{}
			for _, r := range f.Records {
				measured[r.Groups.Name()+" "+r.Collective.String()]++
				if r.World != 2 || r.RanksPerNode != 4 || r.Check.Result != "ok" || len(r.Ranks.Median) != 4 {
					t.Errorf("%s: world %d, %d on a node, check %+v", r.Case, r.World, r.RanksPerNode, r.Check)
				}
			}
			if notes := fmt.Sprint(f.Records[0].Notes); strings.Contains(notes, "non-blocking") !=
				(backend == "--backend mpi") {
				t.Errorf("notes %s", notes)
			}
			want := map[string]int{"tp alone all_reduce": 8, "dp alone all_gather": 8, "tp and dp all_reduce": 8}
			if !maps.Equal(measured, want) {
				t.Errorf("measured %v", measured)
			}
		})
	}
}

// What is wrong in one dimension is found also where both are measured; a lost point ends no other; a rank that hangs
// is named with its groups.
func TestFaultInDimension(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		fault string
		code  int
		words []string
		ok    int // points
	}{
		{"wrong@collective=all_gather,size=64", exit.Wrong, []string{"on rank 3", "dp all_gather", "2 wrong"}, 4},
		{"async-error@phase=warm-up,size=64", exit.Points, []string{"ncclInternalError", "3 failed"}, 3},
		{"oom@phase=check,size=64,collective=all_gather", exit.Points, []string{"2 oom"}, 4},
		{"hang@phase=measure,collective=all_gather", exit.Hang, []string{"rank 3 on", "(issuing)",
			"of dp group 2 (ranks 1, 3)"}, 1},
	} {
		t.Run(k.fault, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			o := inDimensions(out, "--simulate --deadline "+hangDeadline).withFault(t, k.fault)
			if ok := len(merged(t, out)); o.code != k.code || ok != k.ok {
				t.Errorf("%d points measured, want %d, with exit code %d: %s", ok, k.ok, k.code, o)
			}
			has(t, strings.ReplaceAll(o.stdout, "\n#   ", " ")+o.stderr, k.words...)
		})
	}
}

// Groups of two kinds that cannot be measured are refused before anything is.
func TestDimensionsRefused(t *testing.T) {
	t.Parallel()
	for more, word := range map[string]string{
		"--backend mpi --groups tp=2,dp=4": "tp=2 times dp=4 must be the 4 ranks of the world",
		"--backend mpi -m 2":               "do not go with groups of two kinds",
		"--backend gloo":                   "Gloo has no non-blocking operations",
	} {
		refusal{launch: inDimensions("unused", more), code: exit.Usage, words: []string{word}}.refused(t)
	}
}
