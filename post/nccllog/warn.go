package nccllog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxMessages is how many different warnings are kept; beyond, numbers no longer tell them apart.
const maxMessages = 500

// warn keeps a warning or an error once.
func (r *Reader) warn(p *process, m message, stamp string) {
	text, place := strings.TrimSpace(m.text), m.place
	w := r.warned(
		m.level+" "+place+" "+anyAddress(text),
		Message{Text: text, Level: m.level, Place: place, First: stamp},
	)
	if w == nil {
		return
	}
	w.who.add(p)
	addDevice(&w.Devices, m.device)
}

// warned counts a message, and keeps it where there is none of this key; nil where there is no room for it.
func (r *Reader) warned(key string, m Message) *warning {
	w := r.warnings[key]
	if w == nil && len(r.warnings) >= maxMessages {
		key = m.Level + " " + shape(m.Text)
		if w = r.warnings[key]; w == nil && len(r.warnings) >= 2*maxMessages {
			r.unkept++
			return nil
		}
	}
	if w == nil {
		m.Text, m.Place, m.First = kept(m.Text), kept(m.Place), kept(m.First)
		m.File, m.Line = len(r.log.Files)-1, r.line
		w = &warning{Message: m}
		r.warnings[strings.Clone(key)] = w
		r.said = append(r.said, w)
	}
	w.Times++
	return w
}

// timeouts are what PyTorch says when it gives up on NCCL, in lines that are not NCCL's.
var timeouts = []string{"Watchdog caught collective operation timeout", "eartbeat monitor timed out"}

// framework keeps a time-out of PyTorch's, once for those that differ in ranks and numbers alone.
func (r *Reader) framework(line string) bool {
	i := slices.IndexFunc(timeouts, func(t string) bool { return strings.Contains(line, t) })
	if i < 0 {
		return false
	}
	r.related = true
	r.timedOut(line)
	r.warned("PyTorch "+timeouts[i], Message{Text: strings.TrimSpace(line), Level: "PyTorch"})
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
	r.log.TimedOut = append(r.log.TimedOut, TimedOut{kept(m[1]), rank, call, kept(m[4]), elements})
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
	r.warned("WARN "+shape(text), Message{Text: text, Level: "WARN"})
	return true
}

// programErrors are what lines have that are not NCCL's, and report that the program or a command around it failed.
var programErrors = []string{
	"NCCL failure", "CUDA failure", "Cuda failure", "HIP failure", "Test failure", "NCCL error", "CUDA error",
	"HIP error",
	"ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError", "ncclInvalidArgument", "ncclInvalidUsage",
	"ncclRemoteError",
	"Traceback (most recent call last)", "Segmentation fault", "core dumped", "Bus error", "SIGBUS", "exited on signal",
	"non-zero exit",
	"oom-kill", "oom_kill", "of memory: Kill", "SIGKILL", "exitcode: -9", "ncclUniqueId from", "NCCL WARN",
	"NCCL operation", "NVRM: Xid",
}

// ofLibrary is what shows that a line is NCCL's although its mark is missing: an address in its form, or a place in its
// source.
var ofLibrary = regexp.MustCompile(`[\d\]]<\d+>|\b((?:init|bootstrap|proxy|enqueue|argcheck|net|net_ib|\w*socket|p2p|` +
	`shm|nvls|\w+wrap|alloc)\.(?:cc|h):\d+)`)

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

// oldWarning is a warning of NCCL before 2.3, whose mark is WARN alone.
var oldWarning = regexp.MustCompile(`\S:\d+:\d+ \[\d+\] (\S+\.(?:cu|cc|h):\d+) WARN (.+)$`)

// old keeps a warning of NCCL before 2.3.
func (r *Reader) old(line string) bool {
	if !strings.Contains(line, " WARN ") {
		return false
	}
	m := oldWarning.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	r.related = true
	r.warned("WARN "+m[1]+" "+anyAddress(m[2]), Message{Text: strings.TrimSpace(m[2]), Level: "WARN", Place: m[1]})
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
	r.warned(programLevel+" "+shape(m.Text), m)
	return true
}

// warning is a message while it is read.
type warning struct {
	Message
	who who
}

// shape is a text with numbers as N.
func shape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := run(s, i, "0123456789")
		if strings.HasPrefix(s[i:], "0x") && run(s, i+2, "0123456789abcdefABCDEF") > i+2 {
			n = run(s, i+2, "0123456789abcdefABCDEF")
		}
		if n > i {
			b.WriteByte('N')
			i = n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// anyAddress takes out of a text what differs between places where the same happened: pointers and ports.
func anyAddress(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "0x"):
			b.WriteString("0x")
			i = run(s, i+2, "0123456789abcdefABCDEF")
		case s[i] == '<':
			b.WriteByte('<')
			i = run(s, i+1, "0123456789")
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// backtrace reads where an error went through: "init.cc:1798 -> 6 [Async thread]". In progress is no error.
func (r *Reader) backtrace(p *process, m message, stamp string) verdict {
	c := cursor{m.text}
	var file string
	var line, code int
	if !c.all("%:% -> %", &file, &line, &code) || strings.ContainsAny(file, " \t") || !strings.Contains(file, ".") {
		return unknown
	}
	if code == inProgress || code == 0 {
		return passed
	}
	m.level = "FAIL"
	r.warn(p, m, stamp)
	return understood
}

// inProgress is ncclInProgress.
const inProgress = 7
