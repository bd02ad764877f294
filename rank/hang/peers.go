package hang

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"busbar/internal/board"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// Peers is what this rank knows of the ranks of its host without asking them: they write on a board in shared memory.
// It needs neither MPI nor TCP. A nil Peers sees nothing.
type Peers struct {
	rank  int
	ranks []launch.RankFacts // of the job
	mates []int              // the ranks of this host, by slot
	slot  int                // of this rank
	board *board.Board       // nil: there is no shared memory

	apart atomic.Bool // other hosts can only report their ranks themselves
}

// NewJobNumber returns what the names of a job's shared memory have in common, and no other job's.
func NewJobNumber() (string, error) {
	var b [4]byte
	_, err := rand.Read(b[:])
	return time.Now().UTC().Format("20060102T150405Z") + "_" + hex.EncodeToString(b[:]), err
}

// newPeers finds this rank among those of its host: equal by machine and name, since containers of one machine may
// have a /dev/shm each.
func newPeers(rank int, ranks []launch.RankFacts) *Peers {
	l := &Peers{rank: rank, ranks: ranks}
	for _, f := range ranks {
		if f.Host != ranks[rank].Host || f.Machine != ranks[rank].Machine {
			continue
		}
		if f.Rank == rank {
			l.slot = len(l.mates)
		}
		l.mates = append(l.mates, f.Rank)
	}
	return l
}

// OpenPeers gives the ranks of each host a board in shared memory, on which watch writes from then on. number is of the
// job. named is called with the path of the memory while it has a name, which the caller removes when this returns, or
// when the process ends before: the memory goes with the last process, however that ends. Where there is no shared
// memory everything else goes on. Collective.
func OpenPeers(comm launch.Comm, ranks []launch.RankFacts, number string, watch *Watchdog,
	named func(path string)) (*Peers, error) {
	l := newPeers(comm.Rank(), ranks)
	folders := []string{"/dev/shm", os.TempDir()}
	name := fmt.Sprintf("busbar-%s-%d", number, l.mates[0])
	if l.slot == 0 {
		if b, path, err := board.Create(folders, name, len(l.mates)); err == nil {
			l.board = b
			named(path)
		}
	}
	if err := comm.Barrier(); err != nil {
		return nil, err
	}
	if l.slot > 0 {
		if b, err := board.Open(folders, name); err == nil && b.Slots() == len(l.mates) {
			l.board = b
		}
	}
	if err := comm.Barrier(); err != nil {
		return nil, err
	}
	if l.board != nil {
		owner := board.Entry{Rank: l.rank, PID: os.Getpid(), Namespace: processNamespace()}
		watch.Post(&poster{slot: l.board.Slot(l.slot), owner: owner, peers: l})
	}
	return l, nil
}

// neighbours are this host's ranks with what they wrote last, including this rank, without those that wrote nothing.
func (l *Peers) neighbours() []launch.Report {
	if l == nil || l.board == nil {
		return nil
	}
	now := loop.Now()
	var all []launch.Report
	for _, s := range l.board.All(now) {
		all = append(all, l.judge(s, now))
	}
	return all
}

// judge classifies a neighbour: it is silent after the timeout for an answer on the side channel.
func (l *Peers) judge(s board.Seen, now int64) launch.Report {
	r := launch.Report{Rank: s.Rank, Host: l.ranks[s.Rank].Host, PID: s.PID, Silence: s.Silence}
	r.State = launch.State{Rank: s.Rank, Host: r.Host, Phase: s.Phase, Number: s.Number, Case: s.Case, Group: s.Group,
		Step: s.Step, Iteration: s.Iteration,
		Stage: s.Stage, LibraryError: s.LibraryError, Since: max(0, time.Duration(now-s.Since))}
	if s.Silence < timeout.Ask {
		r.Standing = launch.Answered
		return r
	}
	r.State.Since = max(0, r.State.Since-s.Silence)
	if s.Namespace != 0 && s.Namespace == processNamespace() {
		r.Process = processState("/", s.PID)
	}
	switch {
	case r.Process != processGone:
		r.Standing = launch.Silent
	case r.State.Phase == PhaseFinalize:
		r.Standing = launch.Left
	default:
		r.Standing = launch.Gone
	}
	return r
}

// publish writes on the board why this rank ends the run. The end of a job wakes ranks that were stopped, and rank 0
// may be one of them.
func (l *Peers) publish(cause notice.RunHung) {
	if l == nil || l.board == nil {
		return
	}
	const each = 500 // bytes of a rank at most, about
	for room := board.ReportBytes / 2; room > 0; room /= 2 {
		cause.Problem, cause.Ranks = units.Truncate(cause.Problem, room), cause.Ranks[:min(len(cause.Ranks), room/each)]
		text, err := json.Marshal(notice.Kept{Fact: cause})
		if err == nil && len(text) <= board.ReportBytes {
			l.board.Report(string(text))
			return
		}
	}
}

// Reason returns why another rank of this host ends the run; nil where none does.
func (l *Peers) Reason() notice.Fact {
	if l == nil || l.board == nil {
		return nil
	}
	var cause notice.Kept
	if json.Unmarshal([]byte(l.board.Reported()), &cause) != nil {
		return nil
	}
	return cause.Fact
}

// AwaitOtherHosts gives hosts that no control channel reaches the time to report their ranks on stderr. It is called
// between this rank's report and the end of the job.
func (l *Peers) AwaitOtherHosts() {
	if l != nil && l.apart.Load() {
		time.Sleep(timeout.OtherHosts)
	}
}

// States of a silent process.
const (
	processGone    = "gone"
	ProcessStopped = "stopped, by a signal or a debugger"
	processKernel  = "in the kernel, for a disk or a network filesystem, or a driver"
)

// processState is why a process of this host is silent, as far as the kernel shows; "" if it only sleeps or runs.
func processState(root string, pid int) string {
	b, err := os.ReadFile(filepath.Join(root, "proc", fmt.Sprint(pid), "stat"))
	if err != nil {
		return processGone
	}
	text := string(b)
	after := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name before it may contain any character
	if len(after) == 0 {
		return ""
	}
	return map[string]string{"T": ProcessStopped, "t": ProcessStopped, "D": processKernel, "Z": processGone,
		"X": processGone}[after[0]]
}

// processNamespace identifies containers with their own process ids; 0: unknown.
func processNamespace() uint64 {
	info, err := os.Stat("/proc/self/ns/pid")
	if err != nil {
		return 0
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
