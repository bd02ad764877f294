package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/coll/colltest"
	"busbar/internal/notice"
	"busbar/internal/ranges"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// save writes the file of one run, which words describe: its id, statuses of points from 8 bytes on, doubling, how it
// ended, and KEY=VALUE of what is not the default: backend, world, minute (of its start), resumes, worlds, backends of
// the launch, code, torn (bytes that the last line lacks).
func save(t *testing.T, dir, words string) {
	t.Helper()
	set := map[string]string{"backend": "mpi", "world": "2"}
	number := func(key string) int {
		n, _ := strconv.Atoi(set[key])
		return n
	}
	var statuses []result.Status
	var outcome result.Outcome
	id, words, _ := strings.Cut(words, " ")
	for _, word := range strings.Fields(words) {
		key, value, isSetting := strings.Cut(word, "=")
		switch {
		case isSetting:
			set[key] = value
		case slices.Contains([]result.Outcome{result.Complete, result.Interrupted, result.Aborted},
			result.Outcome(word)):
			outcome = result.Outcome(word)
		default:
			statuses = append(statuses, result.Status(word))
		}
	}
	run := result.Run{Kind: result.KindRun, Schema: result.Schema, ID: id, Launch: "launch of " + id[:1],
		Start: time.Date(2026, 3, 1, 12, number("minute"), 0, 0, time.UTC), Resumes: strings.Fields(set["resumes"]),
		Interleaved: strings.FieldsFunc(set["backends"], isComma), World: number("world"),
		Backend: result.Backend{Name: set["backend"]}}
	for _, world := range strings.FieldsFunc(set["worlds"], isComma) {
		n, _ := strconv.Atoi(world)
		run.Worlds = append(run.Worlds, n)
	}
	lines := []any{run}
	for i, status := range statuses {
		r := result.Record{Kind: result.KindCase, N: i + 1, Status: status, Case: colltest.AllReduce(8 << i)}
		if status == result.OK {
			r.Time = &result.Time{Seconds: 1e-6, Min: 1e-6, Max: 1e-6}
		}
		lines = append(lines, r)
	}
	if outcome != "" {
		end := result.End{Kind: result.KindEnd, Outcome: outcome, Code: number("code")}
		if outcome == result.Aborted {
			end.Why = result.Why{Reason: "rank 1 hangs"}
		}
		lines = append(lines, end)
	}
	var b bytes.Buffer
	for _, line := range lines {
		must.NoError(t, json.NewEncoder(&b).Encode(line))
	}
	b.Truncate(b.Len() - number("torn"))
	path := filepath.Join(
		dir,
		fmt.Sprintf("profile_%s_world%s_%d.jsonl", set["backend"], set["world"], number("minute")),
	)
	must.NoError(t, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, b.Bytes(), 0o644)))
}

func isComma(r rune) bool { return r == ',' }

const ok, failed = result.OK, result.Failed

func TestLook(t *testing.T) {
	hang := notice.Kept{Fact: notice.Recorded{Text: "rank 1 hangs"}}
	for _, c := range []struct {
		files       string // separated by semicolons
		state       State
		found       notice.Fact
		points, bad int
	}{
		{"", Missing, nil, 0, 0},
		{"a ok ok complete", Done, nil, 2, 0},
		{"a ok failed wrong complete code=3", Done, notice.LaunchPointsFailed{Failed: 2, Points: 3}, 3, 2},
		{"a ok", Unfinished, notice.LaunchCutOff{Points: 1}, 1, 0},
		{"a ok complete torn=9", Unfinished, notice.LaunchCutOff{Points: 1}, 1, 0},
		{"a ok ok torn=9", Unfinished, notice.LaunchCutOff{Points: 1}, 1, 0},
		{"a torn=99", Unfinished, notice.LaunchCutOff{Start: true}, 0, 0},
		{"a ok interrupted code=143", Unfinished,
			notice.LaunchStopped{Outcome: "interrupted", Exit: 143, Points: 1}, 1, 0},
		{"a ok aborted code=4", Unfinished,
			notice.LaunchStopped{Outcome: "aborted", Exit: 4, Cause: hang, Points: 1}, 1, 0},
		{"a ok failed interrupted;b minute=5 resumes=a skipped ok complete", Done, nil, 2, 0},
		{"a ok interrupted;b minute=5 resumes=a", Unfinished, notice.LaunchCutOff{Points: 1}, 1, 0},
		{"a2 worlds=2,4 ok complete;a4 world=4 minute=1 worlds=2,4 ok complete", Done, nil, 2, 0},
		{"a2 worlds=2,4 ok complete", Unfinished, notice.LaunchCutOff{Backend: "mpi", World: 4, Points: 1}, 1, 0},
		{"a1 backends=mpi,gloo ok complete;a2 backend=gloo backends=mpi,gloo ok complete", Done, nil, 2, 0},
		{"a1 backends=mpi,gloo ok complete", Unfinished,
			notice.LaunchCutOff{Backend: "gloo", World: 2, Points: 1}, 1, 0},
	} {
		dir := t.TempDir()
		l := Launch{2, 3, Variant{Name: "ring"}}
		for _, words := range strings.FieldsFunc(c.files, func(r rune) bool { return r == ';' }) {
			save(t, l.Dir(dir), words)
		}
		p, err := Look(l, dir)
		if err != nil || p.State != c.state || p.Found != c.found || p.Points != c.points || p.Bad != c.bad {
			t.Errorf("%s: %v %#v, %d points, %d bad: %v", c.files, p.State, p.Found, p.Points, p.Bad, err)
		}
	}
}

// Points of training steps are points of a launch.
func TestLookAtSteps(t *testing.T) {
	dir := t.TempDir()
	l := Launch{2, 3, Variant{Name: "ring"}}
	points := []step.Point{{Strategy: step.DDP, Bucket: 1 << 20, Type: coll.Float32},
		{Strategy: step.DDP, Bucket: step.All, Type: coll.Float32}}
	w, err := result.Create(l.Dir(dir), result.Run{ID: "a", Launch: "a", World: 2, Backend: result.Backend{Name: "mpi"},
		Step: &result.Step{Points: points}}, nil)
	must.NoError(t, err)
	for i, status := range []result.Status{ok, failed} {
		must.NoError(t, w.Append(&result.StepRecord{N: i + 1, Point: points[i], Status: status,
			Figures: &step.Figures{}}))
	}
	must.NoError(t, w.End(result.End{Outcome: result.Complete}))
	if p, err := Look(l, dir); err != nil || p.State != Done || p.Points != 2 || p.Bad != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// An invalid file is an error: an existing launch must not be measured again.
func TestLookForeign(t *testing.T) {
	dir := t.TempDir()
	l := Launch{1, 1, Variant{}}
	must.NoError(t, os.MkdirAll(l.Dir(dir), 0o755))
	path := filepath.Join(l.Dir(dir), "profile_mpi_world2_20260301T120000000Z.jsonl")
	for _, text := range []string{"no JSON", `{"kind":"run","schema":99}` + "\n"} {
		must.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		if p, err := Look(l, dir); err == nil || !strings.Contains(err.Error(), "the state of nodes1/launch1: ") {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// What cannot be read may be what has the end.
func TestLookUnread(t *testing.T) {
	dir := t.TempDir()
	l := Launch{1, 1, Variant{}}
	name := filepath.Join(l.Dir(dir), "profile_mpi_world2_20260301T110000000Z.jsonl")
	for _, files := range []int{0, 1} {
		must.NoError(t, os.MkdirAll(l.Dir(dir), 0o755))
		if files > 0 {
			save(t, l.Dir(dir), "a ok complete")
		} else if err := os.Symlink(filepath.Base(name), name); err != nil { // a link to itself
			t.Fatal(err)
		}
		if p, err := Look(l, dir); err == nil ||
			!strings.Contains(err.Error(), "the state of nodes1/launch1: "+name+": cannot be read") {
			t.Errorf("beside %d files: %+v, %v", files, p, err)
		}
	}
}

// The folders of a plan that no longer has variants still hold the variants' launches.
func TestLookWithoutVariants(t *testing.T) {
	dir := t.TempDir()
	l := Launch{1, 1, Variant{}}
	save(t, filepath.Join(l.Dir(dir), "ring"), "a ok complete")
	if p, err := Look(l, dir); err != nil || p.State != Missing || p.Points != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestLookRefused(t *testing.T) {
	dir := t.TempDir()
	l := Launch{1, 1, Variant{Name: "a"}}
	must.NoError(t, os.MkdirAll(l.Dir(dir), 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(l.Dir(dir), RefusedFile), []byte("code 2 in job 7\n"), 0o644))
	if p, err := Look(l, dir); err != nil || p.State != Missing ||
		p.Found != (notice.LaunchRefused{Reason: "code 2 in job 7"}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// begun is a campaign whose folder is there.
func begun(t *testing.T, text, dir string) *Campaign {
	t.Helper()
	c, err := Open(mustParse(t, text), dir)
	must.NoError(t, err)
	paths, texts, err := c.Files()
	must.NoError(t, err)
	for i, path := range paths {
		must.NoError(t, os.WriteFile(path, texts[i], 0o644))
	}
	return c
}

const twoByTwo = "name: t\nlaunches: 2\nnodes: [1, 2]\nvariants: {x: {a: , b: }}\nsbatch: {time: 30, throttle: 3, " +
	"options: [--comment, it's]}\n"

// Only incomplete tasks that are not queued are submitted; a task runs what its block lacks.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	c := begun(t, twoByTwo, dir)
	for launch, words := range map[string]string{"launch1/a": "a ok complete", "launch1/b": "a ok complete",
		"launch2/a": "a ok complete", "launch2/b": "b ok"} {
		save(t, filepath.Join(dir, "nodes1", launch), words)
	}

	submitted := func(queued map[Task]bool) (all []string) {
		status, err := c.Status()
		must.NoError(t, err)
		arrays, err := c.Arrays(status, queued)
		must.NoError(t, err)
		for _, a := range arrays {
			all = append(all, fmt.Sprint(a.Nodes, " ", ranges.Format(a.Tasks)))
		}
		slices.Sort(all)
		return all
	}
	test.SliceEqOp(t, []string{"1 2", "2 1-2"}, submitted(nil))
	test.SliceEqOp(t, []string{"2 1"}, submitted(map[Task]bool{{1, 2}: true, {2, 2}: true}))
	lacking, err := c.Lacking(Task{1, 2})
	if err != nil || len(lacking) != 1 || lacking[0].String() != "nodes1/launch2/b" {
		t.Errorf("lacking %v, %v", lacking, err)
	}
}

func TestWords(t *testing.T) {
	c := begun(t, twoByTwo, t.TempDir())
	got := units.Shell(c.words(Array{2, []int{1, 2, 4}}, "slurm/sweep.sh", []string{"-p", "main"})...)
	want := "sbatch --parsable --job-name=" + c.ID + ".2 --nodes=2 --array=1-2,4%3 --time=30 --output=" + c.Dir +
		"/log/%x_%a.out --export=ALL --comment 'it'\\''s' -p main slurm/sweep.sh"
	test.EqOp(t, want, got)
	c.Sbatch.Report = []string{"--qos=debug"}
	report := "sbatch --parsable --qos=debug --job-name=" + c.ID + ".report "
	test.StrHasPrefix(t, report, units.Shell(c.reportWords([]string{"-p", "main"})...))
}

// A campaign may grow, and may not become another.
func TestOpenAgain(t *testing.T) {
	dir := t.TempDir()
	first := begun(t, twoByTwo, dir)
	for change, refused := range map[[2]string]string{
		{"launches: 2", "launches: 7"}:                  "",
		{"[1, 2]", "[1, 4]"}:                            "",
		{"b: }", "b: , c: }"}:                           "",
		{"name: t", "name: u"}:                          "the name t, but the plan has u",
		{"name: t", "name: t\nseed: 2"}:                 "the seed 1, but the plan has 2",
		{"name: t", "name: t\nranks_per_node: 4"}:       "ranks_per_node 0, but the plan has 4",
		{"name: t", "name: t\nflags: -n 5"}:             "the flags",
		{"b: }", "b: {environment: {A: 1}}}"}:           "another environment of the variant b",
		{"variants", "sbatch: {time: 10}\n#variants"}:   "",
		{"time: 30", "time: 40, report: [--qos=debug]"}: "",
	} {
		text := strings.Replace(twoByTwo, change[0], change[1], 1)
		if strings.HasPrefix(change[1], "sbatch") {
			text = text[:strings.LastIndex(text, "sbatch")]
		}
		c, err := Open(mustParse(t, text), dir)
		if refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) || refused == "" && err != nil {
			t.Errorf("%q: %v", change, err)
		}
		if err == nil && (c.ID != first.ID || c.Unchanged()) {
			t.Errorf("%q: %+v", change, c)
		}
		if added := strings.Contains(change[1], "c:"); err == nil && added != (len(c.Notes) == 1) &&
			change[0] != "variants" {
			t.Errorf("%q: notes %q", change, c.Notes)
		}
	}
	c, err := OpenDir(dir)
	if err != nil || !c.Unchanged() || c.ID != first.ID {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestEnvironment(t *testing.T) {
	c := begun(t, whole, t.TempDir())
	l := c.Order(2, 1)[1] // ncclx+ring
	got := fmt.Sprint(c.Environment(l))
	want := "[BUSBAR_CAMPAIGN=" + c.ID +
		" BUSBAR_BLOCK=nodes2/launch1 BUSBAR_PLACE=2 of 4 by seed 42 BUSBAR_VARIANT=ncclx+ring NCCL_ALGO=Ring " +
		"NCCL_PROTO=^LL128]"
	test.EqOp(t, want, got)
}
