package watchdog

import (
	"regexp"
	"slices"
	"strings"
)

var (
	tasksEnded = regexp.MustCompile(`error: (\S+): tasks? ([\d,-]+): ` +
		`(Killed|Out Of Memory|Segmentation fault|Bus error|Exited with exit code)`)
	mpirunEnd = regexp.MustCompile(`process rank (\d+) with PID \d+ on node \S+ exited on signal (\d+)`)
	crashed   = regexp.MustCompile(`(?:Fatal Python error: |^)(?:Segmentation fault|Bus error)`)
	outOfMem  = regexp.MustCompile(`Out of memory: Killed process|oom_kill event|oom-kill`)
	rootRank  = regexp.MustCompile(`^\W*rank +: (\d+)`)
	rootCode  = regexp.MustCompile(`^\W*exitcode +: (-?\d+)`)
)

// communication is in the messages of exceptions that follow from a failure elsewhere.
var communication = strings.Split(
	"NCCL|nccl|gloo|c10d|DistBackendError|DistNetworkError|DistStoreError|SignalException|KeyboardInterrupt|"+
		"ChildFailedError|ProcessExitedException|ProcessRaisedException|monitoredBarrier|Connection|onnection closed|"+
		"timed out|Timed out|Broken pipe|TCPStore|RendezvousConnectionError|SystemExit|killed by signal: Terminated|"+
		"exited unexpectedly|SIGTERM", "|")

// launchers is in lines that launchers, and the libraries of a process that ends, print behind an exception.
var launchers = regexp.MustCompile(`torch[/.]distributed|torchrun|srun: |slurmstepd: |slurm_|mpirun|prterun|prte|` +
	`closing signal|resource_tracker|Warning: |^(?:\[rank\d+\]: ?)?\[?[WEIFC]\d+ |Primary job|MPI_ABORT|` +
	`^\W*$|^(?:\[rank\d+\]: ?)?(?:\s|CUDA kernel errors|For debugging consider|Compile with|Exception raised from|` +
	`frame #|Exception ignored|Traceback \(most recent|terminate called|Device-side assert)`)

// goesOn drops the last exception of a rank that prints other lines behind it: the program caught it, or another
// exception took its place.
func (l *Log) goesOn(line string, rank int) {
	at, is := l.last[rank]
	if !is || l.unwound || launchers.MatchString(line) {
		return
	}
	delete(l.last, rank)
	l.Events[at].Kind = Past
}

// readTraceback finds the exception at the end of a traceback.
func (l *Log) readTraceback(number int, line string, rank int) {
	m := exception.FindStringSubmatch(line)
	if m == nil || rank != l.tracedBy {
		return
	}
	l.traceback = false
	if strings.Contains(m[1], "ChildFailedError") {
		l.unwound = true
		return
	}
	if at, is := l.last[rank]; is {
		l.Events[at].Kind = Past
	}
	e := newEvent(number, rank)
	e.Kind, e.Reason = Death, ByException
	if slices.ContainsFunc(communication, func(w string) bool { return strings.Contains(line, w) }) {
		e.Kind = Aftermath
	}
	if l.cancelled || l.signalled {
		e.Kind = Aftermath
	}
	if strings.Contains(m[1], "OutOfMemory") || strings.Contains(line, "CUDA out of memory") {
		e.Reason = ByMemory
	}
	delete(l.last, rank)
	if e.Kind == Death && len(l.Events) < maxEvents {
		l.last[rank] = len(l.Events)
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
	case strings.Contains(line, "closing signal SIGTERM"):
		l.signalled = true
		return true
	case l.root != nil && l.readRoot(line):
		return true
	case strings.Contains(line, "Root Cause (first observed failure)"):
		e.Rank, e.Launcher = -1, true
		l.root = &e
		return true
	case tasksEnded.MatchString(line):
		m := tasksEnded.FindStringSubmatch(line)
		e.End = End{BySignal, true, m[1]}
		switch m[3] {
		case "Out Of Memory":
			e.Reason = ByMemory
		case "Exited with exit code":
			e.Kind = Exit
		}
		for _, rank := range list(m[2]) {
			e.Rank = rank
			l.addEnd(e, line)
		}
		return true
	case mpirunEnd.MatchString(line):
		m := mpirunEnd.FindStringSubmatch(line)
		e.Rank, e.Reason, e.Launcher = integer(m[1]), BySignal, true
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
	if !strings.HasPrefix(m[1], "-") {
		root.Kind = Exit
		l.add(root, line)
	} else {
		root.Reason = BySignal
		n := integer(strings.TrimPrefix(m[1], "-"))
		if follows(n) {
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
	if e.Kind == Death && (l.cancelled || l.timedOut) {
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
