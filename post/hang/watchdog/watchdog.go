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
	Kind                Kind
	File                string
	Line                int
	Rank                int
	GroupID             string // PG number, which is local to the process
	Group               string // name or description; "" if the line has none
	Seq                 int64  // of the collective, or the work that failed; -1 if unknown
	Op                  string
	In, Out             int64 // elements; -1 if unknown
	Enqueued, Completed int64 // -1 if unknown
	Ranks               []int // of Barrier
	Reason              Reason
	Text                string // as printed, shortened
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

	traceback bool   // a Python traceback is open
	tracedBy  int    // the rank that prints it
	timedOut  bool   // the watchdog gave up
	cancelled bool   // Slurm ended the job
	root      *Event // the root cause that torchrun prints
}

// words are one for each kind of line, so that other lines cost little.
var words = []string{
	"WorkNCCL(", "nqueued", "eartbeat", "watchdog", "gloo", "onnection", "Timed out waiting", "monitoredBarrier",
	"Traceback", "Error", "Exception", "ignal", "Killed", "Out Of Memory", "fault", "exitcode", "Root Cause", "rank ",
	"ut of memory", "Interrupt", "oom", "Exit", "CANCELLED", "enforce fail",
}

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
func NewLog(file string, rank int) *Log { return &Log{File: file, Rank: rank, tracedBy: -1} }

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
	}
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
		return
	}
	e := newEvent(number, rank)
	if m := identity.FindStringSubmatch(line); m != nil {
		e.GroupID, e.Group = m[1], cmp.Or(m[3], m[2])
		if e.Rank < 0 && (e.Group == "" || e.Group == "default_pg") {
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
	if m := ofLine.FindStringSubmatch(line); m != nil {
		return integer(m[1])
	}
	if m := ofPrefix.FindStringSubmatch(line); m != nil {
		return integer(cmp.Or(m[1], m[2]))
	}
	return l.Rank
}

// readWork reads PyTorch's watchdog.
func (l *Log) readWork(e Event, line string) bool {
	switch w, s := work.FindStringSubmatch(line), status.FindStringSubmatch(line); {
	case w != nil:
		e.Kind = Timeout
		l.timedOut = true
		for _, f := range field.FindAllStringSubmatch(w[1], -1) {
			switch f[1] {
			case "SeqNum":
				e.Seq = integer64(f[2])
			case "OpType":
				e.Op = f[2]
			case "NumelIn":
				e.In = integer64(f[2])
			case "NumelOut":
				e.Out = integer64(f[2])
			}
		}
	case s != nil:
		e.Kind, e.Enqueued, e.Completed = Status, integer64(s[1]), integer64(s[2])
		if m := atWork.FindStringSubmatch(line); m != nil {
			e.Seq = integer64(m[1])
		}
		l.nameGroup(e)
	case stuck.MatchString(line):
		e.Kind = Stuck
	default:
		return false
	}
	l.add(e, line)
	return true
}

// nameGroup gives the timeout that a status repeats the group of the status: the line of the timeout may name none.
func (l *Log) nameGroup(s Event) {
	for i := range l.Events {
		e := &l.Events[i]
		if e.Kind == Timeout && e.Group == "" && e.GroupID == "" && e.Rank == s.Rank && e.Seq == s.Seq {
			e.Group, e.GroupID = s.Group, s.GroupID
		}
	}
}

// readGloo reads Gloo's errors and monitored_barrier.
func (l *Log) readGloo(e Event, line string) bool {
	switch m := barrier.FindStringSubmatch(line); {
	case m != nil:
		e.Kind = Barrier
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
