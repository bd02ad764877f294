package nccllog

import (
	"slices"
	"strings"

	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// procKey identifies a process.
type procKey struct {
	host string
	pid  int
}

// threadKey identifies who sets a communicator up: a thread may do so for several devices, one after the other.
type threadKey struct{ tid, device int }

// process is one process while it is read.
type process struct {
	number  int // in Log.Processes
	host    string
	threads map[threadKey]*member
	pointer map[string]*member
	members []*member
	live    []*member // of them, those that are not torn down
	stray   *member   // facts whose communicator is unknown
}

// member is one rank of a communicator while it is read.
type member struct {
	Member
	proc *process
	comm *communicator
	part Communicator // what it printed of its communicator

	pointer  string
	hardware map[string]bool // GPUs, NICs and paths already counted; nil before the first line of a topology
	algos    []string        // heading of the cost table being printed
	protos   []string
	kinds    int // of calls
	track
}

// communicator is one communicator while it is read.
type communicator struct {
	Communicator
	number  int // in Log.Communicators
	members []*member
	sort    sort // where it has no id

	// What the rank that came first to each place called there, in order.
	calls []*nccllogs.NCCLCall
	full  bool // no more were kept
}

// sort is what communicators without an id have in common if their messages do not distinguish them.
type sort struct {
	ranks        int
	parent       *communicator
	color, count string // of a split
}

// place identifies a rank, or a GPU of a process, in communicators of one sort.
type place struct {
	sort
	rank   int
	proc   *process
	device int
}

// addTo adds a number to an ascending list, once.
func addTo(all *[]int, n int) {
	if i, found := slices.BinarySearch(*all, n); !found {
		*all = slices.Insert(*all, i, n)
	}
}

// by adds the process that wrote a message to those of a fact; nil is unknown.
func (p *process) by(processes *[]int) {
	if p != nil {
		addTo(processes, p.number)
	}
}

func newMember(p *process) *member {
	m := &member{proc: p, part: Communicator{Ranks: Unknown, Nodes: Unknown, Channels: noChannels}}
	m.Rank, m.Process, m.Device = Unknown, p.number, Unknown
	return m
}

// process finds or makes the process of a header.
func (r *Reader) process(host string, pid int) *process {
	if p := r.procs[procKey{host, pid}]; p != nil {
		return p
	}
	p := &process{number: len(r.order), host: host, threads: map[threadKey]*member{}, pointer: map[string]*member{}}
	p.stray = newMember(p)
	r.procs[procKey{host, pid}] = p
	r.hosts[pid] = append(r.hosts[pid], p)
	r.order = append(r.order, p)
	r.log.Processes = append(r.log.Processes, Process{Host: host, PID: pid})
	return p
}

// mostTried is among how many processes or ranks the one of a message is looked for.
const mostTried = 1 << 10

// author is the process that wrote a message, or nil if unknown. Behind other text, the host of a header may begin with
// the end of that text; in a cut line, a part of the host may be missing. Then the other hosts of the same pid decide.
// Glued is the length of the foreign text. In a file without any header, all messages are of one process.
func (r *Reader) author(h head, found, clean bool) (p *process, glued int) {
	switch {
	case !found && (!clean || r.headers):
		return nil, 0
	case !found:
		return r.process("", len(r.log.Files)-1), 0
	}
	if p = r.procs[procKey{h.host, h.pid}]; p == nil {
		same := r.hosts[h.pid]
		for _, o := range same[:min(len(same), mostTried)] {
			if strings.HasSuffix(h.host, o.host) && o.host != "" && (p == nil || len(o.host) > len(p.host)) {
				p = o
			}
			if clean && strings.HasSuffix(o.host, h.host) {
				return nil, 0
			}
		}
		switch {
		case p != nil:
			glued = len(h.host) - len(p.host)
		case clean:
			p = r.process(h.host, h.pid)
		}
	}
	r.headers = r.headers || p != nil
	return p, glued
}

// context is the rank that a message without a pointer is of. Begins is true for messages with which a rank begins to
// set itself up, where no message before it has stated so.
func (p *process) context(h head, begins bool) *member {
	key := threadKey{h.tid, h.device}
	if m := p.threads[key]; m != nil {
		return m
	}
	if begins {
		m := p.add()
		m.Device = h.device
		p.threads[key] = m
		return m
	}
	return p.only(h.device)
}

// add adds a rank.
func (p *process) add() *member {
	m := newMember(p)
	p.members, p.live = append(p.members, m), append(p.live, m)
	return m
}

// only is the one rank on a device that is not torn down, or of the process where none is on the device; where there is
// not one, the communicator is unknown.
func (p *process) only(device int) *member {
	if len(p.live) > mostTried {
		return p.stray
	}
	here := units.Where(p.live, func(m *member) bool { return m.Device == device })
	switch {
	case len(here) == 1:
		return here[0]
	case len(here) == 0 && len(p.live) == 1:
		return p.live[0]
	}
	return p.stray
}

// named is the rank whose communicator has this pointer. A pointer that a torn-down communicator had may come again.
func (p *process) named(h head, pointer string) *member {
	if m := p.pointer[pointer]; m != nil {
		return m
	}
	m := p.threads[threadKey{h.tid, h.device}]
	if m == nil || m.pointer != "" {
		m = p.add()
	}
	m.pointer = pointer
	p.pointer[pointer] = m
	return m
}

// join puts a rank into its communicator. Without a commId, which came with 2.18 and which splits have not, ranks are
// put together by size and order of appearance: a rank or GPU that appears for the n-th time in communicators of one
// sort is of the n-th of them.
func (r *Reader) join(m *member, id string, s sort) {
	if m.comm != nil {
		return
	}
	c := r.byID[id]
	known := id == "" && m.Rank >= 0
	if known {
		rank := place{sort: s, rank: m.Rank}
		gpu := place{sort: s, rank: Unknown, proc: m.proc, device: m.Device}
		if m.Device < 0 {
			gpu = rank
		}
		n := max(r.seen[rank], r.seen[gpu])
		r.seen[rank], r.seen[gpu] = n+1, n+1
		if n < len(r.unnamed[s]) {
			c = r.unnamed[s][n]
		}
	}
	if c == nil {
		c = r.communicator(m.part.Ranks)
		c.ID, c.sort = id, s
		if id != "" {
			r.byID[id] = c
		} else if known {
			r.unnamed[s] = append(r.unnamed[s], c)
		}
	}
	m.comm = c
	c.members = append(c.members, m)
}

// communicator adds a communicator.
func (r *Reader) communicator(ranks int) *communicator {
	c := &communicator{number: len(r.comms)}
	c.Ranks, c.Nodes, c.Channels = ranks, Unknown, noChannels
	r.comms = append(r.comms, c)
	return c
}
