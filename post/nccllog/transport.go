package nccllog

import (
	"slices"
	"strconv"
	"strings"
)

// transport reads how one rank reaches another: "Channel 00/0 : 0[0] -> 1[1] [send] via NET/AWS Libfabric/1/GDRDMA",
// and the lines of old versions, which begin with Ring and may have no device in brackets.
func (r *Reader) transport(p *process, m message) verdict {
	c := cursor{m.text}
	collnet := c.read("CollNet ") || c.read("Coll ")
	if !collnet && !c.read("Channel ") && !c.read("Ring ") {
		return unknown
	}
	var channel, connection int
	t := Transport{To: Unknown, NetDev: Unknown, PXN: Unknown}
	if !c.read("%", &channel) {
		return unknown
	}
	c.read("/%", &connection)
	if !c.read(" : ") || !c.peer(&t.From) || !collnet && (!c.read(" -> ") || !c.peer(&t.To)) {
		return unknown
	}
	t.Receive = c.read(" [receive]")
	if !t.Receive {
		c.read(" [send]")
	}
	if !c.read(" via ") {
		return unknown
	}
	via, _, _ := strings.Cut(c.s, " comm 0x") // RCCL
	t.Via = strings.TrimSpace(via)
	if !t.understand() || channel < 0 || t.From < 0 {
		return unknown
	}
	k := p.context(m.head, len(p.members) == 0)
	if k == p.stray {
		k = p.writer(t)
	}
	key := viaKey{t.From, t.To, t.Via, t.Receive}
	if k.via == nil {
		k.via = map[viaKey]*Transport{}
	}
	known := k.via[key]
	if known == nil {
		t.Via = kept(t.Via)
		t.How = kept(t.How)
		key.via = t.Via
		known = &t
		k.via[key] = known
	}
	known.Times++
	if i, found := slices.BinarySearch(known.Channels, channel); !found && len(known.Channels) < maxChannels {
		known.Channels = slices.Insert(known.Channels, i, channel)
	}
	return understood
}

// writer is the rank that wrote a transport, where a process has several communicators: since 2.22 connections are made
// with the first operation, long after the communicator. Where more than one fits, it stays unknown.
func (p *process) writer(t Transport) *member {
	own, other := t.From, t.To
	if t.Receive {
		own, other = t.To, t.From
	}
	found := p.stray
	for _, m := range p.live[:min(len(p.live), mostLive)] {
		if m.Rank != own || m.ranks != Unknown && other >= m.ranks {
			continue
		}
		if found != p.stray {
			return p.stray
		}
		found = m
	}
	return found
}

const maxChannels = 64

// peer reads "0[101c0]" or "0".
func (c *cursor) peer(rank *int) bool {
	var device string
	return c.read("%[%]", rank, &device) || c.read("%", rank)
}

// understand takes a transport's name apart.
func (t *Transport) understand() bool {
	parts := strings.Split(t.Via, "/")
	options := parts[1:]
	switch {
	case t.Via == "direct shared memory":
		t.Kind, t.How = "shm", "direct"
		return true
	case parts[0] == "P2P" && len(parts) > 1:
		t.Kind, t.How, options = "p2p", parts[1], parts[2:]
		if parts[1] == "indirect" && len(options) > 0 {
			options = options[1:] // rank[device] in between
		}
	case parts[0] == "SHM":
		t.Kind, t.How, options = "shm", strings.Join(options, "/"), nil
	case (parts[0] == "NET" || parts[0] == "COLLNET") && len(parts) > 2:
		t.Kind, t.How = strings.ToLower(parts[0]), parts[1]
		device, pxn, through := strings.Cut(parts[2], "(")
		n, err := strconv.Atoi(device)
		if err != nil || n < 0 {
			return false
		}
		t.NetDev, options = n, parts[3:]
		if through {
			if t.PXN, err = strconv.Atoi(strings.TrimSuffix(pxn, ")")); err != nil || !strings.HasSuffix(pxn, ")") {
				return false
			}
		}
	default:
		return false
	}
	for _, o := range options {
		switch o {
		case "GDRDMA", "GDRDMA(PCI)":
			t.GDR = true
		case "read", "Shared", "CE", "flush":
		default:
			return false
		}
	}
	return len(t.Via) < 200
}
