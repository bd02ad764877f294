package nccllog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxMessages is how many different warnings are kept; beyond, numbers no longer make a difference.
const maxMessages = 500

// warn keeps a warning or an error once.
func (r *Reader) warn(p *process, m message) {
	text := strings.TrimSpace(m.text)
	r.warned(p, m.level+" "+m.place+" "+address.ReplaceAllString(text, "$1$2"),
		Message{Text: text, Level: m.level, Place: m.place})
}

// warned counts a message, and keeps the first of each key.
func (r *Reader) warned(p *process, key string, m Message) {
	type text string
	if _, known := r.index[text(key)]; !known && len(r.log.Messages) >= maxMessages {
		key = m.Level + " " + shape(m.Text)
	}
	m.File, m.Line = len(r.log.Files)-1, r.line
	w := row(r, &r.log.Messages, text(key), m)
	w.Times++
	p.by(&w.Processes)
}

// timeouts are what PyTorch prints when it gives up on NCCL, in lines that are not NCCL's.
var timeouts = regexp.MustCompile(`Watchdog caught collective operation timeout|eartbeat monitor timed out`)

// framework keeps a time-out of PyTorch's, once for those that differ in ranks and numbers alone.
func (r *Reader) framework(line string) bool {
	timeout := timeouts.FindString(line)
	if timeout == "" {
		return false
	}
	r.related = true
	r.timedOut(line)
	r.warned(nil, "PyTorch "+timeout, Message{Text: strings.TrimSpace(line), Level: "PyTorch"})
	return true
}

// watchdog is what PyTorch's watchdog prints when it gives up: process group, rank, and the collective it waited for.
var watchdog = regexp.MustCompile(
	`\[(?:PG (.*?) )?Rank (\d+)\].*WorkNCCL\(.*?SeqNum=(\d+), OpType=(\w+)(?:, NumelIn=(\d+))?`,
)

// timedOut keeps the collective for which a rank waited in vain, the first of each process group.
func (r *Reader) timedOut(line string) {
	m := watchdog.FindStringSubmatch(line)
	if m == nil || len(r.log.TimedOut) >= maxRAS {
		return
	}
	rank, err := strconv.Atoi(m[2])
	call, err2 := strconv.ParseInt(m[3], 10, 64)
	if err != nil || err2 != nil || slices.ContainsFunc(r.log.TimedOut, func(t TimedOut) bool {
		return t.Group == m[1] && t.Rank == rank
	}) {
		return
	}
	elements, _ := strconv.ParseInt(m[5], 10, 64)
	r.log.TimedOut = append(r.log.TimedOut, TimedOut{m[1], rank, call, m[4], elements})
}

// lastErrorPrefix is what launchers put before a line of a program's output.
var lastErrorPrefix = regexp.MustCompile(`^(\[[^\]]*\]:? *|\([^)]*\) *)+`)

// lastError keeps the warning of NCCL that PyTorch quotes below a line "Last error:".
func (r *Reader) lastError(line string) bool {
	text := strings.TrimSpace(lastErrorPrefix.ReplaceAllString(line, ""))
	if !r.quotes || text == "" {
		r.quotes = r.quotes || strings.HasSuffix(text, "Last error:")
		return false
	}
	r.quotes, r.related = false, true
	r.warned(nil, "WARN "+shape(text), Message{Text: text, Level: "WARN"})
	return true
}

// programErrors are what lines have that are not NCCL's, and report that the program or a command around it failed.
var programErrors = strings.Split(
	"NCCL failure|CUDA failure|Cuda failure|HIP failure|Test failure|NCCL error|CUDA error|HIP error|"+
		"ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclInvalidArgument|ncclInvalidUsage|"+
		"ncclRemoteError|Traceback (most recent|Segmentation fault|core dumped|Bus error|SIGBUS|exited on signal|"+
		"non-zero exit|oom-kill|oom_kill|of memory: Kill|SIGKILL|exitcode: -9|ncclUniqueId from|NCCL WARN|"+
		"NCCL operation|NVRM: Xid", "|")

// ofLibrary is what shows that a line is NCCL's although its mark is missing: an address in its form, or a place in its
// source.
var ofLibrary = regexp.MustCompile(`[\d\]]<\d+>|\b((?:init|bootstrap|proxy|enqueue|argcheck|net|net_ib|\w*socket|p2p|` +
	`shm|nvls|\w+wrap|alloc)\.(?:cc|cu|h):\d+)`)

// maxTried is how many lines of a file without NCCL's mark are compared with all messages, which takes time.
const maxTried = 2000

// bareInfo is a line that NCCL prints as INFO, quoted without its mark.
var bareInfo = regexp.MustCompile(
	`^(?:\[[^\]]*\]:? *)*(NET/(?:IB|Socket|OFI|Plugin) ?:|Using network |NCCL_\w+ set by)`,
)

// bare reads such a line, where no line of the file has a header.
func (r *Reader) bare(line string, ended bool) bool {
	at := bareInfo.FindStringSubmatchIndex(line)
	if at == nil || r.headers {
		return false
	}
	r.debugLine(mark+"INFO "+line[at[2]:], ended)
	return true
}

// reports are words by which a program reports an error: ERROR and FATAL by themselves, which a variable's name is not,
// and "Error: " at the beginning of a line or behind the name of an exception or a program, but not before a number,
// which is a value that somebody prints.
var reports = regexp.MustCompile(`\b(ERROR|FATAL)\b|(^|[>\]|:] ?|\w)([Ee]rror|Exception): *[^\s\d.+-]`)

// reportWords are those of reports.
var reportWords = []string{"rror:", "Exception:", "ERROR", "FATAL"}

// programLevel is that of such lines.
const programLevel = "program"

// programError keeps a line that reports an error, or is a message of NCCL's quoted without its mark.
func (r *Reader) programError(line string) bool {
	has := func(word string) bool { return strings.Contains(line, word) }
	m := Message{Text: strings.TrimSpace(line), Level: programLevel}
	known := false
	if r.tried++; r.tried <= maxTried {
		sign := ofLibrary.FindStringSubmatch(m.Text)
		if sign != nil {
			m.Place = sign[1]
		}
		e := explain(m)
		known = e != nil && (sign != nil || !e.generic)
	}
	// Most lines have none of the words that the pattern needs, which is slower.
	if !known && !slices.ContainsFunc(programErrors, has) &&
		(!slices.ContainsFunc(reportWords, has) || !reports.MatchString(line)) {
		return false
	}
	r.related = r.related || known || strings.Contains(strings.ToUpper(m.Text), "NCCL")
	r.warned(nil, programLevel+" "+shape(m.Text), m)
	return true
}

// What differs between places where the same happened: numbers, and of them pointers and ports.
var (
	anyNumber = regexp.MustCompile(`0x[0-9a-fA-F]+|\d+`)
	address   = regexp.MustCompile(`(0x)[0-9a-fA-F]*|(<)\d*`)
)

// shape is a text with numbers as N.
func shape(s string) string { return anyNumber.ReplaceAllString(s, "N") }

// passedOn is how an error went through: "init.cc:1798 -> 6 [Async thread]". Code 7 is ncclInProgress, and no error.
var passedOn = regexp.MustCompile(`^[^\s:]*\.[^\s:]*:\d+ -> ([1-689]|\d\d+)(?:[\s,.;)]|$)`)

// readBacktrace keeps such a line.
func readBacktrace(r *Reader, p *process, m message) bool {
	is := passedOn.MatchString(m.text)
	if is {
		m.level = failed
		r.warn(p, m)
	}
	return is
}

// inProgress is ncclInProgress.
const inProgress = 7
