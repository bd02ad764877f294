package nccllog

import (
	"strings"

	"busbar/post/nccllog/logline"
)

// What a line on a transport begins with.
var (
	channelLine = logline.MustCompile("Channel %")
	collnetLine = logline.MustCompile("CollNet %")
)

// readTransport reads how one rank reaches another: "Channel 00/0 : 0[0] -> 1[1] [send] via NET/AWS
// Libfabric/1/GDRDMA".
func readTransport(r *Reader, p *process, m message) bool {
	c := logline.Cursor{S: m.text}
	var channel, connection int
	t := Transport{Process: Unknown, To: Unknown, NetDev: Unknown, PXN: Unknown}
	collnet := c.Read(collnetLine, &channel)
	if !collnet && !c.Read(channelLine, &channel) {
		return false
	}
	c.Read("/%", &connection)
	if !c.Read(" : ") || !c.Peer(&t.From) || !collnet && (!c.Read(" -> ") || !c.Peer(&t.To)) {
		return false
	}
	t.Receive = c.Read(" [receive]")
	c.Read(" [send]")
	if !c.Read(" via ") {
		return false
	}
	via, _, _ := strings.Cut(c.S, " comm 0x") // RCCL
	t.Via = strings.TrimSpace(via)
	if !t.understand() || channel < 0 || t.From < 0 {
		return false
	}
	t.of = p.context(m.head, len(p.members) == 0)
	if t.of == p.stray {
		t.of = p.writer(t)
	}
	type key struct {
		of       *member
		from, to int
		via      string
		receive  bool
	}
	known := row(r, &r.log.Transports, key{t.of, t.From, t.To, t.Via, t.Receive}, t)
	if len(known.Channels) < maxChannels {
		addTo(&known.Channels, channel)
	}
	return true
}

// writer is the rank that wrote a transport, where a process has several communicators: since 2.22 connections are made
// with the first operation, long after the communicator. Where more than one fits, it stays unknown.
func (p *process) writer(t Transport) *member {
	own, other := t.From, t.To
	if t.Receive {
		own, other = t.To, t.From
	}
	found := p.stray
	for _, m := range p.live[:min(len(p.live), mostTried)] {
		if m.Rank != own || m.part.Ranks != Unknown && other >= m.part.Ranks {
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
		options = parts[3:]
		if c := (logline.Cursor{S: parts[2]}); !c.Read("%", &t.NetDev) || c.S != "" && !c.Read("(%)", &t.PXN) ||
			t.NetDev < 0 {
			return false
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
