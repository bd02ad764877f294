package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/rank/exit"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// onNodes is a launch whose ranks, each a few of them, report different hosts: node1, node2, ….
func onNodes(t *testing.T, np, each int, args ...string) rankRun {
	t.Helper()
	words := []string{"unshare", "--uts"}
	if os.Getuid() != 0 {
		words = append(words, "--user", "--map-root-user")
	}
	if out, err := exec.Command(words[0], append(words[1:], "hostname", "node1")...).CombinedOutput(); err != nil {
		t.Skipf("this system does not allow UTS namespaces: %v: %s", err, out)
	}
	script := fmt.Sprintf(
		`r=$OMPI_COMM_WORLD_RANK; exec %s sh -c 'hostname "$0"; exec "$@"' node$((r / %d + 1)) %s "$@"`,
		strings.Join(words, " "),
		each,
		compiled(t).rank,
	)
	return rankRun{np: np, program: "sh", args: append([]string{"-c", script, "sh"}, args...),
		// ranks in user namespaces cannot read each other
		env: []string{"OMPI_MCA_btl_vader_single_copy_mechanism=none"}}
}

// patternArgs is a plan of two points, in pairs.
func patternArgs(out string, more ...string) []string {
	return append(flags("--pattern pairs --collective all_reduce -b 64 -e 4K -f 64 -n 20 --out", out),
		flags(more...)...)
}

// inRounds counts the records of a pattern in these rounds, by group.
func inRounds(f *result.File, first, last int) map[string]int {
	groups := map[string]int{}
	for _, r := range f.Records {
		if r.Group.Round >= first && r.Group.Round <= last {
			groups[r.Group.String()]++
		}
	}
	return groups
}

// checkRounds checks that every group of the schedule has every case once.
func checkRounds(t *testing.T, kind string, hosts []string, got map[string]int, cases int) {
	t.Helper()
	rounds, err := pattern.Shape{Kind: kind, Nodes: len(hosts)}.Rounds()
	must.NoError(t, err)
	want := 0
	for i, r := range rounds {
		for _, nodes := range r {
			g := &result.Group{Round: i + 1}
			for _, n := range nodes {
				g.Hosts = append(g.Hosts, hosts[n])
			}
			want++
			test.EqOp(t, cases, got[g.String()], test.Sprint(g))
		}
	}
	test.EqOp(t, want, len(got), test.Sprint(got))
}

// checkWholePattern checks that a folder has all rounds, each case of each group once.
func checkWholePattern(t *testing.T, out string, of *result.Pattern, cases int) {
	t.Helper()
	groups := map[string]int{}
	for point, n := range merged(t, out) {
		if n > 1 {
			t.Errorf("%v appears %d times", point, n)
		}
		if round := 0; strings.HasPrefix(point.Group, "round ") {
			_, err := fmt.Sscanf(point.Group, "round %d:", &round)
			must.NoError(t, err)
			if round <= of.Rounds {
				groups[point.Group]++
			}
		}
	}
	checkRounds(t, "pairs", of.Hosts, groups, cases)
}

// A resumed pattern with all rounds measures suspects alone. It repeats rounds whose groups are only slow next to
// others. Both have new files.
func TestPatternResumesOutliers(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	onNodes(t, 4, 1, patternArgs(out)...).mustRun(t)
	var known []string
	next := func(more ...string) *result.File {
		o := onNodes(t, 4, 1, patternArgs(out, more...)...).mustRun(t)
		for _, f := range read(t, out) {
			if !slices.Contains(known, f.Run.ID) {
				checkWhole(t, f, result.OK)
				checkEnd(t, f, result.Complete, exit.OK)
				known = append(known, f.Run.ID)
				return f
			}
		}
		t.Fatalf("nothing was measured: %s", o)
		return nil
	}
	first := readOne(t, out)
	known = append(known, first.Run.ID)
	retime(t, first.Path, func(g *result.Group) float64 {
		switch {
		case g.Alone(), g.Round > first.Run.Pattern.Rounds:
			return 0
		case slices.Contains(g.Hosts, "node3"):
			return 1e-3
		}
		return 1e-4
	})
	second := next("--resume")
	alone := map[bool]int{} // by whether node3 is in the pair
	for _, r := range second.Records {
		if r.Group.Alone() {
			alone[slices.Contains(r.Group.Hosts, "node3")]++
		}
	}
	if alone[true] != 2*3 || alone[false] != 2*3 { // points, and pairs
		t.Errorf("%d times of node3 alone and %d of others, want 6 and 6", alone[true], alone[false])
	}
	retime(t, second.Path, func(g *result.Group) float64 {
		if !g.Alone() {
			return 0
		}
		return 1e-4
	})
	third := next("--resume")
	again := inRounds(third, 4, 6)
	for _, group := range []string{"round 4: node1+node4", "round 4: node2+node3", "round 5: node1+node3",
		"round 5: node2+node4"} {
		if again[group] != 2 {
			t.Errorf("%s has %d points, want 2", group, again[group])
		}
	}
	test.Len(t, 2*4, third.Records, test.Sprint(again))
	n := len(merged(t, out))
	onNodes(t, 4, 1, patternArgs(out, "--resume")...).mustRun(t)
	test.EqOp(t, n, len(merged(t, out)))
}

// Every backend measures all pairs of nodes, and every record names its group: with an idle node, with several ranks
// per node, and in halves.
func TestPattern(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		kind           string
		np, each, size int // size is the number of files
		more           string
	}{
		{"pairs", 3, 1, 1, ""},
		{"halves", 5, 1, 1, ""},
		{"pairs", 4, 1, 1, "--backend gloo"},
		{"pairs", 6, 2, 2, "--simulate --backend mpi,nccl"},
	} {
		t.Run(fmt.Sprint(k.kind, " of ", k.np, k.more), func(t *testing.T) {
			t.Parallel()
			if strings.Contains(k.more, "gloo") {
				glooShim(t)
			}
			out := t.TempDir()
			l := onNodes(t, k.np, k.each, patternArgs(out, append(flags(k.more), "--pattern", k.kind)...)...)
			l.env = append(l.env, fmt.Sprint("BUSBAR_REHEARSAL_GPUS=", k.np))
			o := l.mustRun(t)
			files := read(t, out)
			test.Len(t, k.size, files, test.Sprint(o))
			for _, f := range files {
				checkWhole(t, f, result.OK)
				var hosts []string
				for i := range k.np / k.each {
					hosts = append(hosts, fmt.Sprintf("node%d", i+1))
				}
				if p := f.Run.Pattern; p == nil || p.Kind != k.kind || !slices.Equal(p.Hosts, hosts) ||
					len(f.Ranks) != k.np || f.Run.World != k.np {
					t.Fatalf("%s: pattern %+v, world %d, %d ranks", f.Path, p, f.Run.World, len(f.Ranks))
				}
				checkRounds(t, k.kind, hosts, inRounds(f, 1, f.Run.Pattern.Rounds), 2)
				for _, r := range f.Records {
					if host := f.Ranks[r.Ranks.Slowest].Host; r.World != len(r.Group.Hosts)*k.each ||
						r.Group.RanksPerNode != k.each || len(r.Ranks.Median) != r.World ||
						host != r.Ranks.SlowestHost || !slices.Contains(r.Group.Hosts, host) {
						t.Errorf("%s: a world of %d, the slowest is rank %d on %s: %+v", r.Group, r.World,
							r.Ranks.Slowest, host, r.Ranks)
					}
				}
			}
			has(t, o.stdout, "all_reduce float32 sum 4 KiB throughput: ")
		})
	}
}

// A GPU whose operations start late is named, by its rail and on its node. --resume finds all rounds.
func TestSlowGPU(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		kind       string
		each, late int
		want       string
	}{{"rails", 2, 3, "rail 1 of node2 is slow"}, {"gpus", 3, 4, "GPU 1 of node2 is slow"}} {
		t.Run(k.kind, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			launch := func(more ...string) outcome {
				more = append(flags("--simulate --backend nccl -b 4K -n 5 -w 1 --pattern", k.kind), more...)
				l := onNodes(t, 6, k.each, patternArgs(out, more...)...)
				l.args[1] = fmt.Sprintf("[ $OMPI_COMM_WORLD_RANK != %d ] || export BUSBAR_REHEARSAL_FAULT=late:100ms; ",
					k.late) + l.args[1]
				// Operations of 10 ms, beside which waiting for a core does not count.
				l.env = append(l.env, "BUSBAR_REHEARSAL_GPUS=6", "BUSBAR_REHEARSAL_MODEL=alpha=10ms")
				return l.mustRun(t)
			}
			o := launch()
			has(t, strings.Join(strings.Fields(strings.ReplaceAll(o.stdout, "\n#", "")), " "), k.want)
			f := readOne(t, out)
			test.EqOp(t, k.each, f.Run.Pattern.RanksPerNode)
			test.EqOp(t, 2, f.Records[0].World)
			n := len(merged(t, out))
			launch("--resume")
			test.EqOp(t, n, len(merged(t, out)))
		})
	}
}

// SIGUSR1 ends a pattern after the current case, without a verdict; --resume measures the rest once.
func TestPatternSIGUSR1(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	args := patternArgs(out, "-b 64 -e 16K -f 2 --mode both")
	r := onNodes(t, 4, 1, args...).start(t)
	before := r.askToEnd(out, 3, launcher)
	o := r.wait()
	f := readOne(t, out)
	checkEnd(t, f, result.Interrupted, 143)
	if o.code != 143 || len(f.Records) <= before || strings.Contains(o.stdout, "is slow") {
		t.Errorf("want exit code 143, more than %d records, there are %d, and no verdict: %s", before, len(f.Records),
			o)
	}
	for range 2 { // the second run finds all rounds
		onNodes(t, 4, 1, append(args, "--resume")...).mustRun(t)
		checkWholePattern(t, out, f.Run.Pattern, 18)
	}
	n := len(merged(t, out))
	onNodes(t, 4, 1, append(small(out), "--resume")...).mustRun(t)
	if got := len(merged(t, out)); got <= n { // points of the whole launch do not count
		t.Errorf("%d points, and %d before", got, n)
	}
}

// retime sets the times of the groups in a file, in seconds; 0 removes the record.
func retime(t *testing.T, path string, seconds func(*result.Group) float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	must.NoError(t, err)
	var kept bytes.Buffer
	for line := range bytes.Lines(text) {
		var r result.Record
		must.NoError(t, json.Unmarshal(line, &r))
		if r.Group == nil {
			kept.Write(line)
		} else if s := seconds(r.Group); s > 0 {
			r.Time = &result.Time{Seconds: s, Lo: s * 0.999, Hi: s * 1.001, Samples: r.Time.Samples}
			must.NoError(t, json.NewEncoder(&kept).Encode(r))
		}
	}
	must.NoError(t, os.WriteFile(path, kept.Bytes(), 0o666))
}
