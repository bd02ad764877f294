package launch

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
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
	groups := []tcpComm{c.of(first, min(first+branch, n), 1)}
	if c.rank == first {
		groups = append(groups, c.of(0, n, branch))
	}
	return groups
}

// of is the group of the members from first to end in steps.
func (c tcpComm) of(first, end, step int) tcpComm {
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
		err := g.others(0, func(m int) error {
			data, err := g.receive(m, o)
			if err == nil {
				all, err = appendParts(all, data)
			}
			return err
		})
		if err != nil {
			return nil, err
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
		if g.rank == 0 {
			if err := g.others(0, func(m int) error { return g.send(m, o, data) }); err != nil {
				return err
			}
			continue
		}
		if err := g.receiveInto(data, 0, o); err != nil {
			return err
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
	conns, err := connectMembers(block)
	if err != nil {
		return fmt.Errorf("cannot connect ranks %d to %d: %w", block.members[0], block.members[block.Size()-1], err)
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

// memberHello is what a member sends first on its connection to the first member of a group.
type memberHello struct {
	Member int    `json:"member"`
	Token  string `json:"token"`
}

// connectMembers returns new connections of this member by member: to all others on the first, to the first elsewhere.
// Collective.
func connectMembers(c tcpComm) ([]net.Conn, error) {
	var socket net.Listener
	where, err := Share(c, func() (contact, error) {
		var err error
		address := ":0"
		if c.launch.meeting.Size == c.launch.meeting.LocalSize {
			address = "127.0.0.1:0"
		}
		if socket, err = (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), "tcp", address); err != nil {
			return contact{}, err
		}
		host, _ := os.Hostname()
		return contact{Host: host, Port: socket.Addr().(*net.TCPAddr).Port, Token: rand.Text(),
			Addresses: ownAddresses()}, nil
	})
	if err != nil {
		return nil, err
	}
	conns := make([]net.Conn, c.Size())
	if c.rank == 0 {
		defer socket.Close()
		return conns, acceptMembers(conns, socket, where.Token)
	}
	conns[0], err = dialFirst(where, memberHello{c.rank, where.Token})
	return conns, err
}

// acceptMembers waits for the connections of all members but the first.
func acceptMembers(conns []net.Conn, socket net.Listener, token string) error {
	if err := socket.(*net.TCPListener).SetDeadline(time.Now().Add(2 * dialTime)); err != nil {
		return err
	}
	for n := 1; n < len(conns); {
		conn, err := socket.Accept()
		if err != nil {
			return fmt.Errorf("%d of %d members connected: %w", n, len(conns), shortError(err))
		}
		_ = conn.SetDeadline(time.Now().Add(handshakeTime))
		var hello memberHello
		text, err := receiveText(conn)
		if err == nil {
			err = json.Unmarshal(text, &hello)
		}
		if err != nil || subtle.ConstantTimeCompare([]byte(hello.Token), []byte(token)) != 1 ||
			hello.Member < 1 || hello.Member >= len(conns) || conns[hello.Member] != nil {
			_ = conn.Close()
			continue
		}
		if err := errors.Join(sendText(conn, nil), conn.SetDeadline(time.Time{})); err != nil {
			return err
		}
		conns[hello.Member] = conn
		n++
	}
	return nil
}

// dialFirst connects to the first member of a group.
func dialFirst(where contact, hello memberHello) (net.Conn, error) {
	text, err := json.Marshal(hello)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	var errs []error
	for _, target := range order(where, host, localNets()) {
		address := net.JoinHostPort(target, strconv.Itoa(where.Port))
		conn, err := (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: -1}).Dial("tcp", address)
		if err == nil {
			_ = conn.SetDeadline(time.Now().Add(handshakeTime))
			if err = sendText(conn, text); err == nil {
				_, err = receiveText(conn)
			}
			if err = errors.Join(err, conn.SetDeadline(time.Time{})); err == nil {
				return conn, nil
			}
			_ = conn.Close()
		}
		errs = append(errs, fmt.Errorf("%s: %w", address, shortError(err)))
	}
	return nil, errors.Join(errs...)
}
