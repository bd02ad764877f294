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
	stray   *member // facts whose communicator can't be told
	system  *member // whose topology is being printed
}

// viaKey tells transports of one rank apart.
type viaKey struct {
	from, to int
	via      string
	receive  bool
}

// member is one rank of a communicator while it is read.
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
	rings    map[int]*Ring
	trees    map[int]Tree
	via      map[viaKey]*Transport
	joined   []string
	ringPXN  *bool
	ringGDR  *bool
	nvls     *bool
	mnnvl    *bool
	chunk    int64
	choices  map[choiceKey]*Choice
	algos    []string // heading of the cost table being printed
	protos   []string
	costs    map[costKey]Prediction
	calls    map[callKey]*Calls
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
	seq      sequence
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

// whose finds the process of a header. A header that stands behind other text may have the end of that text at the front of
// its host, and one whose line was cut may lack a part of it: then the host is told by the others of the same pid. Glued is how
// much at the front is not of the host.
func (r *Reader) whose(h head, clean bool) (p *process, glued int) {
	if p := r.procs[procKey{h.host, h.pid}]; p != nil {
		return p, 0
	}
	for _, o := range r.hosts[h.pid] {
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

// context is the rank that a message without a pointer is of. Begins is true for messages with which a rank begins to set
// itself up, where no message before it has said so.
func (p *process) context(h head, begins bool) *member {
	key := threadKey{h.tid, h.device}
	if m := p.threads[key]; m != nil {
		return m
	}
	if begins {
		m := newMember(p)
		m.Device = h.device
		p.threads[key] = m
		p.members = append(p.members, m)
		return m
	}
	return p.only(h.device)
}

// only is the one rank on a device that is not torn down, or of the process where none is on the device; where there is not
// one, what is said is of an unknown communicator.
func (p *process) only(device int) *member {
	var here, any *member
	var nHere, nAny int
	for _, m := range p.members {
		if m.Destroyed || m.Aborted {
			continue
		}
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
		p.members = append(p.members, m)
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
		c = &communicator{number: len(r.comms), id: kept(id), ranks: m.ranks, function: m.function, split: split}
		if split != nil {
			if parent := m.proc.pointer[split.Parent]; parent != nil {
				c.parent = parent.comm
			}
		}
		r.comms = append(r.comms, c)
	}
	if id != "" {
		r.byID[c.id] = c
	}
	m.comm = c
	c.members = append(c.members, m)
}

// communicatorOf finds the communicator of a rank among those known. Without a commId, which came with 2.18 and which splits
// have not, ranks are put together by size and order of appearance: the first of their size, and split, that lacks this rank and
// this GPU, which is of a communicator once.
func (r *Reader) communicatorOf(m *member, id string, split *Split) *communicator {
	if id != "" {
		return r.byID[id]
	}
	if m.Rank < 0 {
		return nil
	}
	var parent *communicator
	if split != nil {
		if p := m.proc.pointer[split.Parent]; p != nil {
			parent = p.comm
		}
	}
	for _, c := range r.comms {
		if c.id != "" || c.ranks != m.ranks || (c.split == nil) != (split == nil) || c.parent != parent {
			continue
		}
		if split != nil && (c.split.Color != split.Color || c.split.Count != split.Count) {
			continue
		}
		if !slices.ContainsFunc(c.members, func(o *member) bool {
			return o.Rank == m.Rank || o.proc == m.proc && o.Device == m.Device && m.Device >= 0
		}) {
			return c
		}
	}
	return nil
}
