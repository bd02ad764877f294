package nccllog

import (
	"slices"
	"strings"
)

// procKey tells processes apart.
type procKey struct {
	host string
	pid  int
}

// threadKey tells apart who sets a communicator up: a thread may do so for several devices, one after the other.
type threadKey struct{ tid, device int }

// process is one process while it is read.
type process struct {
	Process
	number  int   // in order of appearance
	current []int // devices in headers
	host    string
	code    int // version of the library; 0: not known
	driver  int // of CUDA; 0: not known
	threads map[threadKey]*member
	pointer map[string]*member
	members []*member
	live    []*member // of them, those that are not torn down
	stray   *member   // facts whose communicator can't be told
}

// viaKey tells transports of one rank apart.
type viaKey struct {
	from, to int
	via      string
	receive  bool
}

// member is one rank of a communicator while it is read.
// It has many fields because each is what one kind of line states of a rank.
type member struct {
	Member
	proc     *process
	comm     *communicator
	ranks    int
	nodes    int
	function string

	topology Topology
	hardware map[string]bool // GPUs, NICs and paths already counted
	graphs   map[Graph]int64
	rings    map[int]Ring
	via      map[viaKey]*Transport
	nvls     *bool
	choices  map[choiceKey]*Choice
	algos    []string // heading of the cost table being printed
	protos   []string
	costs    map[costKey]Prediction
	calls    map[callKey]*Calls
	called   bool
	firstOp  int64 // opCount of its first call, once it called
	seq      *track
}

// communicator is one communicator while it is read.
type communicator struct {
	number   int
	id       string
	ranks    int
	function string
	parent   *communicator
	split    *Split
	members  []*member
	sort     sort         // where it has no id
	has      map[int]bool // ranks of members
	gpus     map[gpu]bool // and their GPUs
	seq      sequence
}

// gpu is one GPU as a process knows it.
type gpu struct {
	proc   *process
	device int
}

// sort is what communicators without an id have in common that cannot be told apart by what is said of them.
type sort struct {
	ranks        int
	parent       *communicator
	split        bool
	color, count int64
}

// sorted is one rank of communicators of one sort.
type sorted struct {
	sort
	rank int
}

// sortOf is the sort of a rank's communicator.
func sortOf(m *member, split *Split) sort {
	s := sort{ranks: m.ranks, split: split != nil}
	if split != nil {
		s.color, s.count = split.Color, split.Count
		if p := m.proc.pointer[split.Parent]; p != nil {
			s.parent = p.comm
		}
	}
	return s
}

// who is a set of processes.
type who []int

func (w *who) add(p *process) {
	if p == nil {
		return
	}
	if i, found := slices.BinarySearch(*w, p.number); !found {
		*w = slices.Insert(*w, i, p.number)
	}
}

func newMember(p *process) *member {
	m := &member{proc: p, ranks: Unknown, nodes: Unknown}
	m.Rank, m.Device, m.NVML, m.LocalRank, m.Local = Unknown, Unknown, Unknown, Unknown, Unknown
	return m
}

// process finds or makes the process of a header.
func (r *Reader) process(host string, pid int) *process {
	if p := r.procs[procKey{host, pid}]; p != nil {
		return p
	}
	host = kept(host)
	p := &process{number: len(r.order), host: host, threads: map[threadKey]*member{}, pointer: map[string]*member{}}
	p.Host, p.PID = host, pid
	p.stray = newMember(p)
	r.procs[procKey{host, pid}] = p
	r.hosts[pid] = append(r.hosts[pid], p)
	r.order = append(r.order, p)
	return p
}

// whose finds the process of a header. A header that stands behind other text may have the end of that text at the
// front of its host, and one whose line was cut may lack a part of it: then the host is told by the others of the same
// pid. Glued is how much at the front is not of the host.
func (r *Reader) whose(h head, clean bool) (p *process, glued int) {
	if p := r.procs[procKey{h.host, h.pid}]; p != nil {
		return p, 0
	}
	same := r.hosts[h.pid]
	for _, o := range same[:min(len(same), mostTried)] {
		if strings.HasSuffix(h.host, o.host) && o.host != "" && (p == nil || len(o.host) > len(p.host)) {
			p = o
		}
		if clean && strings.HasSuffix(o.host, h.host) {
			return nil, 0
		}
	}
	if p != nil {
		return p, len(h.host) - len(p.host)
	}
	if clean {
		return r.process(h.host, h.pid), 0
	}
	return nil, 0
}

// context is the rank that a message without a pointer is of. Begins is true for messages with which a rank begins to
// set itself up, where no message before it has said so.
func (p *process) context(h head, begins bool) *member {
	key := threadKey{h.tid, h.device}
	if m := p.threads[key]; m != nil {
		return m
	}
	if begins {
		m := newMember(p)
		m.Device = h.device
		p.threads[key] = m
		p.add(m)
		return m
	}
	return p.only(h.device)
}

func (p *process) add(m *member) { p.members, p.live = append(p.members, m), append(p.live, m) }

// end takes a rank whose communicator is torn down out of those that a message may be of.
func (p *process) end(m *member) {
	if i := slices.Index(p.live, m); i >= 0 {
		p.live = slices.Delete(p.live, i, i+1)
	}
}

// mostLive is among how many ranks of one process a message's own is looked for: of more there is hardly one alone on a
// device.
const mostLive = 1 << 10

// only is the one rank on a device that is not torn down, or of the process where none is on the device; where there is
// not one, what is said is of an unknown communicator.
func (p *process) only(device int) *member {
	if len(p.live) > mostLive {
		return p.stray
	}
	var here, any *member
	var nHere, nAny int
	for _, m := range p.live {
		any, nAny = m, nAny+1
		if m.Device == device {
			here, nHere = m, nHere+1
		}
	}
	switch {
	case nHere == 1:
		return here
	case nHere == 0 && nAny == 1:
		return any
	}
	return p.stray
}

// named is the rank whose communicator has this pointer. A pointer that a torn-down communicator had may come again.
func (p *process) named(h head, pointer string) *member {
	if m := p.pointer[pointer]; m != nil {
		return m
	}
	m := newMember(p)
	if draft := p.threads[threadKey{h.tid, h.device}]; draft != nil && draft.Pointer == "" {
		m = draft
	} else {
		p.add(m)
	}
	m.Pointer = kept(pointer)
	p.pointer[m.Pointer] = m
	return m
}

// join puts a rank into its communicator, as soon as enough is known of both.
func (r *Reader) join(m *member, id string, split *Split) {
	if m.comm != nil {
		return
	}
	c := r.communicatorOf(m, id, split)
	if c == nil {
		sort := sortOf(m, split)
		c = &communicator{number: len(r.comms), id: kept(id), ranks: m.ranks, function: m.function, split: split,
			parent: sort.parent, sort: sort, has: map[int]bool{}, gpus: map[gpu]bool{}}
		r.comms = append(r.comms, c)
		if id == "" {
			r.unnamed[sort] = append(r.unnamed[sort], c)
		}
	}
	if id != "" {
		r.byID[c.id] = c
	}
	m.comm = c
	c.members = append(c.members, m)
	c.has[m.Rank] = true
	if m.Device >= 0 {
		c.gpus[gpu{m.proc, m.Device}] = true
	}
}

// mostTried is how many communicators of one sort are looked at for the place of one rank.
const mostTried = 1 << 10

// communicatorOf finds the communicator of a rank among those known. Without a commId, which came with 2.18 and which
// splits have not, ranks are put together by size and order of appearance: the first of their sort that lacks this rank
// and this GPU, which is of a communicator once.
func (r *Reader) communicatorOf(m *member, id string, split *Split) *communicator {
	if id != "" {
		return r.byID[id]
	}
	if m.Rank < 0 {
		return nil
	}
	key := sorted{sortOf(m, split), m.Rank}
	all := r.unnamed[key.sort]
	from := r.filled[key]
	for from < len(all) && all[from].has[m.Rank] {
		from++
	}
	r.filled[key] = from // those before have this rank for good
	for _, c := range all[from:min(len(all), from+mostTried)] {
		if !c.has[m.Rank] && !c.gpus[gpu{m.proc, m.Device}] {
			return c
		}
	}
	return nil
}
