package nccllog

import (
	"regexp"
	"strconv"
	"strings"
)

// head is what stands before a message: host:pid:tid [device], and of a warning the place in the source.
type head struct {
	host   string
	pid    int
	tid    int
	device int // Unknown
	place  string
}

// message is one message of the library.
type message struct {
	head
	level string // INFO, WARN, CALL, TRACE, ERROR, ABORT
	text  string
}

const mark = "NCCL "

var levels = []string{"INFO", "WARN", "CALL", "TRACE", "ERROR", "ABORT"}

// marked finds the first mark of a message with its level in a line; at is where it begins, end where the text behind
// it does. Without one, level is empty.
func marked(line string) (at, end int, level string) {
	for from := 0; ; from = end {
		at = strings.Index(line[from:], mark)
		if at < 0 {
			return 0, 0, ""
		}
		at += from
		end = at + len(mark)
		for _, level := range levels {
			rest, ok := strings.CutPrefix(line[end:], level)
			if ok && (rest == "" || rest[0] == ' ') {
				return at, end + len(level), level
			}
		}
	}
}

// maxHead is how many words may stand between host:pid:tid and the mark: [device][thread], time, place, (function).
const maxHead = 6

// header finds host:pid:tid at the end of seg, which ends where the mark begins, and says where the host begins. The
// host may have the end of other text at its front. Without one, ok is false and start is where the message's place
// begins, or its mark.
func header(seg string) (h head, start int, ok bool) {
	end := len(seg)
	for range maxHead {
		for end > 0 && seg[end-1] == ' ' {
			end--
		}
		from := strings.LastIndexByte(seg[:end], ' ') + 1
		if host, pid, tid, at, found := threeParts(seg[from:end]); found {
			h = head{host: host, pid: pid, tid: tid, device: Unknown}
			if ok = behindTID(&h, seg[end:]); !ok {
				return h, len(seg), false
			}
			return h, from + at, true
		}
		end = from
		if end == 0 {
			break
		}
	}
	h.device = Unknown
	if m := sourcePlace.FindStringSubmatchIndex(seg); m != nil {
		h.place = seg[m[2]:m[3]]
		return h, m[2], false
	}
	return h, len(seg), false
}

// threeParts reads host:pid:tid at the end of a word.
func threeParts(w string) (host string, pid, tid, at int, ok bool) {
	b := strings.LastIndexByte(w, ':')
	if b <= 0 {
		return "", 0, 0, 0, false
	}
	a := strings.LastIndexByte(w[:b], ':')
	if a <= 0 {
		return "", 0, 0, 0, false
	}
	pid, err := strconv.Atoi(w[a+1 : b])
	if err != nil || pid < 0 {
		return "", 0, 0, 0, false
	}
	if tid, err = strconv.Atoi(w[b+1:]); err != nil || tid < 0 {
		return "", 0, 0, 0, false
	}
	at = a
	for at > 0 && (wordly(w[at-1]) || w[at-1] == '-' || w[at-1] == '.') {
		at--
	}
	return w[at:a], pid, tid, at, at < a && !clock.MatchString(w[at:])
}

// clock is a time of day, which has the form of a header.
var clock = regexp.MustCompile(`^(\d+-\d\d-\d\dT)?\d\d:\d\d:\d\d$`)

// behindTID reads what stands between the thread and the mark: " [0] transport/net.cc:12 (func) ".
func behindTID(h *head, s string) bool {
	s = strings.TrimSpace(s)
	for n := 0; strings.HasPrefix(s, "["); n++ {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return false
		}
		if n == 0 {
			if d, err := strconv.Atoi(s[1:end]); err == nil && d >= -1 && d < 1<<16 {
				h.device = d
			}
		}
		s = strings.TrimSpace(s[end+1:])
	}
	h.place = s
	return true
}

// before is what was found before the first header of a line.
type before struct {
	label string // of the launcher
	file  string // that grep names before each line
	stamp string // time
	junk  bool   // there is more, which no launcher writes: the end of something else
}

// launchers are what launchers and collectors of logs put before each line; NCCL's time stamps; the prefix of glog,
// which NCCLX has.
var launchers = []struct {
	re    *regexp.Regexp
	stamp bool
}{
	{regexp.MustCompile(`^\[[^\]\s]+\]<std\w+>:? ?`), false},
	{regexp.MustCompile(`^std(?:out|err) [FP] `), false}, // of Kubernetes' container runtime, behind a time
	{regexp.MustCompile(`^(\w{3} +\d+ )?\d\d:\d\d:\d\d([.,]\d+)? `), true},
	{regexp.MustCompile(`^[a-z][a-z0-9.-]*-[a-z0-9]+ [a-z][a-z0-9-]* +$`), false}, // pod and container
	{regexp.MustCompile(`^\w{3} \w{3} +\d+ [\d:]{8} \d{4}(<std\w+>:?|:) ?`), true},
	{regexp.MustCompile(`^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?[\]:]* ?`), true},
	{regexp.MustCompile(`^\[?[IWEF]\d{4,8} \d\d:\d\d:\d\d(\.\d+)? +\d+ [^\s\]]+\] ?`), true},
	{regexp.MustCompile(`^ *\d+: ?`), false},
	{regexp.MustCompile(`^\[\d+\] ?`), false},
	{regexp.MustCompile(`^\[(default|rank)?\d+\]: ?`), false},
	{regexp.MustCompile(`^\[pod/[^\]]+\] ?`), false},
	{regexp.MustCompile(`^[\w./-]+ +\| ?`), false},
	{regexp.MustCompile(`^\([\w =.,/-]+\) ?`), false},
	{regexp.MustCompile(`^[A-Za-z][\w./-]*: `), false},
	{regexp.MustCompile(`^[A-Za-z][\w./-]* ?\[[\w./:-]+\]:? `), false},
	{regexp.MustCompile(`^> ?`), true},
}

// searched is what grep puts before each line: a file's name, which has a dot or a slash, and perhaps the line's
// number.
var searched = regexp.MustCompile(`^([\w@+/-]*[./][\w.@+/-]*):(\d+:)?`)

// sourcePlace is where a message comes from in the source, before its mark; without host:pid:tid it is all that names
// one. Plugins name the function instead of the file.
var sourcePlace = regexp.MustCompile(
	`(?:^|[ \]:])([\w./+-]+(?:\.(?:cc|cu|c|h|cpp|hpp)|[a-z]_[a-z]\w*):\d+)(?: \(\w+\))? *$`,
)

// another looks like a header: what it belongs to was cut.
var another = regexp.MustCompile(`:\d+:\d+ ?(\[-?\d*\]? ?)?$`)

// clocks are times of day, which are no part of a header.
var clocks = regexp.MustCompile(`(^|[ T\[])\d\d:\d\d:\d\d\b`)

const maxLaunchers = 5

// prefix reads what stands before a header.
func prefix(s string) (b before) {
	if another.MatchString(s) && another.MatchString(clocks.ReplaceAllString(s, " ")) || strings.Contains(s, mark) {
		return before{junk: true}
	}
	if m := searched.FindStringSubmatch(s); m != nil {
		b.file, b.label, s = m[1], m[0], s[len(m[0]):]
	}
	for range maxLaunchers {
		s = strings.TrimLeft(s, " \t")
		found := false
		for _, l := range launchers {
			m := l.re.FindString(s)
			if m == "" {
				continue
			}
			if l.stamp {
				b.stamp = strings.Trim(m, "[]:> ")
			} else {
				b.label += m
			}
			s, found = s[len(m):], true
			break
		}
		if !found {
			break
		}
	}
	b.label, b.junk = strings.TrimSpace(b.label), strings.TrimSpace(s) != ""
	if b.junk && strings.HasSuffix(s, " ") && strings.IndexByte(":|>])", lastByte(strings.TrimSpace(s))) >= 0 {
		b.label, b.junk = strings.TrimSpace(b.label+s), false
	}
	return b
}

func lastByte(s string) byte { return s[len(s)-1] }
