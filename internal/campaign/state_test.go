package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/ranges"
	"busbar/internal/result"
	"busbar/internal/step"
)

// file is the made-up file of one run.
type file struct {
	id, backend string
	world       int
	minute      int // of its start
	resumes     []string
	worlds      []int
	interleaved []string
	statuses    []result.Status // one for each point, from 8 bytes doubling
	end         result.Outcome  // "": none
	code        int
	torn        int // bytes that the last line lacks
}

func (f file) save(t *testing.T, dir string) {
	t.Helper()
	start := time.Date(2026, 3, 1, 12, f.minute, 0, 0, time.UTC)
	var b bytes.Buffer
	line := func(v any) {
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if f.backend == "" {
		f.backend = "mpi"
	}
	if f.world == 0 {
		f.world = 2
	}
	line(result.Run{Kind: result.KindRun, Schema: result.Schema, ID: f.id, Launch: "launch of " + f.id[:1],
		Start: start, Resumes: f.resumes, Worlds: f.worlds,
		Interleaved: f.interleaved, World: f.world, Backend: result.Backend{Name: f.backend}})
	for i, s := range f.statuses {
		r := result.Record{Kind: result.KindCase, N: i + 1, Status: s,
			Case: coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1,
				Placement: coll.OutOfPlace, Mode: coll.Throughput, World: f.world}.WithSize(8 << i)}
		if s == result.OK {
			r.Time = &result.Time{Seconds: 1e-6, Min: 1e-6, Max: 1e-6}
		}
		line(r)
	}
	if f.end != "" {
		line(result.End{Kind: result.KindEnd, At: start.Add(30 * time.Second), Outcome: f.end, Code: f.code,
			Why: map[result.Outcome]result.Why{result.Aborted: {Reason: "rank 1 hangs"}}[f.end]})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()[:b.Len()-f.torn]
	if err := os.WriteFile(filepath.Join(dir,
		fmt.Sprintf("profile_%s_world%d_20260301T12%02d00000Z.jsonl", f.backend, f.world, f.minute)), text,
		0o644); err != nil {
		t.Fatal(err)
	}
}

const ok, failed = result.OK, result.Failed

func TestLook(t *testing.T) {
	for name, c := range map[string]struct {
		files       []file
		state       State
		found       notice.Fact
		points, bad int
	}{
		"nothing": {nil, Missing, nil, 0, 0},
		"done":    {[]file{{id: "a", statuses: []result.Status{ok, ok}, end: result.Complete}}, Done, nil, 2, 0},
		"failed points": {[]file{{id: "a", statuses: []result.Status{ok, failed, result.Wrong}, end: result.Complete,
			code: 3}}, Done, notice.LaunchPointsFailed{Failed: 2, Points: 3}, 3, 2},
		"no end": {[]file{{id: "a", statuses: []result.Status{ok}}}, Unfinished,
			notice.LaunchCutOff{Points: 1}, 1, 0},
		"torn end": {[]file{{id: "a", statuses: []result.Status{ok}, end: result.Complete, torn: 9}}, Unfinished,
			notice.LaunchCutOff{Points: 1}, 1, 0},
		"torn record": {[]file{{id: "a", statuses: []result.Status{ok, ok}, torn: 9}}, Unfinished,
			notice.LaunchCutOff{Points: 1}, 1, 0},
		"torn header": {[]file{{id: "a", torn: 99}}, Unfinished, notice.LaunchCutOff{Start: true}, 0, 0},
		"interrupted": {[]file{{id: "a", statuses: []result.Status{ok}, end: result.Interrupted, code: 143}},
			Unfinished, notice.LaunchStopped{Outcome: "interrupted", Exit: 143, Points: 1}, 1, 0},
		"hang": {[]file{{id: "a", statuses: []result.Status{ok}, end: result.Aborted, code: 4}}, Unfinished,
			notice.LaunchStopped{Outcome: "aborted", Exit: 4,
				Cause: notice.Kept{Fact: notice.Recorded{Text: "rank 1 hangs"}}, Points: 1}, 1, 0},
		"gone on": {[]file{{id: "a", statuses: []result.Status{ok, failed}, end: result.Interrupted},
			{id: "b", minute: 5, resumes: []string{"a"}, statuses: []result.Status{result.Skipped, ok},
				end: result.Complete}}, Done, nil, 2, 0},
		"gone on, cut": {[]file{{id: "a", statuses: []result.Status{ok}, end: result.Interrupted},
			{id: "b", minute: 5, resumes: []string{"a"}}}, Unfinished, notice.LaunchCutOff{Points: 1}, 1, 0},
		"two worlds": {[]file{{id: "a2", worlds: []int{2, 4}, statuses: []result.Status{ok}, end: result.Complete},
			{id: "a4", world: 4, minute: 1, worlds: []int{2, 4}, statuses: []result.Status{ok}, end: result.Complete}},
			Done, nil, 2, 0},
		"one of two": {[]file{{id: "a2", worlds: []int{2, 4}, statuses: []result.Status{ok},
			end: result.Complete}}, Unfinished, notice.LaunchCutOff{Backend: "mpi", World: 4, Points: 1}, 1, 0},
		"two backends": {[]file{{id: "a1", interleaved: []string{"mpi", "gloo"}, statuses: []result.Status{ok},
			end: result.Complete}, {id: "a2", backend: "gloo", interleaved: []string{"mpi", "gloo"},
			statuses: []result.Status{ok}, end: result.Complete}}, Done, nil, 2, 0},
		"one of backends": {[]file{{id: "a1", interleaved: []string{"mpi", "gloo"}, statuses: []result.Status{ok},
			end: result.Complete}}, Unfinished, notice.LaunchCutOff{Backend: "gloo", World: 2, Points: 1}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := Launch{2, 3, Variant{Name: "ring"}}
			for _, f := range c.files {
				f.save(t, filepath.Join(dir, "nodes2", "launch3", "ring"))
			}
			p, err := Look(l, dir)
			if err != nil || p.State != c.state || p.Found != c.found || p.Points != c.points || p.Bad != c.bad {
				t.Errorf("got %v %#v, %d points, %d bad: %v", p.State, p.Found, p.Points, p.Bad, err)
			}
		})
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
	if err != nil {
		t.Fatal(err)
	}
	for i, status := range []result.Status{ok, failed} {
		if err := w.Append(&result.StepRecord{N: i + 1, Point: points[i], Status: status,
			Figures: &step.Figures{}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(result.End{Outcome: result.Complete}); err != nil {
		t.Fatal(err)
	}
	if p, err := Look(l, dir); err != nil || p.State != Done || p.Points != 2 || p.Bad != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A file that cannot be understood is an error: a launch that is there must not be measured again.
func TestLookForeign(t *testing.T) {
	dir := t.TempDir()
	l := Launch{1, 1, Variant{}}
	if err := os.MkdirAll(l.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.Dir(dir), "profile_mpi_world2_20260301T120000000Z.jsonl")
	for _, text := range []string{"no JSON", `{"kind":"run","schema":99}` + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
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
		if err := os.MkdirAll(l.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if files > 0 {
			file{id: "a", statuses: []result.Status{ok}, end: result.Complete}.save(t, l.Dir(dir))
		} else if err := os.Symlink(filepath.Base(name), name); err != nil { // a link to itself
			t.Fatal(err)
		}
		if p, err := Look(l, dir); err == nil ||
			!strings.Contains(err.Error(), "the state of nodes1/launch1: "+name+": cannot be read") {
			t.Errorf("beside %d files: %+v, %v", files, p, err)
		}
	}
}

// A plan that had variants once and has none now has launches whose folders hold those of the variants.
func TestLookWithoutVariants(t *testing.T) {
	dir := t.TempDir()
	l := Launch{1, 1, Variant{}}
	file{id: "a", statuses: []result.Status{ok}, end: result.Complete}.save(t, filepath.Join(l.Dir(dir), "ring"))
	if p, err := Look(l, dir); err != nil || p.State != Missing || p.Points != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestLookRefused(t *testing.T) {
	dir := t.TempDir()
	l := Launch{1, 1, Variant{Name: "a"}}
	if err := os.MkdirAll(l.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.Dir(dir), RefusedFile), []byte("code 2 in job 7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err := Look(l, dir); err != nil || p.State != Missing ||
		p.Found != (notice.LaunchRefused{Reason: "code 2 in job 7"}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// begun is a campaign whose folder is there.
func begun(t *testing.T, text, dir string) *Campaign {
	t.Helper()
	c, err := Open(mustParse(t, text), dir)
	if err != nil {
		t.Fatal(err)
	}
	paths, texts, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		if err := os.WriteFile(path, texts[i], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

const twoByTwo = "name: t\nlaunches: 2\nnodes: [1, 2]\nvariants: {x: {a: , b: }}\nsbatch: {time: 30, throttle: 3, " +
	"options: [--comment, it's]}\n"

// Submitted is what lacks something and is not in the queue; a task takes what its block lacks.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	c := begun(t, twoByTwo, dir)
	done := file{id: "a", statuses: []result.Status{ok}, end: result.Complete}
	cut := file{id: "b", statuses: []result.Status{ok}}
	done.save(t, filepath.Join(dir, "nodes1/launch1/a"))
	done.save(t, filepath.Join(dir, "nodes1/launch1/b"))
	done.save(t, filepath.Join(dir, "nodes1/launch2/a"))
	cut.save(t, filepath.Join(dir, "nodes1/launch2/b"))

	submitted := func(queued map[Task]bool) (all []string) {
		status, err := c.Status()
		if err != nil {
			t.Fatal(err)
		}
		arrays, err := c.Arrays(status, queued)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range arrays {
			all = append(all, fmt.Sprint(a.Nodes, " ", ranges.Format(a.Tasks)))
		}
		slices.Sort(all)
		return all
	}
	if got := submitted(nil); !slices.Equal(got, []string{"1 2", "2 1-2"}) {
		t.Errorf("to submit: %q", got)
	}
	if got := submitted(map[Task]bool{{1, 2}: true, {2, 2}: true}); !slices.Equal(got, []string{"2 1"}) {
		t.Errorf("to submit beside the queue: %q", got)
	}
	lacking, err := c.Lacking(Task{1, 2})
	if err != nil || len(lacking) != 1 || lacking[0].String() != "nodes1/launch2/b" {
		t.Errorf("lacking %v, %v", lacking, err)
	}
}

func TestWords(t *testing.T) {
	c := begun(t, twoByTwo, t.TempDir())
	got := Quote(c.words(Array{2, []int{1, 2, 4}}, "slurm/sweep.sh", []string{"-p", "main"}))
	want := "sbatch --parsable --job-name=" + c.ID + ".2 --nodes=2 --array=1-2,4%3 --time=30 --output=" + c.Dir +
		"/log/%x_%a.out --export=ALL --comment 'it'\\''s' -p main slurm/sweep.sh"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Sbatch.Report = []string{"--qos=debug"}
	report := "sbatch --parsable --qos=debug --job-name=" + c.ID + ".report "
	if got := Quote(c.reportWords([]string{"-p", "main"})); !strings.HasPrefix(got, report) {
		t.Error(got)
	}
}

// A campaign may grow, and may not become another.
func TestOpenAgain(t *testing.T) {
	dir := t.TempDir()
	first := begun(t, twoByTwo, dir)
	for change, refused := range map[[2]string]string{
		{"launches: 2", "launches: 7"}:                  "",
		{"[1, 2]", "[1, 4]"}:                            "",
		{"b: }", "b: , c: }"}:                           "",
		{"name: t", "name: u"}:                          "the name t, and the plan says u",
		{"name: t", "name: t\nseed: 2"}:                 "the seed 1, and the plan says 2",
		{"name: t", "name: t\nranks_per_node: 4"}:       "ranks_per_node 0, and the plan says 4",
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
		if err == nil && (c.ID != first.ID || !c.Begun || c.Unchanged()) {
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
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
