package aws

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"busbar/internal/needs"
)

const (
	spotWatch = "../spot-watch.sh"
	action    = "/latest/meta-data/spot/instance-action"
	terminate = `{"action":"terminate","time":"2026-03-01T08:22:00Z"}`
	rebalance = `{"noticeTime":"2026-03-01T08:16:00Z"}`
)

func needCurl(t *testing.T) {
	t.Helper()
	needs.Command(t, "curl", "spot-watch.sh asks with it")
}

func TestSpotWatchOnce(t *testing.T) {
	needCurl(t)
	m := serve(t)
	check(t, 0, "no spot notice", start(t, "", spotWatch, "--once", "--endpoint", m.url))
	m.set(func(m *metadata) { m.notice = terminate })
	check(t, 3, terminate, start(t, "", spotWatch, "--once", "--endpoint", m.url+"/"))
}

func TestSpotWatchUsage(t *testing.T) {
	needCurl(t)
	check(t, 1, "nothing to watch over", start(t, "", spotWatch))
	check(t, 1, `unknown argument "--now"`, start(t, "", spotWatch, "--now"))
	check(t, 1, "--sync wants a value", start(t, "", spotWatch, "--pid", "1", "--sync", "results"))
	check(t, 1, `--grace is "1m"`, start(t, "", spotWatch, "--pid", "1", "--grace", "1m"))
	check(t, 1, `--interval is "0"`, start(t, "", spotWatch, "--pid", "1", "--interval", "0"))
	check(t, 1, `--on-rebalance is "dance"`, start(t, "", spotWatch, "--pid", "1", "--on-rebalance", "dance"))
	check(t, 2, "does not answer", start(t, "", spotWatch, "--once", "--endpoint", "http://127.0.0.1:1"))
}

// worker starts a process that writes down the signals it gets; USR1 ends it only where it obeys. Its files are
// results/signals and results/pid.
func worker(t *testing.T, dir string, obeys bool) *run {
	t.Helper()
	end := "exit 0"
	if !obeys {
		end = ":"
	}
	stand(t, dir, "worker", fmt.Sprintf(`mkdir -p %[1]s/results
trap 'echo USR1 >>%[1]s/results/signals; %[2]s' USR1
trap 'echo TERM >>%[1]s/results/signals; exit 0' TERM
echo $$ >%[1]s/results/pid.part && mv %[1]s/results/pid.part %[1]s/results/pid
while :; do sleep 0.05; done`, dir, end))
	r := start(t, "", filepath.Join(dir, "worker"))
	until(t, "the worker runs", func() bool { return read(filepath.Join(dir, "results/pid")) != "" })
	return r
}

// watch watches over a worker, asking twenty times a second.
func watch(t *testing.T, m *metadata, dir string, w *run, more ...string) *run {
	t.Helper()
	return start(t, "", spotWatch,
		append([]string{"--endpoint", m.url, "--interval", "0.05", "--pid", strconv.Itoa(w.cmd.Process.Pid),
			"--sync", filepath.Join(dir, "results"), filepath.Join(dir, "kept")}, more...)...)
}

func TestSpotNoticeEndsTheCaseInHand(t *testing.T) {
	needCurl(t)
	m, dir := serve(t), t.TempDir()
	w := worker(t, dir, true)
	r := watch(t, m, dir, w)
	until(t, "it has asked twice", func() bool { return m.count(action) > 1 })
	if got := read(filepath.Join(dir, "results/signals")); got != "" {
		t.Fatalf("without a notice there was %s", got)
	}
	// An expired token is requested again.
	m.set(func(m *metadata) { m.valid, m.notice = "", terminate })
	check(t, 3, "spot notice: "+terminate, r)
	w.code()
	if got := read(filepath.Join(dir, "kept/signals")); got != "USR1\n" {
		t.Errorf("kept %q of the signals, wanted USR1 alone", got)
	}
}

func TestSpotNoticeWhereTheCaseLastsTooLong(t *testing.T) {
	needCurl(t)
	m, dir := serve(t), t.TempDir()
	w := worker(t, dir, false)
	m.set(func(m *metadata) { m.notice = terminate })
	check(t, 3, "still running after 1 s", watch(t, m, dir, w, "--grace", "1"))
	w.code()
	if got := read(filepath.Join(dir, "kept/signals")); got != "USR1\nTERM\n" {
		t.Errorf("kept %q of the signals, wanted USR1, then TERM", got)
	}
}

func TestRebalanceRecommendation(t *testing.T) {
	needCurl(t)
	m, dir := serve(t), t.TempDir()
	m.set(func(m *metadata) { m.rebalance = rebalance })
	w := worker(t, dir, true)
	r := watch(t, m, dir, w)
	until(t, "results are copied", func() bool { return read(filepath.Join(dir, "kept/pid")) != "" })
	seen := m.count(action)
	until(t, "it asks on", func() bool { return m.count(action) > seen+2 })
	if got := read(filepath.Join(dir, "results/signals")); got != "" {
		t.Errorf("a recommendation alone brought %s", got)
	}
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	check(t, 0, "rebalance recommendation: "+rebalance, r)

	other := t.TempDir()
	w = worker(t, other, true)
	check(t, 3, rebalance, watch(t, m, other, w, "--on-rebalance", "stop"))
	if got := read(filepath.Join(other, "results/signals")); got != "USR1\n" {
		t.Errorf("--on-rebalance stop brought %q", got)
	}
}

// In Slurm the job's script gets the signal, as at the time limit.
func TestSpotNoticeForAJob(t *testing.T) {
	needCurl(t)
	m, dir := serve(t), t.TempDir()
	m.set(func(m *metadata) { m.notice = terminate })
	// The controller does not answer at first, and does not know the job after its end.
	stand(t, dir, "squeue", fmt.Sprintf(`cd %s
echo asked >>asked
[ "$(wc -l <asked)" -gt 4 ] || { echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" `+
		`>&2; exit 1; }
[ -e ended ] && { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
echo 42`, dir))
	stand(t, dir, "scancel", `echo "$*" >>`+dir+`/calls; touch `+dir+"/ended")
	check(t, 3, "the script of job 42", start(t, dir, spotWatch, "--endpoint", m.url, "--interval", "0.05", "--job",
		"42"))
	if got := read(filepath.Join(dir, "calls")); got != "--batch --signal=USR1 42\n" {
		t.Errorf("scancel %q", got)
	}
}
