package nccllog

import (
	"cmp"
	"slices"
	"strconv"

	"busbar/internal/units"
)

// Log is what was read, once, after the last file.
func (r *Reader) Log() *Log {
	l := &r.log
	r.nameless()
	for _, c := range r.comms {
		l.Communicators = append(l.Communicators, r.finish(c))
		if s, ok := r.compare(c); ok {
			l.Sequences = append(l.Sequences, s)
		}
	}
	for _, p := range r.order {
		l.Processes[p.number].Ranks = p.ranks()
	}
	r.place()
	slices.SortFunc(l.Settings, func(a, b Setting) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value), cmp.Compare(a.From, b.From))
	})
	for _, m := range l.Messages {
		if m.Level == failed {
			continue // it shows which way another message took
		}
		l.Reading.Warnings += m.Times
		if explain(m) == nil {
			l.Reading.Unexplained += m.Times
		}
	}
	finishInspected(l.Inspected)
	return l
}

// nameless puts ranks that never named the communicator that they set up into one.
func (r *Reader) nameless() {
	var c *communicator
	for _, p := range r.order {
		for _, k := range p.members {
			if k.comm != nil {
				continue
			}
			if c == nil {
				c = r.communicator(Unknown)
			}
			k.comm = c
			c.members = append(c.members, k)
		}
	}
}

// finish makes a communicator of what its ranks printed.
func (r *Reader) finish(c *communicator) Communicator {
	slices.SortStableFunc(c.members, func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Process, b.Process))
	})
	out := c.Communicator
	out.Name = "comm " + strconv.Itoa(c.number+1)
	hosts := map[string]bool{}
	for _, k := range c.members {
		out.Members = append(out.Members, k.Member)
		out.merge(k.part)
		hosts[k.proc.host] = true
	}
	if out.Nodes == Unknown && out.Ranks == len(c.members) && !hosts[""] {
		out.Nodes = len(hosts)
	}
	out.namesakes = len(c.members) == out.Ranks && out.Nodes > len(hosts)
	return out
}

// merge adds what one rank printed. What several printed is of the first.
func (c *Communicator) merge(k Communicator) {
	if c.Nodes == Unknown {
		c.Nodes = k.Nodes
	}
	if c.Channels == noChannels {
		c.Channels = k.Channels
	}
	for _, g := range k.Graphs {
		c.addGraph(g)
	}
	file := cmp.Or(c.Topology.File, k.Topology.File)
	if c.Topology.GPUs == 0 && k.Topology.GPUs > 0 {
		c.Topology = k.Topology
	}
	c.Topology.File = file
	c.Function = cmp.Or(c.Function, k.Function)
}

// ranks are those in the largest communicator that a process is in.
func (p *process) ranks() (ranks []int) {
	largest := Unknown
	for _, k := range p.members {
		if k.part.Ranks > largest {
			largest, ranks = k.part.Ranks, nil
		}
		if k.part.Ranks == largest && k.Rank >= 0 {
			addTo(&ranks, k.Rank)
		}
	}
	return ranks
}

// place states the communicators of what ranks printed.
func (r *Reader) place() {
	l := &r.log
	comm := func(k *member) int {
		if k.comm == nil {
			return Unknown
		}
		return k.comm.number
	}
	for t := range units.Each(l.Transports) {
		if t.Comm = comm(t.of); t.Comm < 0 { // rank numbers of different communicators are not those of one
			t.Process = t.of.Process
		}
	}
	for c := range units.Each(l.Choices) {
		c.Comm = comm(c.of)
		ranks := Unknown
		if c.Comm >= 0 {
			ranks = l.Communicators[c.Comm].Ranks
		} else if len(l.Communicators) == 1 {
			ranks = l.Communicators[0].Ranks
		}
		c.settle(ranks)
	}
	slices.SortStableFunc(l.Choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Bytes, b.Bytes),
			cmp.Compare(a.Algo, b.Algo), cmp.Compare(a.Proto, b.Proto), cmp.Compare(a.Kernel, b.Kernel),
			cmp.Compare(a.Channels, b.Channels))
	})
	for i := range l.Predictions {
		l.Predictions[i].Comm = comm(l.Predictions[i].of)
	}
	for c := range units.Each(l.Calls) {
		c.Comm, c.Rank, c.Process = comm(c.of), c.of.Rank, c.of.Process
	}
}
