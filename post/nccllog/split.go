package nccllog

import (
	"regexp"
	"strconv"
	"strings"

	"busbar/post/nccllog/logline"
)

// head is the text before a message: host:pid:tid [device], and of a warning the place in the source.
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

// maxHead is the maximum number of words between host:pid:tid and the mark: [device][thread], time, place, (function).
const maxHead = 6

// header finds host:pid:tid at the end of seg, which ends at the mark, and returns where the host begins. The host may
// begin with the end of other text. Without a header, ok is false and start is the begin of the message's place, or its
// mark.
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
	for at > 0 && (logline.Wordly(w[at-1]) || w[at-1] == '-' || w[at-1] == '.') {
		at--
	}
	return w[at:a], pid, tid, at, at < a && !clock.MatchString(w[at:])
}

// clock is a time of day, which has the form of a header.
var clock = regexp.MustCompile(`^(\d+-\d\d-\d\dT)?\d\d:\d\d:\d\d$`)

// behindTID reads the text between the thread and the mark: " [0] transport/net.cc:12 (func) ".
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

// launchers are what launchers and collectors of logs put before each line; NCCL's time stamps; the prefix of glog,
// which NCCLX has.
var launchers = regexp.MustCompile(`^(?:[ \t]*(?:` + strings.Join([]string{
	`\[[^\]\s]+\]<std\w+>:? ?`,
	`std(?:out|err) [FP] `, // of Kubernetes' container runtime, behind a time
	`(?:\w{3}\s+\d+\s)?\d\d:\d\d:\d\d(?:[.,]\d+)?\s`,
	`[a-z][a-z0-9.-]*-[a-z0-9]+ [a-z][a-z0-9-]* +$`, // pod and container
	`\w{3}\s\w{3}\s+\d+\s[\d:]{8}\s\d{4}(?:<std\w+>:?|:)\s?`,
	`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[\]:]* ?`,
	`\[?[IWEF]\d{4,8}\s\d\d:\d\d:\d\d(?:\.\d+)?\s+\d+\s[^\s\]]+\]\s?`,
	`\d+: ?`,
	`\[\d+\] ?`,
	`\[(?:default|rank)?\d+\]: ?`,
	`\[pod/[^\]]+\] ?`,
	`[\w./-]+ +\| ?`,
	`\([\w =.,/-]+\) ?`,
	`[A-Za-z][\w./-]*: `,
	`[A-Za-z][\w./-]* ?\[[\w./:-]+\]:? `,
	`> ?`,
}, "|") + `))+`)

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

// unprefixed is the text before a header without the prefixes of launchers, and without the file name that grep puts
// before each line.
func unprefixed(s string) (rest, file string) {
	if s == "" || another.MatchString(s) && another.MatchString(clocks.ReplaceAllString(s, " ")) ||
		strings.Contains(s, mark) {
		return s, ""
	}
	if m := searched.FindStringSubmatch(s); m != nil {
		file, s = m[1], s[len(m[0]):]
	}
	s = launchers.ReplaceAllString(s, "")
	rest = strings.TrimSpace(s)
	if rest != "" && strings.HasSuffix(s, " ") && strings.IndexByte(":|>])", rest[len(rest)-1]) >= 0 {
		rest = "" // a prefix of another kind
	}
	return rest, file
}
