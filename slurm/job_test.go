package slurm

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// sweep has the flags of jobs. No point reaches this precision, so each uses its whole budget: the plan takes 6
// seconds, enough for the command that interrupts it, also on a busy machine. A launch of a campaign has half of the
// points and takes 8 seconds.
const (
	withoutBudget = "--collective all_reduce,broadcast -b 512 -e 8K -i 512 --precision 0.01% -w 1"
	sweep         = withoutBudget + " --budget 100ms"
	campaignSweep = withoutBudget + " --budget 250ms"
)

// sizes is the number of message sizes of the sweep, pointsOfLaunch that of its points in one mode.
const (
	sizes          = 8 << 10 / 512
	pointsOfLaunch = 2 * sizes
	pointsOfPlan   = 2 * pointsOfLaunch
)

// plan is the sweep in both modes.
var plan = append(strings.Fields(sweep), "--mode", "both")

// minutes is the time limit of every job: more than a job takes, and more than the two minutes before the limit at
// which Slurm signals sweep.sh.
const (
	minutes  = "6"
	jobLimit = "--time=" + minutes
)

// job is a sweep in the queue.
type job struct {
	t        *testing.T
	id, out  string
	settings []string
	nodes    int
	names    []string // of its nodes, at the last midst
}

// submit submits slurm/sweep.sh with settings for its environment.
func submit(t *testing.T, nodes int, settings []string, flags ...string) *job {
	t.Helper()
	return submitWith(t, nodes, settings, nil, flags...)
}

// submitWith submits with more options of sbatch.
func submitWith(t *testing.T, nodes int, settings, options []string, flags ...string) *job {
	t.Helper()
	onCluster(t)
	awaitIdle(t)
	words := append([]string{"sbatch", "--parsable", jobLimit, "--nodes=" + strconv.Itoa(nodes)}, options...)
	id, err := asUser(settings, append(append(words, "slurm/sweep.sh"), flags...)...)
	must.NoError(t, err)
	j := &job{t: t, id: id, out: filepath.Join(home, "results", "job"+id), settings: settings, nodes: nodes}
	for _, s := range settings {
		if out, ok := strings.CutPrefix(s, "BUSBAR_OUT="); ok {
			j.out = out
		}
	}
	t.Cleanup(func() {
		_, err = asUser(nil, "scancel", "--quiet", id)
		test.NoError(t, err)
		if t.Failed() {
			t.Logf("output of job %s:\n%s", id, j.text())
		}
	})
	return j
}

// field returns a field of scontrol show job.
func (j *job) field(name string) string {
	j.t.Helper()
	for _, word := range strings.Fields(asAdmin(j.t, "scontrol", "show", "job", "-o", j.id)) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

func (j *job) awaitState(states ...string) {
	j.t.Helper()
	await(j.t, "job "+j.id+" to be "+strings.Join(states, " or "),
		func() bool { return slices.Contains(states, j.field("JobState")) })
}

// ended waits for the end of the job and checks its state, exit code and number of restarts.
func (j *job) ended(state string, code, restarts int) {
	j.t.Helper()
	j.awaitState("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED")
	got, _, _ := strings.Cut(j.field("ExitCode"), ":")
	if j.field("JobState") != state || got != strconv.Itoa(code) && code >= 0 ||
		j.field("Restarts") != strconv.Itoa(restarts) {
		j.t.Fatalf("job %s: %s, exit code %s, %s restarts; want %s, %d, %d", j.id, j.field("JobState"), got,
			j.field("Restarts"), state, code, restarts)
	}
}

// text returns the output of the job.
func (j *job) text() string {
	b, _ := os.ReadFile(filepath.Join(home, "busbar-"+j.id+".out"))
	return string(b)
}

func (j *job) logHas(words ...string) {
	j.t.Helper()
	for _, w := range words {
		test.StrContains(j.t, j.text(), w, test.Sprint(j.id))
	}
}

var record = regexp.MustCompile(`(?m)^{"kind":"case"`)

// points counts the records on disk.
func (j *job) points() int {
	n := 0
	for _, path := range j.files() {
		b, err := os.ReadFile(path)
		must.NoError(j.t, err)
		n += len(record.FindAll(b, -1))
	}
	return n
}

func (j *job) files() []string {
	paths, err := filepath.Glob(filepath.Join(j.out, "profile_*.jsonl"))
	must.NoError(j.t, err)
	return paths
}

// midst waits until some points are measured, and most are not. It queries the job's nodes first, which takes time.
func (j *job) midst() {
	j.t.Helper()
	before := j.points()
	await(j.t, "the nodes of job "+j.id, func() bool {
		j.names = strings.Fields(asAdmin(j.t, "bash", "-c", `scontrol show hostnames "$(squeue -h -j "$0" -o %N)"`,
			j.id))
		return len(j.names) == j.nodes
	})
	await(j.t, "the first points of job "+j.id, func() bool { return j.points() >= before+3 })
}

// node returns the name of the job's n-th node at the last call of midst.
func (j *job) node(n int) string { return j.names[n] }

// signal sends a signal to the rank on the job's n-th node.
func (j *job) signal(n int, name string) {
	j.t.Helper()
	onNode(j.t, j.node(n), "pkill", "-"+name, "-x", "rank")
}

// mergedRows returns the rows of merged.csv in a folder as functions of the column name.
func mergedRows(t *testing.T, dir string) (rows []func(column string) string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "merged.csv"))
	must.NoError(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	must.NoError(t, err)
	for _, row := range all[1:] {
		rows = append(rows, func(column string) string { return row[slices.Index(all[0], column)] })
	}
	return rows
}

// point is what a row of merged.csv measured.
type point struct{ collective, mode, placement, size, status string }

// merged counts the rows of each point in the job's merged.csv.
func (j *job) merged() map[point]int {
	j.t.Helper()
	points := map[point]int{}
	for _, of := range mergedRows(j.t, j.out) {
		points[point{of("collective"), of("mode"), of("placement"), of("size_bytes"), of("status")}]++
	}
	return points
}

// checkPoints checks that every point of the plan was measured once.
func (j *job) checkPoints() {
	j.t.Helper()
	want := map[point]int{}
	for _, collective := range []string{"all_reduce", "broadcast"} {
		for _, mode := range []string{"throughput", "latency"} {
			for n := 1; n <= sizes; n++ {
				want[point{collective, mode, "out", strconv.Itoa(512 * n), "ok"}] = 1
			}
		}
	}
	got := j.merged()
	for p, n := range got {
		if p.collective == "broadcast" {
			p.placement = "out" // in MPI it has one buffer
		}
		if want[p] != n {
			j.t.Errorf("%v has %d rows", p, n)
		}
	}
	test.EqOp(j.t, len(want), len(got))
	if plots, _ := filepath.Glob(filepath.Join(j.out, "plots", "*.png")); len(plots) == 0 {
		j.t.Error("no plots")
	}
}

// runs reads the files of the results.
func (j *job) runs() (runs []*result.File) {
	j.t.Helper()
	for _, path := range j.files() {
		f, err := result.ReadFile(j.t.Context(), path)
		must.NoError(j.t, err)
		runs = append(runs, f)
	}
	return runs
}
