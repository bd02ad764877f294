package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
)

// onNodes is a launch whose ranks, each a few of them, believe to be on hosts of their own: node1, node2, ….
func onNodes(t *testing.T, mpirun string, np, each int, args ...string) rankRun {
	t.Helper()
	words := []string{"unshare", "--uts"}
	if os.Getuid() != 0 {
		words = append(words, "--user", "--map-root-user")
	}
	if out, err := exec.Command(words[0], append(words[1:], "hostname", "node1")...).CombinedOutput(); err != nil {
		t.Skipf("this system lets nobody have a host name of his own: %v: %s", err, out)
	}
	script := fmt.Sprintf(`r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec %s sh -c 'hostname "$0"; exec "$@"' node$((r / %d + 1)) %s "$@"`,
		strings.Join(words, " "), each, compiled(t).rank)
	return rankRun{mpirun: mpirun, np: np, program: "sh", args: append([]string{"-c", script, "sh"}, args...),
		// ranks in user namespaces cannot read each other
		env: []string{"OMPI_MCA_btl_vader_single_copy_mechanism=none"}}
}

// patternArgs are a plan of two points, in pairs.
func patternArgs(out string, more ...string) []string {
	return append([]string{"--pattern", "pairs", "--collective", "all_reduce", "-b", "64", "-e", "4K", "-f", "64", "-n",
		"20", "--out", out}, more...)
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

// checkRounds: every group of the schedule has every case, once.
func checkRounds(t *testing.T, kind string, hosts []string, got map[string]int, cases int) {
	t.Helper()
	rounds, err := pattern.Rounds(kind, len(hosts))
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i, r := range rounds {
		for _, nodes := range r {
			g := &result.Group{Round: i + 1}
			for _, n := range nodes {
				g.Hosts = append(g.Hosts, hosts[n])
			}
			want++
			if got[g.String()] != cases {
				t.Errorf("%s has %d points, want %d", g, got[g.String()], cases)
			}
		}
	}
	if len(got) != want {
		t.Errorf("%d groups, want %d: %v", len(got), want, got)
	}
}

// All pairs of nodes are measured in groups of their own by every backend, and every record says by whom: with one node
// that rests, with several ranks on a node, and in halves.
func TestPattern(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		name, mpirun, kind string
		np, each           int
		backends           []string
		more               []string
	}{
		{"pairs", openMPI, "pairs", 4, 1, []string{"mpi"}, nil},
		{"one rests", mpich, "pairs", 3, 1, []string{"mpi"}, nil},
		{"halves", openMPI, "halves", 5, 1, []string{"mpi"}, []string{"--pattern", "halves"}},
		{"several ranks, rehearsed", openMPI, "pairs", 6, 2, []string{"mpi", backend.Simulation},
			[]string{"--rehearse", "--backend", "mpi,nccl"}},
	} {
		t.Run(k.name, func(t *testing.T) {
			parallelOn(t, k.mpirun)
			out := t.TempDir()
			l := onNodes(t, k.mpirun, k.np, k.each, patternArgs(out, k.more...)...)
			l.env = append(l.env, fmt.Sprintf("BUSBAR_REHEARSAL_GPUS=%d", k.np))
			o := l.mustRun(t)
			files := read(t, out)
			if len(files) != len(k.backends) {
				t.Fatalf("%d files: %s", len(files), o)
			}
			for _, f := range files {
				if !slices.Contains(k.backends, f.Run.Backend.Name) {
					t.Errorf("a file of %s", f.Run.Backend.Name)
				}
				checkWhole(t, f, result.OK)
				checkEnd(t, f, result.Complete, exit.OK)
				var hosts []string
				for i := range k.np / k.each {
					hosts = append(hosts, fmt.Sprintf("node%d", i+1))
				}
				if p := f.Run.Pattern; p == nil || p.Kind != k.kind || !slices.Equal(p.Hosts, hosts) ||
					len(f.Ranks) != k.np || f.Run.World != k.np {
					t.Errorf("%s: pattern %+v, world %d, %d ranks", f.Path, p, f.Run.World, len(f.Ranks))
				}
				checkRounds(t, k.kind, hosts, inRounds(f, 1, f.Run.Pattern.Rounds), 2)
				for _, r := range f.Records {
					if r.World != len(r.Group.Hosts)*k.each || r.Group.RanksPerNode != k.each ||
						len(r.Ranks.Median) != r.World {
						t.Errorf("%s: a world of %d, %d times of ranks", r.Group, r.World, len(r.Ranks.Median))
					}
					if host := f.Ranks[r.Ranks.Slowest].Host; host != r.Ranks.SlowestHost ||
						!slices.Contains(r.Group.Hosts, host) {
						t.Errorf("%s: the slowest is rank %d on %s, which is on %s", r.Group, r.Ranks.Slowest,
							r.Ranks.SlowestHost, host)
					}
				}
			}
			if !strings.Contains(o.stdout, "all_reduce float32 sum 4 KiB throughput: ") {
				t.Errorf("no verdict: %s", o)
			}
			if len(files) == 1 { // what was rehearsed is not merged with what was measured
				checkMerges(t, out)
			}
		})
	}
}

// Gloo's groups connect among themselves.
func TestPatternOverGloo(t *testing.T) {
	parallel(t)
	glooShim(t)
	out := t.TempDir()
	onNodes(t, openMPI, 4, 1, patternArgs(out, "--backend", "gloo")...).mustRun(t)
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	checkRounds(t, "pairs", f.Run.Pattern.Hosts, inRounds(f, 1, f.Run.Pattern.Rounds), 2)
}

// checkWholePattern: all rounds of a pattern are in a folder, each case of each group once.
func checkWholePattern(t *testing.T, out string, of *result.Pattern, cases int) {
	t.Helper()
	groups := map[string]int{}
	for point, n := range merged(t, out) {
		if n > 1 {
			t.Errorf("%v is there %d times", point, n)
		}
		if round := 0; strings.HasPrefix(point.Group, "round ") {
			if _, err := fmt.Sscanf(point.Group, "round %d:", &round); err != nil {
				t.Fatal(err)
			}
			if round <= of.Rounds {
				groups[point.Group]++
			}
		}
	}
	checkRounds(t, "pairs", of.Hosts, groups, cases)
}

// A pattern that lost its last records goes on with them alone.
func TestPatternResumes(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	run := func(more ...string) outcome {
		return onNodes(t, openMPI, 4, 1, patternArgs(out, more...)...).mustRun(t)
	}
	run()
	first := readOne(t, out)
	cutAfter(t, first.Path, "case", 5) // in the midst of a case, which all groups measure again
	o := run("--resume")
	if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(o.stdout, "\n#", "")), " "),
		"continues run "+first.Run.ID) {
		t.Errorf("what it continues is not said: %s", o)
	}
	checkWholePattern(t, out, first.Run.Pattern, 2)
	n := len(merged(t, out))
	run("--resume")
	if got := len(merged(t, out)); got != n {
		t.Errorf("%d points after one more run that had nothing to do, %d before", got, n)
	}
	// What is measured of the whole launch is another thing.
	onNodes(t, openMPI, 4, 1, append(small(out), "--resume")...).mustRun(t)
	if got := len(merged(t, out)); got <= n {
		t.Errorf("a plain run took the points of a pattern for its own: %d points, %d before", got, n)
	}
}

// Where all rounds are there, a suspect that was not yet measured alone is measured alone, and what was slow in the
// rounds and not alone is measured in them once more; each into a file of its own.
func TestPatternResumesWithWhatStandsOut(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	onNodes(t, openMPI, 4, 1, patternArgs(out)...).mustRun(t)
	var known []string
	next := func(more ...string) *result.File {
		o := onNodes(t, openMPI, 4, 1, patternArgs(out, more...)...).mustRun(t)
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
	if len(third.Records) != 2*4 {
		t.Errorf("%d points, want those of two rounds once more: %v", len(third.Records), again)
	}
	n := len(merged(t, out))
	onNodes(t, openMPI, 4, 1, patternArgs(out, "--resume")...).mustRun(t)
	if got := len(merged(t, out)); got != n {
		t.Errorf("%d points after one more run that had nothing to do, %d before", got, n)
	}
}

// retime gives the groups in a file of a pattern other times, in seconds; 0 takes the record out.
func retime(t *testing.T, path string, seconds func(*result.Group) float64) {
	t.Helper()
	rewrite(t, path, func(line []byte) []byte {
		var r result.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Group == nil {
			return line
		}
		s := seconds(r.Group)
		if s == 0 {
			return nil
		}
		r.Time = &result.Time{Seconds: s, Lo: s * 0.999, Hi: s * 1.001, Samples: r.Time.Samples}
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return append(line, '\n')
	})
}

// cutAfter takes from a file what follows its first lines of a kind.
func cutAfter(t *testing.T, path, kind string, n int) {
	t.Helper()
	rewrite(t, path, func(line []byte) []byte {
		if bytes.HasPrefix(line, []byte(`{"kind":"`+kind+`"`)) {
			n--
		}
		if n < 0 {
			return nil
		}
		return line
	})
}

// rewrite puts other lines in the place of a file's.
func rewrite(t *testing.T, path string, edit func(line []byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(text) {
		kept.Write(edit(line))
	}
	if err := os.WriteFile(path, kept.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A rank that hangs in its group is named by its number in the launch, with its host; the other groups wait and are
// not taken for the cause.
func TestPatternHangs(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	args := []string{"--pattern", "pairs", "--collective", "all_reduce", "-b", "64", "-e", "1M", "-f", "2", "--mode",
		"both", "--budget", "500ms",
		"--deadline", hangDeadline, "--out", out}
	r := onNodes(t, openMPI, 4, 1, args...).start(t)
	r.awaitPoints(out, 4)
	victim := r.pid(3)
	r.signal(3, syscall.SIGSTOP)
	o := r.wait()
	f := readOne(t, out)
	checkEnd(t, f, result.Aborted, exit.Hang)
	if want := fmt.Sprintf("rank 3 on node4 (pid %d)", victim); o.code != exit.Hang ||
		!strings.Contains(f.End.Reason, want) || !strings.Contains(o.stderr, want) {
		t.Errorf("want exit code %d and %q: %s", exit.Hang, want, o)
	}
	last := f.Records[len(f.Records)-1]
	if last.Status != result.Timeout || last.Group == nil {
		t.Errorf("the last record is %s of %s", last.Status, last.Group)
	}
}

// USR1 ends a pattern behind the case in hand, without a verdict on what was not measured yet; --resume measures the
// rest.
func TestPatternAskedToEnd(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	sizes := []string{"-b", "64", "-e", "16K", "-f", "2", "--mode", "both"}
	r := onNodes(t, openMPI, 4, 1, patternArgs(out, sizes...)...).start(t)
	r.awaitPoints(out, 4)
	r.signal(3, syscall.SIGSTOP)
	before := r.awaitStandstill(out)
	r.signal(launcher, syscall.SIGUSR1)
	r.signal(3, syscall.SIGCONT)
	o := r.wait()
	f := readOne(t, out)
	checkEnd(t, f, result.Interrupted, 143)
	if o.code != 143 || !strings.Contains(f.End.Reason, "SIGUSR1") || len(f.Records) <= before ||
		strings.Contains(o.stdout, "is slow") {
		t.Errorf("want exit code 143, the signal, more than %d records, there are %d, and no verdict: the end says "+
			"%q: %s", before, len(f.Records), f.End.Reason, o)
	}
	again := onNodes(t, openMPI, 4, 1, append(patternArgs(out, sizes...), "--resume")...).run(t)
	if again.code != exit.OK {
		t.Fatalf("the rest is not measured: %s", again)
	}
	checkWholePattern(t, out, f.Run.Pattern, 18)
}

// A rank that dies in its group is named as well.
func TestPatternLosesARank(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := onNodes(t, openMPI, 4, 1, patternArgs(out, "-n", "2000000")...).start(t)
	r.await("a file", func() bool { files, _ := result.Find(out); return len(files) == 1 })
	r.signal(2, syscall.SIGKILL)
	if o := r.wait(); o.code == exit.OK || !strings.Contains(o.stderr, "rank 2 on node3") {
		t.Errorf("rank 2 is not named: %s", o)
	}
}

// What cannot be measured in groups, or not compared, is refused before anything is written.
func TestPatternIsRefused(t *testing.T) {
	parallel(t)
	for _, k := range []struct {
		np, each int
		more     []string
		says     string
	}{
		{2, 2, nil, "--pattern pairs compares nodes, and all ranks are on one"},
		{3, 1, []string{"--pattern", "halves"},
			"--pattern halves wants at least 4 nodes, and there are 3: take --pattern pairs"},
		{3, 2, nil, "--pattern requires the same number of ranks on every node: node1 has 2 ranks, node2 has 1"},
		{2, 1, []string{"--sweep", "sizes"}, "the sweep sizes has worlds of its own"},
	} {
		out := t.TempDir()
		l := onNodes(t, openMPI, k.np, k.each, patternArgs(out, k.more...)...)
		l.env = append(l.env, killAtOnce)
		o := l.run(t)
		if o.code != exit.Usage || strings.Count(o.stderr, k.says) != 1 {
			t.Errorf("want exit code %d and %q: %s", exit.Usage, k.says, o)
		}
		checkNothing(t, out)
	}
}
