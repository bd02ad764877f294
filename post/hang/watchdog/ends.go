package watchdog

import (
	"regexp"
	"slices"
	"strings"
)

var (
	tasksEnded = regexp.MustCompile(`error: \S+: tasks? ([\d,-]+): (Killed|Out Of Memory|Segmentation fault|Bus error)`)
	mpirunEnd  = regexp.MustCompile(`process rank (\d+) with PID \d+ on node \S+ exited on signal (\d+)`)
	crashed    = regexp.MustCompile(`(?:Fatal Python error: |^)(?:Segmentation fault|Bus error)`)
	outOfMem   = regexp.MustCompile(`Out of memory: Killed process|oom_kill event|oom-kill`)
	rootRank   = regexp.MustCompile(`^\W*rank +: (\d+)`)
	rootCode   = regexp.MustCompile(`^\W*exitcode +: (-?\d+)`)
)

// communication is in the messages of exceptions that follow from a failure elsewhere.
var communication = []string{
	"NCCL", "nccl", "gloo", "c10d", "DistBackendError", "DistNetworkError", "DistStoreError", "SignalException",
	"KeyboardInterrupt", "ChildFailedError", "ProcessExitedException", "ProcessRaisedException", "monitoredBarrier",
	"Connection", "onnection closed", "timed out", "Timed out", "Broken pipe", "TCPStore", "RendezvousConnectionError",
	"SystemExit",
}

// readTraceback finds the exception at the end of a traceback.
func (l *Log) readTraceback(number int, line string, rank int) {
	m := exception.FindStringSubmatch(line)
	if m == nil || rank != l.tracedBy {
		return
	}
	l.traceback = false
	e := newEvent(number, rank)
	e.Kind, e.Reason = Death, ByException
	if slices.ContainsFunc(communication, func(w string) bool { return strings.Contains(line, w) }) {
		e.Kind = Aftermath
	}
	if strings.Contains(m[1], "OutOfMemory") || strings.Contains(line, "CUDA out of memory") {
		e.Reason = ByMemory
	}
	l.add(e, line)
}

// readEnd reads how launchers and the system report the end of a process.
func (l *Log) readEnd(e Event, line string) bool {
	e.Kind = Death
	switch {
	case strings.Contains(line, " CANCELLED AT "):
		l.cancelled = true
		return true
	case l.root != nil && l.readRoot(line):
		return true
	case strings.Contains(line, "Root Cause (first observed failure)"):
		e.Rank = -1
		l.root = &e
		return true
	}
	if m := tasksEnded.FindStringSubmatch(line); m != nil {
		e.Reason = BySignal
		if m[2] == "Out Of Memory" {
			e.Reason = ByMemory
		}
		for _, e.Rank = range list(m[1]) {
			l.addEnd(e, line)
		}
		return true
	}
	switch m := mpirunEnd.FindStringSubmatch(line); {
	case m != nil:
		e.Rank, e.Reason = integer(m[1]), BySignal
		if follows(integer(m[2])) {
			e.Kind = Aftermath
		}
	case crashed.MatchString(line):
		e.Reason = BySignal
	case outOfMem.MatchString(line):
		e.Reason = ByMemory
	default:
		return false
	}
	l.addEnd(e, line)
	return true
}

// readRoot reads the lines below torchrun's root cause: rank, then exit code.
func (l *Log) readRoot(line string) bool {
	if m := rootRank.FindStringSubmatch(line); m != nil {
		l.root.Rank = integer(m[1])
		return true
	}
	m := rootCode.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	root := *l.root
	l.root = nil
	if signal, is := strings.CutPrefix(m[1], "-"); is {
		root.Reason = BySignal
		if follows(integer(signal)) {
			root.Kind = Aftermath
		}
		l.addEnd(root, line)
	}
	return true
}

// follows reports whether a signal usually follows from a timeout or another rank's end: abort, terminate.
func follows(signal int) bool { return signal == 6 || signal == 15 }

// addEnd adds the end of a process; after a timeout or the end of the job in the same file it follows from that.
func (l *Log) addEnd(e Event, line string) {
	if l.cancelled || l.timedOut {
		e.Kind = Aftermath
	}
	l.add(e, line)
}

// list reads Slurm's lists of tasks: "0-2,5".
func list(text string) (all []int) {
	const most = 1 << 16
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		lo, hi := integer(from), integer(to)
		if !isRange {
			hi = lo
		}
		for n := lo; n >= 0 && n <= hi && len(all) < most; n++ {
			all = append(all, n)
		}
	}
	return all
}
