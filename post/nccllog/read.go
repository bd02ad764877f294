package nccllog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Reader reads the files of one run. What it holds grows with the number of different facts, not with that of lines.
// It has many methods because each kind of line that NCCL prints has one.
type Reader struct {
	log      Log
	settings map[setKey]*setting
	versions []*version
	measured map[measuredKey]*measured
	rows     map[string]*rowState
	ras      *rasText // the answer being read
	world
	networkFacts
	messages
	callSigns
	fileState
}

// world is who wrote, and in which communicators.
type world struct {
	procs map[procKey]*process
	hosts map[int][]*process // by pid
	order []*process
	comms []*communicator
	byID  map[string]*communicator

	unnamed map[sort][]*communicator // those without an id
	filled  map[sorted]int           // of them, how many from the first have this rank
}

// networkFacts are what was reported of the network.
type networkFacts struct {
	names        map[nameKey]*named
	namesInOrder []*named
	direct       map[gdrKey]*direct
}

// messages are warnings and errors, and shapes of messages of no known kind.
type messages struct {
	warnings map[string]*warning
	said     []*warning
	unkept   int64 // warnings and errors beyond those that are kept
	shapes   map[string]int64
}

// callSigns are the different calls, and how many calls are kept in their order.
type callSigns struct {
	signs     []callSign
	signID    map[callSign]uint32
	positions int
	lostCalls int64
}

// fileState is what matters for further lines of the file that is read.
type fileState struct {
	line    int64
	headers bool     // a message with a header was seen
	related bool     // a program's error about NCCL was seen
	quotes  bool     // the next line is NCCL's last error, as PyTorch quotes it
	tried   int      // lines that were compared with all messages
	nobody  *process // of messages that have no header, in files that have none at all
}

// NewReader is a Reader of nothing yet.
func NewReader() *Reader {
	return &Reader{
		settings: map[setKey]*setting{}, measured: map[measuredKey]*measured{}, rows: map[string]*rowState{},
		world: world{procs: map[procKey]*process{}, hosts: map[int][]*process{}, byID: map[string]*communicator{},
			unnamed: map[sort][]*communicator{}, filled: map[sorted]int{}},
		networkFacts: networkFacts{names: map[nameKey]*named{}, direct: map[gdrKey]*direct{}},
		messages:     messages{warnings: map[string]*warning{}, shapes: map[string]int64{}},
		callSigns:    callSigns{signID: map[callSign]uint32{}},
	}
}

// NothingError says that a file holds none of what this package reads.
type NothingError struct{ Path string }

func (e *NothingError) Error() string {
	return fmt.Sprintf("%s: no message of NCCL in it, nor anything of the Inspector or ncclras", e.Path)
}

// Is this a log? Enough of a file to tell.
const headBytes = 1 << 16

// Detect says what form a file has by how it begins, which is decompressed already; false where that does not show.
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

// Add reads one more file; name is what it is called in the Log. A file that ends early is no error: the Log says so.
// The error is a *NothingError where nothing that is known is in it.
func (r *Reader) Add(name string, from io.Reader) error {
	in, err := opened(from)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	head, err := in.Peek(headBytes)
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
		return r.rasJSON(name, in)
	case RASText:
		err = r.each(in, f, r.rasLine())
		r.rasEnd()
	case InspectorJSON:
		err = r.each(in, f, r.inspectorLine)
	default:
		err = r.each(in, f, r.debugLine)
		if err == nil && r.log.Reading.Said == before && !ok && !r.related {
			r.log.Files = r.log.Files[:len(r.log.Files)-1]
			return &NothingError{name}
		}
	}
	return err
}

// unwrapped is the line that Docker's json-file driver keeps in an object.
func unwrapped(line string) string {
	var kept struct{ Log *string }
	if !strings.HasPrefix(line, `{"log":"`) || json.Unmarshal([]byte(line), &kept) != nil || kept.Log == nil {
		return line
	}
	return strings.TrimRight(*kept.Log, "\r\n")
}

// each hands on line by line. A file that breaks off is read up to there.
func (r *Reader) each(in *bufio.Reader, f *File, do func(line string, ended bool)) error {
	l := lines{r: in, b: make([]byte, 0, 4096)}
	for {
		text, ended, err := l.next()
		if len(text) > 0 || ended {
			r.line++
			do(unwrapped(string(plain(text))), ended)
		}
		f.Lines = r.line
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			if !ended && len(text) > 0 && f.Form != Debug {
				f.Cut = "the last line does not end"
			}
			return nil
		default:
			f.Cut = err.Error()
			return nil
		}
	}
}

// verdict is what became of a message.
type verdict uint8

const (
	unknown verdict = iota
	passed
	understood
)

// debugLine reads one line of a debug log. Of a line that several messages share, or that does not end, only warnings
// are kept: the others are counted as damaged.
func (r *Reader) debugLine(line string, ended bool) { r.part(unrepeated(line), ended, false) }

// part reads a line from its first message on. Shared is true where another message was before it.
func (r *Reader) part(line string, ended, shared bool) {
	at, end, level := marked(line)
	if level == "" {
		r.other(line, ended)
		return
	}
	h, start, found := header(line[:at])
	b := prefix(line[:start])
	// a header that was cut looks like a file
	b.junk = b.junk || shared || b.file != "" && strings.HasSuffix(h.host, b.file)
	p, glued := r.author(h, found, !b.junk)
	if b.junk || glued > 0 {
		r.fragment(line[:start+glued])
	}
	if p == nil || glued > 0 {
		b = before{stamp: b.stamp}
	}
	m := message{head: h, level: level, text: strings.TrimSpace(line[end:])}
	next, _, second := marked(m.text)
	if second == "" && ended && !shared {
		r.message(p, m, b)
		return
	}
	cut := len(m.text)
	if second != "" {
		_, cut, _ = header(m.text[:next])
	}
	rest := m.text[cut:]
	m.text = strings.TrimSpace(m.text[:cut]) + " …"
	r.log.Reading.Said++
	r.damaged(p, m, b.stamp)
	if second != "" {
		r.part(rest, ended, true)
	}
}

// author is the process that wrote a message; nil where that is unknown.
func (r *Reader) author(h head, found, clean bool) (p *process, glued int) {
	switch {
	case found:
		if p, glued = r.whose(h, clean); p != nil {
			r.headers = true
		}
		return p, glued
	case clean && !r.headers:
		return r.headless(), 0
	}
	return nil, 0
}

// message takes the facts out of one message. A warning counts whoever wrote it.
func (r *Reader) message(p *process, m message, b before) {
	n := &r.log.Reading
	n.Said++
	if p == nil && !m.severe() {
		r.damaged(nil, m, b.stamp)
		return
	}
	if p != nil {
		p.count(m, b)
	}
	switch r.understand(p, m, b.stamp) {
	case understood:
		n.Understood++
	case passed:
		n.Passed++
	default:
		n.NotUnderstood++
		if s := shape(m.text); r.shapes[s] > 0 || len(r.shapes) < maxShapes {
			r.shapes[kept(s)]++
		}
	}
}

const maxShapes = 2000

// damaged counts a message that was cut. A warning is kept nevertheless, and a call leaves a hole in what its rank
// called.
func (r *Reader) damaged(p *process, m message, stamp string) {
	r.log.Reading.Damaged++
	switch {
	case m.severe():
		r.warn(p, m, stamp)
	case strings.Contains(m.text, "opCount"):
		r.lostCalls++
	}
}

// headless is the process of messages without headers, in a file that has no other.
func (r *Reader) headless() *process {
	if r.nobody == nil {
		r.nobody = r.process("", len(r.log.Files)-1)
	}
	return r.nobody
}

// count adds a message to those of a process.
func (p *process) count(m message, b before) {
	p.Said++
	addDevice(&p.current, m.device) // the thread's current one: before it set one that is 0
	if p.Label == "" && b.label != "" {
		p.Label = kept(b.label)
	}
	if b.stamp != "" {
		if p.First == "" {
			p.First = kept(b.stamp)
		}
		if p.Last != b.stamp {
			p.Last = kept(b.stamp)
		}
	}
}

// severe reports whether a message is a warning or an error.
func (m message) severe() bool { return m.level == "WARN" || m.level == "ERROR" || m.level == "ABORT" }

// understand hands a message to what knows its kind.
func (r *Reader) understand(p *process, m message, stamp string) verdict {
	switch {
	case m.severe(), strings.Contains(m.text, "exceeds device/fn maxSharedMem"): // a failure that NCCL prints as INFO
		r.warn(p, m, stamp)
		return understood
	case m.level != "INFO":
		return passed
	}
	for i := range known {
		if k := &known[i]; k.prefix && strings.HasPrefix(m.text, k.has) ||
			!k.prefix && strings.Contains(m.text, k.has) {
			if v := k.read(r, p, m); v != unknown {
				return v
			}
		}
	}
	if v := r.backtrace(p, m, stamp); v != unknown {
		return v
	}
	if v := r.environment(p, m); v != unknown {
		return v
	}
	if slices.ContainsFunc(chatter, func(c string) bool { return strings.Contains(m.text, c) }) {
		return passed
	}
	return unknown
}

// lineKind is one kind of message: what it begins with, or has in it, and what reads it.
type lineKind struct {
	has    string
	prefix bool
	read   func(*Reader, *process, message) verdict
}

// known are the messages by what they begin with, or have in them, the most frequent first.
var known = slices.Concat([]lineKind{
	{": opCount ", false, (*Reader).call},
	{" Bytes ->", false, (*Reader).choice},
	{"Channel ", true, (*Reader).channel},
	{"Ring ", true, (*Reader).channel},
	{"Coll", true, (*Reader).transport},
	{"comm 0x", false, (*Reader).commLine},
	{" coll channels", false, (*Reader).counts},
	{"Pattern ", true, (*Reader).graph},
	{"=== System", true, (*Reader).system},
	{"Init timings", true, (*Reader).timings},
	{"|", false, (*Reader).costTable},
	{"NVLS", true, (*Reader).multicast},
	{loadingTopology, true, (*Reader).topologyFile},
	{"Comm config ", true, (*Reader).configured},
	{pluginNameSet, false, (*Reader).pluginByEnv},
	{" set by env", false, (*Reader).environment},
	{"_PLUGIN set to ", false, (*Reader).environment},
	{" environment variable to ", false, (*Reader).environment},
	{"CCL version", false, (*Reader).versionLine},
	{"cudaDriverVersion", true, (*Reader).driver},
	{"GPU/", false, (*Reader).hardware},
	{"+ ", false, (*Reader).hardware},
	{"CPU/", true, (*Reader).hardware},
}, networkLines)

// chatter is what NCCL says with many subsystems switched on, and nothing here asks for.
var chatter = []string{
	"opId=", "operation=", "Alloc ", "Alloc Size", "pointer 0x", "memory stack hunk", "Mem Realloc", "New proxy ",
	"Connected to proxy",
	"shareable", "Proxy Service", "UDS", "RAS ", "TOPO/NET", "Setting affinity", "Affinity for GPU", "threadThresholds",
	"workFifo", "CC Off",
	"dlvsym", "Made virtual device", "Retrieving state", "ncclTopoPopulateNics", "mlx5_",
	"Check P2P Type", "=====",
	"Could not enable P2P", "Launch mode", "Loading unnamed topology", "register comm", "registered", "deregister",
	"MemManager",
	"Bootstrap timings", "ENV/Plugin", "GIN", "RMA", "Symmetric", "symmetric", "comm 0x", "GPU affinity", "NET/IB",
	"NET/Socket", "NET/OFI",
	"NCCL git version", "HINT: ", "Kernel version", "Hipruntime version", "ROCr version", "Dmabuf feature", "GDRCOPY",
	"Min Comp Cap",
	"PROFILER/", "TUNER/", "Free", "CUDA Dev", "Intranode", "non-device net plugin", "NVML", "nvml", "cudaMem", "cuMem",
	"Rank ", "rank ", "NET/Plugin", "COLLNET/", "DMA-BUF", "Initialized ", "Assigned ", "Tree ", "Trees ", "Connected ",
	"P2P Chunksize", "MNNVL",
}
