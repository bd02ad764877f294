// Package watchdog reads what PyTorch, Gloo and launchers print when a job hangs or dies: timeouts, connections that
// peers closed, and ends of processes.
package watchdog

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a line reports.
type Kind uint8

// The kinds.
const (
	Timeout   Kind = iota // the watchdog gave up on a collective
	Status                // how far a process group got
	Stuck                 // the watchdog itself makes no progress
	Transfer              // Gloo timed out in a send or receive
	Closed                // a peer closed or reset the connection
	WrongSize             // Gloo received more than it expected
	Barrier               // ranks did not reach monitored_barrier
	Death                 // a process ended by a signal or an exception of its own
	Aftermath             // an exception of the communication, or an end that follows from a timeout
	Past                  // of no account: the process went on after an exception, or was started again
	Exit                  // a launcher reports that a process ended with a code, which may follow from a timeout
)

// Reason is why a process ended.
type Reason string

// The reasons.
const (
	ByException Reason = "exception"
	BySignal    Reason = "signal"
	ByMemory    Reason = "out-of-memory"
)

// Event is what one line reports. Ranks are global; -1 is unknown.
type Event struct {
	Kind Kind
	File string
	Line int
	Rank int
	PG
	Seq                 int64 // of the collective, or the work that failed; -1 if unknown
	Op                  string
	In, Out             int64 // elements; -1 if unknown
	Enqueued, Completed int64 // -1 if unknown
	Ranks               []int // of Barrier
	End
	Text string // as printed, shortened
}

// PG is the process group that a line names; what the line lacks is "".
type PG struct {
	GroupID string // number, which is local to the process
	GUID    string // name
	Desc    string // description, which several groups may share
}

// End is how a process ended.
type End struct {
	Reason   Reason
	Launcher bool   // reports it
	Host     string // of a task of Slurm, whose number Rank is; "" of others
}

// maxEvents is how many events of a file are kept: an aftermath may fill gigabytes.
const maxEvents = 10_000

// Log is what was found in one file.
type Log struct {
	File     string
	Rank     int // of the file's name; -1 if it has none
	Events   []Event
	LastLine int // number of the last line that is not blank, and
	LastText string
	NCCL     bool // lines of NCCL's own log were seen
	Named    int  // the rank that lines name as [rank3]; negative if they name none, or several

	traceback bool        // a Python traceback is open
	tracedBy  int         // the rank that prints it
	timedOut  bool        // the watchdog gave up
	cancelled bool        // Slurm ended the job
	signalled bool        // a launcher ended the processes, because one ended or the job is over
	unwound   bool        // the launcher's own exception was printed: what follows is its report
	last      map[int]int // place in Events of the last exception of a rank, where nothing follows it yet
	root      *Event      // the root cause that torchrun prints
}

// words are one for each kind of line, so that other lines cost little.
var words = strings.Split(
	"WorkNCCL(|nqueued|eartbeat|watchdog|gloo|onnection|Timed out waiting|monitoredBarrier|Traceback|Error|"+
		"Exception|ignal|Killed|Out Of Memory|fault|exitcode|Root Cause|rank |ut of memory|Interrupt|oom|Exit|"+
		"CANCELLED|enforce fail", "|")

var (
	ofLine    = regexp.MustCompile(`\[rank ?(\d+)\]`)
	ofPrefix  = regexp.MustCompile(`^(?:\[\d+,(\d+)\]<std\w+>| *(\d{1,6}): )`)
	identity  = regexp.MustCompile(`\[(?:PG (?:ID )?(\S+?)(?: PG GUID ([^\s(]+))?(?: ?\(([^)]*)\))? )?Rank (\d+)\]`)
	work      = regexp.MustCompile(`WorkNCCL\((.*)\) ran for \d+ milliseconds`)
	field     = regexp.MustCompile(`(SeqNum|OpType|NumelIn|NumelOut)=(\w+)`)
	status    = regexp.MustCompile(`(?i)last enqueued (?:NCCL )?work: (-?\d+), last completed (?:NCCL )?work: (-?\d+)`)
	atWork    = regexp.MustCompile(`(?:Timeout at NCCL work|at work|at work sequence id): (\d+)`)
	stuck     = regexp.MustCompile(`watchdog got stuck for|eartbeat monitor timed out`)
	transfer  = regexp.MustCompile(`Timed out waiting \d+ms for (?:send|recv) operation`)
	closed    = regexp.MustCompile(`Connection (?:closed by (?:remote )?|reset by )peer|remote process exited`)
	wrongSize = regexp.MustCompile(`op\.preamble\.length <= op\.nbytes\. (\d+) vs (\d+)`)
	barrier   = regexp.MustCompile(`Ranks? ([\d, ]+) failed to pass monitoredBarrier`)
	exception = regexp.MustCompile(
		`^(?:\[(?:rank|default)\d+\]: ?)?([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\w*)(?::|$)`)
)

// NewLog begins a file; rank is that of its name, or -1.
func NewLog(file string, rank int) *Log {
	return &Log{File: file, Rank: rank, tracedBy: -1, Named: unnamed, last: map[int]int{}}
}

// Read reads the next line of the file; number counts from 1.
func (l *Log) Read(number int, line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	l.LastLine, l.LastText = number, shortened(line)
	l.NCCL = l.NCCL || strings.Contains(line, " NCCL ")
	rank := l.rankOf(line)
	if l.traceback {
		l.readTraceback(number, line, rank)
	} else {
		l.goesOn(line, rank)
	}
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
		return
	}
	e := newEvent(number, rank)
	if m := identity.FindStringSubmatch(line); m != nil {
		e.PG = PG{m[1], m[2], m[3]}
		if e.Desc == "undefined" { // PyTorch's word for none
			e.Desc = ""
		}
		if e.Rank < 0 && e.ofAll() {
			e.Rank = integer(m[4])
		}
	}
	if l.readWork(e, line) || l.readGloo(e, line) || l.readEnd(e, line) {
		return
	}
	if strings.Contains(line, "Traceback (most recent call last)") {
		l.traceback, l.tracedBy = true, rank
	}
}

// rankOf is the rank that a line names, or that of the file.
func (l *Log) rankOf(line string) int {
	named := -1
	if m := ofLine.FindStringSubmatch(line); m != nil {
		named = integer(m[1])
		l.name(named)
	} else if m := ofPrefix.FindStringSubmatch(line); m != nil {
		named = integer(cmp.Or(m[1], m[2]))
	}
	if named < 0 {
		return l.Rank
	}
	return named
}

const (
	unnamed = -1
	several = -2
)

// name keeps the rank that lines name.
func (l *Log) name(rank int) {
	switch l.Named {
	case unnamed:
		l.Named = rank
	case rank:
	default:
		l.Named = several
	}
}

// Belong gives a log whose name has no rank the one that its lines name.
func (l *Log) Belong() {
	if l.Rank >= 0 || l.Named < 0 {
		return
	}
	l.Rank = l.Named
	for i := range l.Events {
		if e := &l.Events[i]; e.Rank < 0 && e.Host == "" {
			e.Rank = l.Rank
		}
	}
}

// ofAll reports whether a group may be that of all ranks, where the rank in it is the global one.
func (g PG) ofAll() bool {
	return g.Desc == "default_pg" || g.Desc == "" && (g.GroupID == "" || g.GroupID == "0")
}

// readWork reads PyTorch's watchdog.
func (l *Log) readWork(e Event, line string) bool {
	switch w, s := work.FindStringSubmatch(line), status.FindStringSubmatch(line); {
	case w != nil:
		e.Kind = Timeout
		l.timedOut = true
		numbers := map[string]*int64{"SeqNum": &e.Seq, "NumelIn": &e.In, "NumelOut": &e.Out}
		for _, f := range field.FindAllStringSubmatch(w[1], -1) {
			if n := numbers[f[1]]; n != nil {
				*n = integer64(f[2])
			} else {
				e.Op = f[2]
			}
		}
	case s != nil:
		e.Kind, e.Enqueued, e.Completed = Status, integer64(s[1]), integer64(s[2])
		if m := atWork.FindStringSubmatch(line); m != nil {
			e.Seq = integer64(m[1])
		}
		l.nameGroup(e, line)
		l.restart(e)
	case stuck.MatchString(line):
		e.Kind = Stuck
	default:
		return false
	}
	l.add(e, line)
	return true
}

// nameGroup gives the timeout that a status repeats the group of the status: the line of the timeout may name none. Its
// rank was then that in the group.
func (l *Log) nameGroup(s Event, line string) {
	rank := s.Rank
	if m := identity.FindStringSubmatch(line); m != nil && rank < 0 {
		rank = integer(m[4])
	}
	for i := range l.Events {
		e := &l.Events[i]
		if e.Kind == Timeout && e.PG == (PG{}) && e.Rank == rank && e.Seq == s.Seq {
			e.PG, e.Rank = s.PG, s.Rank
		}
	}
}

// restart drops what a rank printed before its numbers went backwards: logs may go on after a restart.
func (l *Log) restart(s Event) {
	old := len(l.Events) - 1
	for ; old >= 0; old-- { // the last status of the group
		if e := &l.Events[old]; e.Kind == Status && e.Rank == s.Rank && e.PG == s.PG {
			break
		}
	}
	if old < 0 || s.PG == (PG{}) || s.Enqueued < 0 || s.Enqueued >= l.Events[old].Completed {
		return
	}
	for i := range l.Events {
		e := &l.Events[i]
		if e.Rank != s.Rank {
			continue
		}
		if i > old && e.Kind == Timeout && e.Seq == s.Seq { // precedes its status
			break
		}
		e.Kind = Past
	}
}

// readGloo reads Gloo's errors and monitored_barrier.
func (l *Log) readGloo(e Event, line string) bool {
	switch m := barrier.FindStringSubmatch(line); {
	case m != nil:
		e.Kind = Barrier
		if in := identity.FindStringSubmatch(line); in != nil && e.Rank >= 0 && integer(in[4]) != e.Rank {
			e.Kind = Aftermath // of a group whose members are unknown
			break
		}
		for _, word := range strings.FieldsFunc(m[1], func(c rune) bool { return c == ',' || c == ' ' }) {
			e.Ranks = append(e.Ranks, integer(word))
		}
	case transfer.MatchString(line):
		e.Kind = Transfer
	case wrongSize.MatchString(line):
		e.Kind = WrongSize
		sizes := wrongSize.FindStringSubmatch(line)
		e.In, e.Out = integer64(sizes[1]), integer64(sizes[2])
	case closed.MatchString(line):
		e.Kind = Closed
	default:
		return false
	}
	l.add(e, line)
	return true
}

func newEvent(line, rank int) Event {
	return Event{Line: line, Rank: rank, Seq: -1, In: -1, Out: -1, Enqueued: -1, Completed: -1}
}

func (l *Log) add(e Event, line string) {
	if len(l.Events) < maxEvents {
		e.File, e.Text = l.File, shortened(line)
		l.Events = append(l.Events, e)
	}
}

const maxText = 240

func shortened(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > maxText {
		return strings.ToValidUTF8(line[:maxText], "") + "…"
	}
	return strings.Clone(line)
}

func integer(text string) int { return int(min(integer64(text), 1<<31-1)) }

func integer64(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
