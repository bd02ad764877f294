package hang

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"busbar/internal/board"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/rank/launch"
	"busbar/rank/timeout"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// twoHosts is a job of four ranks: 0 and 1 on near, 2 and 3 on far, each with the board of its host.
func twoHosts(t *testing.T) []*Peers {
	t.Helper()
	var ranks []launch.RankFacts
	for r := range 4 {
		host := []string{"near", "far"}[r/2]
		ranks = append(ranks, launch.RankFacts{Rank: r, Host: host, Machine: "one machine", PID: 1 << 30})
	}
	boards := map[string]*board.Board{}
	for _, host := range []string{"near", "far"} {
		var err error
		boards[host], _, err = board.Create([]string{t.TempDir()}, host, 2)
		must.NoError(t, err)
	}
	var all []*Peers
	for r := range ranks {
		l := newPeers(r, ranks)
		l.board = boards[ranks[r].Host]
		all = append(all, l)
	}
	return all
}

// write sets a rank's heartbeat to stop at a given age, in the middle of a case.
func (l *Peers) write(silence time.Duration) {
	now := loop.Now()
	e := board.Entry{Rank: l.rank, PID: 1 << 30, Number: 7, Step: 4, Iteration: 17,
		Since: now - int64(silence+time.Second), Phase: "measure", Case: hungCase, Stage: "issuing"}
	l.board.Slot(l.slot).Write(e, now-int64(silence))
}

func TestMain(m *testing.M) {
	timeout.Scale(0.5)
	os.Exit(m.Run())
}

// Without a control channel, a rank sees its neighbours by shared memory, and no other hosts.
func TestSurveyWithoutControlChannel(t *testing.T) {
	all := twoHosts(t)
	all[0].write(0)
	all[1].write(time.Minute)
	all[2].write(0)
	found := all[0].survey(nil)
	got := map[int]launch.Standing{}
	for _, r := range found {
		got[r.Rank] = r.Standing
	}
	want := map[int]launch.Standing{1: launch.Silent, 2: launch.Unreachable, 3: launch.Unreachable}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	me := launch.State{Rank: 0, Host: "near", Phase: "measure", Number: 7, Step: 4, Iteration: 18, Case: hungCase}
	text := Diagnose(found, me).Problem
	for _, want := range []string{"rank 1 on near (pid 1073741824) does not answer",
		"rank 1 last reported 1m", " ago, at iteration 17 (issuing) of " + hungCase + ", in phase measure for 1s",
		"no report from ranks 2 on far (pid 1073741824), 3 on far (pid 1073741824): no side channel"} {
		test.StrContains(t, text, want)
	}
}

// A rank's own report has priority over what others see of it.
func TestSurveyPrefersOwnReport(t *testing.T) {
	all := twoHosts(t)
	said := launch.State{Phase: "check", Number: 9}
	asked := []launch.Report{{Rank: 1, Standing: launch.Answered, State: said},
		{Rank: 2, Standing: launch.Answered, State: said}, {Rank: 3, Standing: launch.Gone}}
	all[1].write(time.Minute)
	start := time.Now()
	found := all[0].survey(asked)
	if time.Since(start) > timeout.Ask {
		t.Error("waited though everything was known")
	}
	if found[0].Standing != launch.Answered || found[0].State.Number != 9 || found[2].Standing != launch.Gone ||
		found[2].Host != "far" {
		t.Errorf("%+v", found)
	}
}

// A stopped rank finds on its host's board why another one ended the run, however long ago.
func TestReasonFromBoard(t *testing.T) {
	all := twoHosts(t)
	if got := all[0].Reason(); got != nil {
		t.Errorf("a reason before any: %+v", got)
	}
	cause := notice.RunHung{Problem: "rank 0 on near does not answer" + strings.Repeat(" \"<é", 10_000)}
	for range mostHung {
		cause.Ranks = append(cause.Ranks, notice.HungRank{PlacedRank: notice.PlacedRank{Rank: 0, Host: "near"},
			Standing: notice.StandingSilent, Case: strings.Repeat("c", 300)})
	}
	all[1].publish(cause)
	all[1].publish(notice.RunHung{Problem: "another"})
	got, is := all[0].Reason().(notice.RunHung)
	if !is || !strings.HasPrefix(got.Problem, "rank 0 on near does not answer") || len(got.Ranks) == 0 ||
		got.Ranks[0] != cause.Ranks[0] {
		t.Errorf("%+v", got)
	}
	if far := all[2].Reason(); far != nil {
		t.Errorf("another host has the reason %+v", far)
	}
	var none *Peers
	if none.publish(cause); none.Reason() != nil {
		t.Error("unrelated ranks have a reason")
	}
}

// The last action of a silent rank is known from ranks of its host that reply.
func TestSurveyOfSilentRankOfAnotherHost(t *testing.T) {
	all := twoHosts(t)
	all[2].write(0)
	all[3].write(time.Minute)
	w := &Watchdog{}
	w.Post(&poster{slot: all[2].board.Slot(0), owner: board.Entry{Rank: 2}, peers: all[2]})
	asked := []launch.Report{{Rank: 1, Standing: launch.Answered},
		{Rank: 2, Standing: launch.Answered, State: w.State()},
		{Rank: 3, PID: 1 << 30, Standing: launch.Silent}}
	found := all[0].survey(asked)
	if r := found[2]; r.Rank != 3 || r.Host != "far" || r.Standing != launch.Silent ||
		r.State.Case != hungCase || r.State.Iteration != 17 {
		t.Errorf("%+v", r)
	}
}

// A stopped process and an exited process have different states.
func TestProcessState(t *testing.T) {
	c := exec.Command("sleep", "1000")
	must.NoError(t, c.Start())
	pid := c.Process.Pid
	// While it starts it may wait for the disk.
	awaitProcess(t, "the process to sleep", func() bool { return processState("/", pid) == "" })
	must.NoError(t, c.Process.Signal(syscall.SIGSTOP))
	awaitProcess(t, "the process to stop", func() bool { return processState("/", pid) == ProcessStopped })
	must.NoError(t, c.Process.Kill())
	awaitProcess(t, "the process to end", func() bool { return processState("/", pid) == processGone })
	_ = c.Wait()
	test.EqOp(t, processGone, processState("/", pid))
	root := t.TempDir() // a name with all that a name can hold
	must.NoError(t, os.MkdirAll(filepath.Join(root, "proc/7"), 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(root, "proc/7/stat"), []byte("7 (a) R (b) D 1 2 3"), 0o644))
	test.EqOp(t, processKernel, processState(root, 7))
}

func awaitProcess(t *testing.T, what string, condition func() bool) {
	t.Helper()
	const patience = time.Minute
	for end := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}
