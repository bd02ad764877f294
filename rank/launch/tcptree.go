package launch

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"busbar/rank/exit"
)

// Ranks of a larger group exchange data through a tree: the first member of every block of 64 collects from its block
// and spreads to it, and the first members do so with rank 0. 64 ranks over 64 are 4,096.
const branch = 64

// tree lists the groups through which data of this rank reach the first member of c, the leaves first. In each of them
// every member is connected to the first, and only the first of one belongs to the next.
func (c tcpComm) tree() []tcpComm {
	n := c.Size()
	if n <= branch {
		return []tcpComm{c}
	}
	first := c.rank - c.rank%branch
	groups := []tcpComm{part(c, first, min(first+branch, n), 1)}
	if c.rank == first {
		groups = append(groups, part(c, 0, n, branch))
	}
	return groups
}

// part is the group of the members from first to end in steps.
func part(c tcpComm, first, end, step int) tcpComm {
	g := tcpComm{launch: c.launch, id: c.id, rank: (c.rank - first) / step}
	for m := first; m < end; m += step {
		g.members = append(g.members, c.members[m])
	}
	return g
}

// collect returns the data of all members on the first, by rank, and nil elsewhere.
func (c tcpComm) collect(o tcpOperation, data []byte) ([][]byte, error) {
	all := [][]byte{data}
	for _, g := range c.tree() {
		if g.rank != 0 {
			return nil, g.send(0, o, joinParts(all))
		}
		for m := 1; m < g.Size(); m++ {
			data, err := g.receive(m, o)
			if err == nil {
				all, err = appendParts(all, data)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if len(all) != c.Size() {
		return nil, fmt.Errorf("%d of %d ranks sent data", len(all), c.Size())
	}
	return all, nil
}

// spread replaces data by the first member's on all others.
func (c tcpComm) spread(o tcpOperation, data []byte) error {
	groups := c.tree()
	for i := len(groups) - 1; i >= 0; i-- {
		g := groups[i]
		if g.rank != 0 {
			if err := g.receiveInto(data, 0, o); err != nil {
				return err
			}
			continue
		}
		for m := 1; m < g.Size(); m++ {
			if err := g.send(m, o, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// receiveInto fills data, whose length the member that sends it must have too.
func (c tcpComm) receiveInto(data []byte, from int, o tcpOperation) error {
	got, err := c.receive(from, o)
	if err == nil && len(got) != len(data) {
		return fmt.Errorf("rank %d broadcasts %d bytes, rank %d expects %d", c.members[from], len(got),
			c.members[c.rank], len(data))
	}
	copy(data, got)
	return err
}

// joinParts makes one message of several: each with its length.
func joinParts(parts [][]byte) (data []byte) {
	for _, p := range parts {
		data = append(binary.AppendUvarint(data, uint64(len(p))), p...)
	}
	return data
}

// appendParts appends the parts of a message of joinParts.
func appendParts(parts [][]byte, data []byte) ([][]byte, error) {
	for len(data) > 0 {
		length, n := binary.Uvarint(data)
		if n <= 0 || length > uint64(len(data)-n) {
			return nil, errors.New("a message is damaged")
		}
		data = data[n:]
		parts, data = append(parts, data[:length:length]), data[length:]
	}
	return parts, nil
}

// connectTree connects the ranks of each block to its first, which else they reach through rank 0.
func (t *TCP) connectTree() error {
	if t.meeting.Size <= branch {
		return nil
	}
	block := t.World().(tcpComm).tree()[0]
	if block.members[0] == 0 {
		return nil
	}
	// A rank or rank 0 may stop here, and the watchdog is not yet running.
	limit := time.AfterFunc(4*dialTime, func() { t.fail(errors.New("the ranks of a block did not connect in time")) })
	defer limit.Stop()
	conns, err := connectMembers(block)
	if err != nil {
		return exit.Environmentf("cannot connect ranks %d to %d to each other: %w", block.members[0],
			block.members[block.Size()-1], err)
	}
	for m, conn := range conns {
		if conn != nil {
			r := block.members[m]
			t.mu.Lock()
			t.links[r] = &tcpLink{Conn: conn}
			t.mu.Unlock()
			go t.serve(r)
		}
	}
	return nil
}

// ownAddress is this host's address on the network through which the ranks met.
func (t *TCP) ownAddress() string {
	for _, link := range t.links {
		if link != nil {
			return link.LocalAddr().(*net.TCPAddr).IP.String()
		}
	}
	return "127.0.0.1"
}

// memberContact is where the first member of a group listens.
type memberContact struct{ Address, Token string }

// connectMembers returns new connections of this member by member: to all others on the first, to the first elsewhere.
// Collective.
func connectMembers(c tcpComm) ([]net.Conn, error) {
	var socket net.Listener
	where, err := Share(c, func() (memberContact, error) {
		var err error
		socket, err = (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), "tcp",
			net.JoinHostPort(c.launch.ownAddress(), "0"))
		if err != nil {
			return memberContact{}, err
		}
		return memberContact{socket.Addr().String(), rand.Text()}, nil
	})
	if err != nil {
		return nil, err
	}
	key := proof(c.launch.key, "group", []byte(where.Token), nil) // connections of another group have another key
	conns := make([]net.Conn, c.Size())
	if c.rank == 0 {
		defer socket.Close()
		return conns, acceptMembers(conns, socket, key)
	}
	conns[0], err = dialFirst(where.Address, key, c.rank)
	return conns, err
}

// acceptMembers waits for the connections of all members but the first. A second one of a member replaces the first,
// which that member has given up.
func acceptMembers(conns []net.Conn, socket net.Listener, key []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*dialTime)
	defer cancel()
	arrivals := make(chan arrival)
	var strangers atomic.Int64
	go acceptRanks(ctx, socket, key, arrivals, &strangers)
	for n := 1; n < len(conns); {
		select {
		case a := <-arrivals:
			m := a.hello.Rank
			if m < 1 || m >= len(conns) || sendText(a.conn, nil) != nil || a.conn.SetDeadline(time.Time{}) != nil {
				_ = a.conn.Close()
				continue
			}
			if conns[m] != nil {
				_ = conns[m].Close()
				n--
			}
			conns[m] = a.conn
			n++
		case <-ctx.Done():
			return fmt.Errorf("%d of %d members connected to %v in %v", n-1, len(conns)-1, socket.Addr(), 2*dialTime)
		}
	}
	return nil
}

// dialFirst connects to the first member of a group.
func dialFirst(address string, key []byte, member int) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTime, KeepAlive: -1}).Dial("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, shortError(err))
	}
	_ = conn.SetDeadline(time.Now().Add(dialTime))
	err = errors.Join(greetRank0(conn, key, tcpHello{Rank: member}), conn.SetDeadline(time.Time{}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", address, shortError(err)), conn.Close())
	}
	return conn, nil
}
