package aws

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const (
	spotWatch = "../spot-watch.sh"
	action    = "/latest/meta-data/spot/instance-action"
	terminate = `{"action":"terminate","time":"2026-03-01T08:22:00Z"}`
	rebalance = `{"noticeTime":"2026-03-01T08:16:00Z"}`
)

func TestSpotWatchOnce(t *testing.T) {
	m := serve(t)
	check(t, 0, "no spot notice", start(t, "", spotWatch, "--once", "--endpoint", m.url))
	m.set(func(m *metadata) { m.notice = terminate })
	check(t, 3, terminate, start(t, "", spotWatch, "--once", "--endpoint", m.url+"/"))
}

func TestSpotWatchUsage(t *testing.T) {
	needs.Command(t, "curl", "spot-watch.sh requires it")
	check(t, 1, "is required", start(t, "", spotWatch))
	check(t, 1, `unknown argument "--now"`, start(t, "", spotWatch, "--now"))
	check(t, 1, "--sync requires a value", start(t, "", spotWatch, "--pid", "1", "--sync", "results"))
	check(t, 1, `--grace is "1m"`, start(t, "", spotWatch, "--pid", "1", "--grace", "1m"))
	check(t, 1, `--interval is "0"`, start(t, "", spotWatch, "--pid", "1", "--interval", "0"))
	check(t, 1, `--on-rebalance is "dance"`, start(t, "", spotWatch, "--pid", "1", "--on-rebalance", "dance"))
	check(t, 2, "does not respond", start(t, "", spotWatch, "--once", "--endpoint", "http://127.0.0.1:1"))
}

// worker starts a process that writes its signals into results/signals and its PID into results/pid. It exits on TERM,
// and on USR1 if exits is true.
func worker(t *testing.T, dir string, exits bool) *run {
	t.Helper()
	end := "exit 0"
	if !exits {
		end = ":"
	}
	fake(t, dir, "worker", fmt.Sprintf(`mkdir -p %[1]s/results
trap 'echo USR1 >>%[1]s/results/signals; %[2]s' USR1
trap 'echo TERM >>%[1]s/results/signals; exit 0' TERM
echo $$ >%[1]s/results/pid.part && mv %[1]s/results/pid.part %[1]s/results/pid
while :; do sleep 0.05; done`, dir, end))
	r := start(t, "", filepath.Join(dir, "worker"))
	until(t, "the worker runs", func() bool { return read(filepath.Join(dir, "results/pid")) != "" })
	return r
}

// watch watches a worker, with twenty queries per second.
func watch(t *testing.T, m *metadata, dir string, w *run, more ...string) *run {
	t.Helper()
	return start(t, "", spotWatch,
		append([]string{"--endpoint", m.url, "--interval", "0.05", "--pid", strconv.Itoa(w.cmd.Process.Pid),
			"--sync", filepath.Join(dir, "results"), filepath.Join(dir, "kept")}, more...)...)
}

func TestSpotNoticeEndsTheCaseInHand(t *testing.T) {
	m, dir := serve(t), t.TempDir()
	w := worker(t, dir, true)
	r := watch(t, m, dir, w)
	until(t, "it sent two queries", func() bool { return m.count(action) > 1 })
	must.EqOp(t, "", read(filepath.Join(dir, "results/signals")))
	// An expired token is requested again.
	m.set(func(m *metadata) { m.valid, m.notice = "", terminate })
	check(t, 3, "spot notice: "+terminate, r)
	w.code()
	test.EqOp(t, "USR1\n", read(filepath.Join(dir, "kept/signals")))
}

func TestSpotNoticeAfterGrace(t *testing.T) {
	m, dir := serve(t), t.TempDir()
	w := worker(t, dir, false)
	m.set(func(m *metadata) { m.notice = terminate })
	check(t, 3, "still running after 1 s", watch(t, m, dir, w, "--grace", "1"))
	w.code()
	test.EqOp(t, "USR1\nTERM\n", read(filepath.Join(dir, "kept/signals")))
}

func TestRebalanceRecommendation(t *testing.T) {
	m, dir := serve(t), t.TempDir()
	m.set(func(m *metadata) { m.rebalance = rebalance })
	w := worker(t, dir, true)
	r := watch(t, m, dir, w)
	until(t, "results are copied", func() bool { return read(filepath.Join(dir, "kept/pid")) != "" })
	seen := m.count(action)
	until(t, "it sent more queries", func() bool { return m.count(action) > seen+2 })
	test.EqOp(t, "", read(filepath.Join(dir, "results/signals")))
	must.NoError(t, w.cmd.Process.Kill())
	check(t, 0, "rebalance recommendation: "+rebalance, r)

	other := t.TempDir()
	w = worker(t, other, true)
	check(t, 3, rebalance, watch(t, m, other, w, "--on-rebalance", "stop"))
	test.EqOp(t, "USR1\n", read(filepath.Join(other, "results/signals")))
}

// With --job the job's script gets the signal, as at the time limit.
func TestSpotNoticeForAJob(t *testing.T) {
	m, dir := serve(t), t.TempDir()
	m.set(func(m *metadata) { m.notice = terminate })
	// The controller does not respond at first, and the job ID is invalid after the end of the job.
	fake(t, dir, "squeue", fmt.Sprintf(`cd %s
echo call >>queries
[ "$(wc -l <queries)" -gt 4 ] || { echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" `+
		`>&2; exit 1; }
[ -e over ] && { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
echo 42`, dir))
	fake(t, dir, "scancel", `echo "$*" >>`+dir+`/calls; touch `+dir+"/over")
	check(t, 3, "the script of job 42", start(t, dir, spotWatch, "--endpoint", m.url, "--interval", "0.05", "--job",
		"42"))
	test.EqOp(t, "--batch --signal=USR1 42\n", read(filepath.Join(dir, "calls")))
}
