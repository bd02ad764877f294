package nccllog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/post/input"
	"busbar/post/nccllog/logline"

	"busbar/internal/notice/nccllogs"
)

// Reader reads the files of one run. What it holds grows with the number of different facts, not with that of lines.
// It has many methods because each kind of line that NCCL prints has one.
type Reader struct {
	log   Log
	names map[string]*[]Named // the lists of Log.Network
	index map[any]int         // the rows of the Log's lists, by their keys
	ras   *rasText            // the answer being read

	world
	sequences
	fileState
}

// world is who wrote, and in which communicators.
type world struct {
	procs   map[procKey]*process
	hosts   map[int][]*process // by pid
	order   []*process
	comms   []*communicator
	byID    map[string]*communicator
	unnamed map[sort][]*communicator // those without an id
	seen    map[place]int            // how often a rank or a GPU appeared in them
}

// sequences are the different calls, and how many calls are kept in their order.
type sequences struct {
	calls     map[nccllogs.NCCLCall]*nccllogs.NCCLCall
	positions int
	lost      int64 // calls that were cut
}

// fileState is what matters for further lines of the file that is read.
type fileState struct {
	line    int64
	headers bool     // a message with a header was seen
	related bool     // a program's error about NCCL was seen
	quotes  bool     // the next line is NCCL's last error, as PyTorch quotes it
	tried   int      // lines that were compared with all messages
	row     []string // a row of nccl-tests that has begun
}

// NewReader is a Reader of nothing yet.
func NewReader() *Reader {
	r := &Reader{
		index: map[any]int{},
		world: world{procs: map[procKey]*process{}, hosts: map[int][]*process{}, byID: map[string]*communicator{},
			unnamed: map[sort][]*communicator{}, seen: map[place]int{}},
		sequences: sequences{calls: map[nccllogs.NCCLCall]*nccllogs.NCCLCall{}},
	}
	r.names = r.log.Network.lists()
	return r
}

// mostRows is how many rows each list of a Log has.
const mostRows = 1 << 20

// row returns the row of a list that a key identifies, which begins as first. Where the list is full, it is lost.
func row[T any](r *Reader, list *[]T, key any, first T) *T {
	i, known := r.index[key]
	if !known {
		if len(*list) >= mostRows {
			return &first
		}
		i = len(*list)
		r.index[key] = i
		*list = append(*list, first)
	}
	return &(*list)[i]
}

// NothingError reports a file without anything that this package reads.
type NothingError struct{ Path string }

func (e *NothingError) Error() string {
	return fmt.Sprintf("%s: no message of NCCL in it, nor anything of the Inspector or ncclras", e.Path)
}

// Detect returns the form of a file by its first bytes, already decompressed; false if it is unknown.
func Detect(head []byte) (Form, bool) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	has := func(s string) bool { return bytes.Contains(text, []byte(s)) }
	switch {
	case len(text) > 0 && text[0] == '{' && has(`"header"`) && (has(`"coll_perf"`) || has(`"p2p_perf"`)):
		return InspectorJSON, true
	case len(text) > 0 && text[0] == '{' && has(`"nccl_version"`) && (has(`"communicators`) || has(`"ras"`)):
		return RASJSON, true
	case has("Job summary") && has("Processes") && !has(mark+"INFO ") && !has(mark+"WARN "):
		return RASText, true
	}
	for _, level := range levels {
		if has(mark + level + " ") {
			return Debug, true
		}
	}
	return "", false
}

// Add reads one more file; name is its name in the Log. A file that ends early is no error: the Log records it. The
// error is a *NothingError if the file has nothing known.
func (r *Reader) Add(name string, from io.Reader) error {
	in, err := input.Unpacked(from, logline.HeadBytes)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	head, err := in.Peek(logline.HeadBytes)
	if err != nil && len(head) == 0 && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", name, err)
	}
	form, ok := Detect(head)
	if !ok {
		form = Debug
	}
	r.log.Files = append(r.log.Files, File{Path: name, Form: form})
	f := &r.log.Files[len(r.log.Files)-1]
	r.fileState = fileState{}
	before := r.log.Reading.Said
	switch form {
	case RASJSON:
		r.rasJSON(f, in)
	case RASText:
		r.ras = &rasText{r: r}
		each(r, f, in, r.ras.line)
		r.ras.close()
	case InspectorJSON:
		each(r, f, in, r.inspectorLine)
	default:
		each(r, f, in, r.debugLine)
		if r.log.Reading.Said == before && !ok && !r.related {
			r.log.Files = r.log.Files[:len(r.log.Files)-1]
			return &NothingError{name}
		}
	}
	return nil
}

// each hands on line by line. A file that breaks off is read up to there.
func each(r *Reader, f *File, in *bufio.Reader, read func(line string, ended bool)) {
	for {
		text, ended, err := logline.NextLine(in)
		if text != "" || ended {
			r.line++
			read(logline.Plain(text), ended)
		}
		f.Lines = r.line
		switch {
		case err == nil:
			continue
		case !errors.Is(err, io.EOF):
			f.Cut = err.Error()
		case text != "" && f.Form != Debug:
			f.Cut = "incomplete last line"
		}
		return
	}
}

// debugLine reads one line of a debug log. Of a line that several messages share, or that does not end, only warnings
// are kept: the others are counted as damaged.
func (r *Reader) debugLine(line string, ended bool) { r.part(line, ended, false) }

// part reads a line from its first message on. Shared is true where another message was before it.
func (r *Reader) part(line string, ended, shared bool) {
	at, end, level := marked(line)
	if level == "" {
		r.other(line, ended)
		return
	}
	h, start, found := header(line[:at])
	rest, file := unprefixed(line[:start])
	// a header that was cut looks like a file
	clean := !shared && rest == "" && (file == "" || !strings.HasSuffix(h.host, file))
	p, glued := r.author(h, found, clean)
	if !clean || glued > 0 {
		r.fragment(line[:start+glued])
	}
	m := message{head: h, level: level, text: strings.TrimSpace(line[end:])}
	next, _, second := marked(m.text)
	if second == "" && ended && !shared {
		r.message(p, m)
		return
	}
	cut := len(m.text)
	if second != "" {
		_, cut, _ = header(m.text[:next])
	}
	after := m.text[cut:]
	m.text = strings.TrimSpace(m.text[:cut]) + " …"
	r.log.Reading.Said++
	r.damaged(p, m)
	if second != "" {
		r.part(after, ended, true)
	}
}

// message takes the facts out of one message. A warning counts whoever wrote it.
func (r *Reader) message(p *process, m message) {
	r.log.Reading.Said++
	switch {
	case p == nil && !m.severe():
		r.damaged(nil, m)
	case r.understand(p, m):
		r.log.Reading.Understood++
	}
}

// damaged counts a message that was cut. A warning is kept nevertheless, and a call leaves a hole in what its rank
// called.
func (r *Reader) damaged(p *process, m message) {
	r.log.Reading.Damaged++
	switch {
	case m.severe():
		r.warn(p, m)
	case strings.Contains(m.text, "opCount"):
		r.lost++
	}
}

// severe reports whether a message is a warning or an error.
func (m message) severe() bool { return m.level == "WARN" || m.level == "ERROR" || m.level == "ABORT" }

// understand hands a message to what reads its kind, and reports whether it has facts.
func (r *Reader) understand(p *process, m message) bool {
	switch {
	case m.severe(), strings.Contains(m.text, "exceeds device/fn maxSharedMem"): // a failure that NCCL prints as INFO
		r.warn(p, m)
		return true
	case m.level != "INFO":
		return false
	}
	return slices.ContainsFunc(known, func(k lineKind) bool {
		has := strings.Contains
		begin, first := strings.CutPrefix(k.has, "^")
		if first {
			has = strings.HasPrefix
		}
		return has(m.text, begin) && k.read(r, p, m)
	})
}

// lineKind is one kind of message: what it has in it, or, behind ^, what it begins with, and what reads it.
type lineKind struct {
	has  string
	read lineReader // reports whether the message has facts of this kind
}

// known are the messages by their first words, or by words in them, the most frequent first.
var known = slices.Concat([]lineKind{
	{": opCount ", readCall},
	{" Bytes ->", readChoice},
	{" via ", readTransport},
	{"comm 0x", readComm},
	{" coll channels", readChannels},
	{"^Pattern ", readGraph},
	{"^=== System", readSystem},
	{"^Init timings", readTimings},
	{"|", readCostTable},
	{"^" + loadingTopology, readTopologyFile},
	{"^Comm config ", readConfig},
	{"Plugin name set", readPlugin},
	{"set by env", readEnvironment},
	{" set to", readEnvironment},
	{"environment variable to", readEnvironment},
	{"CCL version", readVersionLine},
	{"^cudaDriverVersion", readDriver},
	{"GPU/", readHardware},
	{"+ ", readHardware},
	{"^CPU/", readHardware},
	{" -> ", readBacktrace},
}, networkLines)
