package hang

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"busbar/internal/board"
	"busbar/internal/loop"
	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// twoHosts is a job of four ranks: 0 and 1 on near, 2 and 3 on far, each with the board of its host, and one folder.
func twoHosts(t *testing.T) []*Peers {
	t.Helper()
	folder := t.TempDir()
	var ranks []launch.RankFacts
	for r := range 4 {
		host := []string{"near", "far"}[r/2]
		ranks = append(ranks, launch.RankFacts{Rank: r, Host: host, Machine: "one machine", PID: 1 << 30})
	}
	boards := map[string]*board.Board{"near": board.Private(2), "far": board.Private(2)}
	var all []*Peers
	for r := range ranks {
		l := newPeers(r, ranks)
		l.board = boards[ranks[r].Host]
		l.folder.Store(&folder)
		all = append(all, l)
	}
	return all
}

// write has a rank's heartbeat stop so long ago, in the middle of a case.
func (l *Peers) write(silence time.Duration) {
	now := loop.Now()
	e := board.Entry{Rank: l.rank, PID: 1 << 30, Number: 7, Step: 4, Iteration: 17, Since: now - int64(silence+time.Second), Phase: "measure", Case: hungCase, Stage: "issuing"}
	l.board.Slot(l.slot).Write(e, now-int64(silence))
}

func TestMain(m *testing.M) {
	timeout.Scale(0.5)
	os.Exit(m.Run())
}

func TestLookoutFindsItsHost(t *testing.T) {
	all := twoHosts(t)
	for r, l := range all {
		if want := []int{r / 2 * 2, r/2*2 + 1}; !slices.Equal(l.mates, want) || l.slot != r%2 {
			t.Errorf("rank %d: slot %d among %v, wanted %v", r, l.slot, l.mates, want)
		}
	}
}

// Without anybody to ask, a rank knows its neighbours by the memory of its host and strangers by their host's file.
func TestSurveyOfTwoHosts(t *testing.T) {
	all := twoHosts(t)
	all[1].write(0)
	all[2].write(0)
	all[3].write(time.Minute)
	if err := all[2].writeFile(*all[2].folder.Load()); err != nil {
		t.Fatal(err)
	}
	found := all[0].survey(nil, time.Minute)
	got := map[int]launch.Standing{}
	for _, r := range found {
		got[r.Rank] = r.Standing
		if r.State.Case != hungCase || r.State.Iteration != 17 || r.State.Stage != "issuing" {
			t.Errorf("rank %d: %+v", r.Rank, r.State)
		}
	}
	// Rank 1's memory was written once and never again, and the file is as old as it should be.
	if want := map[int]launch.Standing{1: launch.Silent, 2: launch.Answered, 3: launch.Silent}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	text := Diagnose(found, launch.State{Rank: 0, Host: "near", Phase: "measure", Number: 7, Step: 4, Iteration: 18, Case: hungCase}).Problem
	for _, want := range []string{"ranks 1 on near (pid 1073741824), 3 on far (pid 1073741824) do not answer",
		"rank 3 was last heard of 1m", " ago, at iteration 17 (issuing) of " + hungCase + ", in phase measure for 1s"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}

// What a rank says itself counts before what is seen of it.
func TestSurveyBelievesAnswers(t *testing.T) {
	all := twoHosts(t)
	said := launch.State{Phase: "check", Number: 9}
	asked := []launch.Report{{Rank: 1, Standing: launch.Answered, State: said}, {Rank: 2, Standing: launch.Answered, State: said}, {Rank: 3, Standing: launch.Gone, At: time.Now()}}
	all[1].write(time.Minute)
	start := time.Now()
	found := all[0].survey(asked, time.Minute)
	if time.Since(start) > timeout.Ask {
		t.Error("waited though everything was known")
	}
	if found[0].Standing != launch.Answered || found[0].State.Number != 9 || found[2].Standing != launch.Gone || found[2].Host != "far" {
		t.Errorf("%+v", found)
	}
}

// A host whose file nobody writes any more is silent as a whole.
func TestHostThatIsSilent(t *testing.T) {
	all := twoHosts(t)
	folder := *all[0].folder.Load()
	all[2].write(0)
	for _, r := range []int{0, 2} {
		if err := all[r].writeFile(folder); err != nil {
			t.Fatal(err)
		}
	}
	if seen := all[0].strangers(folder, 2, time.Minute, 0); len(seen) != 1 || seen[0].Standing != launch.Answered {
		t.Errorf("%+v", seen)
	}
	old := func(age time.Duration) {
		t.Helper()
		at := time.Now().Add(-age)
		if err := os.Chtimes(all[2].path(folder, 2), at, at); err != nil {
			t.Fatal(err)
		}
	}
	old(30 * time.Second) // it is what they do while this rank hangs, but nobody has written for too long
	seen := all[0].strangers(folder, 2, time.Minute, 0)
	if len(seen) != 1 || seen[0].Standing != launch.Silent || seen[0].Silence.Round(10*time.Second) != 30*time.Second {
		t.Errorf("%+v", seen)
	}
	old(8 * time.Second) // from before the hang: it may be written yet
	written := make(chan error, 1)
	go func() {
		time.Sleep(Tick / 2)
		written <- all[2].writeFile(folder)
	}()
	if seen := all[0].strangers(folder, 2, time.Second, 0); len(seen) != 1 || seen[0].State.Since > 5*time.Second {
		t.Errorf("%+v", seen)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	old(6 * time.Second)
	all[0].beat = 7*time.Second - timeout.FileSlack
	if seen := all[0].strangers(folder, 2, time.Second, 0); len(seen) != 1 || seen[0].Standing != launch.Silent {
		t.Errorf("%+v", seen)
	}
	if seen := all[0].strangers(folder, 2, time.Minute, -6*time.Second); len(seen) != 1 || seen[0].Standing != launch.Answered {
		t.Errorf("on a filesystem whose clock is behind: %+v", seen)
	}
}

// To look at other hosts' files leaves this host's as it is: it may be the last one, from before the ranks that were
// stopped were woken up. And it leaves nothing else.
func TestReadingLeavesTheFilesAlone(t *testing.T) {
	all := twoHosts(t)
	folder := *all[0].folder.Load()
	all[2].write(0)
	if err := all[2].writeFile(folder); err != nil {
		t.Fatal(err)
	}
	own := all[0].path(folder, 0)
	if err := os.WriteFile(own, []byte("the last one"), 0o644); err != nil {
		t.Fatal(err)
	}
	known := map[int]launch.Report{2: {Rank: 2, Host: "far", Standing: launch.Unreachable}}
	if seen := all[0].readFiles(known, time.Minute); len(seen) != 1 || len(seen[0]) != 1 || seen[0][0].Standing != launch.Answered {
		t.Errorf("%+v", seen)
	}
	if b, err := os.ReadFile(own); err != nil || string(b) != "the last one" {
		t.Errorf("%q, %v", b, err)
	}
	if names, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
}

// Where the age of files cannot be known they say nothing: nobody is called silent by them.
func TestFilesystemsClock(t *testing.T) {
	if _, err := clockAhead(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("a folder that is not there has a clock")
	}
	if ahead, err := clockAhead(t.TempDir()); err != nil || ahead.Abs() > time.Second {
		t.Errorf("the clock of this host's own disk is ahead by %s, %v", ahead, err)
	}
}

// A rank whose filesystem does not answer ends in good order all the same.
func TestDropFileThatIsBeingWritten(t *testing.T) {
	l := twoHosts(t)[0]
	l.writing <- struct{}{} // which does not come back
	if !briefly(2*timeout.RemoveFile, l.RemoveFile) {
		t.Error("the end waits for a filesystem that hangs")
	}
}

func TestHostFile(t *testing.T) {
	all := twoHosts(t)
	now := loop.Now()
	entry := board.Entry{Rank: 3, PID: 4711, Number: 12, Step: 3, Iteration: 1 << 40, Since: now - int64(5*time.Second), Phase: "NCCL init", Says: "waiting for  rank 2\n- to connect"}
	all[3].board.Slot(1).Write(entry, now)
	text := all[2].text(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for _, want := range []string{"The ranks of far at 2026-01-02T03:04:05Z, as rank 2", "every " + timeout.FileBeat.String(), "waiting for rank 2 - to connect", "NCCL init"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	seen := parseHostFile(text+"\nrank 9  is  torn", all[0].ranks)
	if len(seen) != 1 {
		t.Fatalf("%+v of\n%s", seen, text)
	}
	s := seen[0].State
	if s.Rank != 3 || s.Host != "far" || seen[0].PID != 4711 || s.Number != 12 || s.Step != 3 || s.Iteration != 1<<40 || s.Phase != "NCCL init" || s.Case != "" ||
		s.Says != "waiting for rank 2 - to connect" || s.Since.Round(time.Second) != 5*time.Second || s.Stage != "" {
		t.Errorf("%+v of\n%s", seen[0], text)
	}
}

// The lowest rank writes; where it does not, the next one does a second later.
func TestWhoWritesTheFile(t *testing.T) {
	all := twoHosts(t)
	lower, higher := all[0], all[1]
	turn := func(l *Peers) bool {
		select {
		case <-l.wake:
			return true
		default:
			return false
		}
	}
	if lower.tick(); !turn(lower) {
		t.Error("the file is not made at the start")
	}
	if higher.tick(); turn(higher) {
		t.Error("written twice")
	}
	lower.beat, higher.beat = 0, 0
	if higher.tick(); turn(higher) {
		t.Error("the higher rank does not leave the lower one its turn")
	}
	if lower.tick(); !turn(lower) {
		t.Error("the lower rank does not write when it is due")
	}
	higher.slot = 0 // as if its second was over
	if higher.tick(); !turn(higher) {
		t.Error("nobody writes in the place of a lower rank that does not")
	}
}

func TestHostBeat(t *testing.T) {
	for hosts, want := range map[int]time.Duration{1: timeout.FileBeat, 100: timeout.FileBeat, 1000: 50 * time.Second} {
		if got := hostBeat(hosts); got != want {
			t.Errorf("%d hosts: %s, want %s", hosts, got, want)
		}
	}
}

// The last state of a process that is stopped, and that is gone, is told apart.
func TestProcessState(t *testing.T) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pid := c.Process.Pid
	// While it starts it may wait for the disk.
	awaitProcess(t, "the process to sleep", func() bool { return processState("/", pid) == "" })
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitProcess(t, "the process to stop", func() bool { return processState("/", pid) == ProcessStopped })
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitProcess(t, "the process to end", func() bool { return processState("/", pid) == processGone })
	_ = c.Wait()
	if got := processState("/", pid); got != processGone {
		t.Errorf("a process that is gone: %q", got)
	}
	root := t.TempDir() // a name with all that a name can hold
	if err := os.MkdirAll(filepath.Join(root, "proc/7"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "proc/7/stat"), []byte("7 (a) R (b) D 1 2 3"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := processState(root, 7); got != processKernel {
		t.Errorf("%q", got)
	}
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
