package launch

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// ControlServer is rank 0's end of the control channel.
type ControlServer struct {
	on      Handlers
	size    int
	token   string
	socket  net.Listener
	readers sync.WaitGroup

	mu      sync.Mutex // guards what follows
	opened  map[net.Conn]struct{}
	members map[int]*Connection // that have connected, by rank
	closed  bool
}

// Standing is what the server knows of a rank.
type Standing string

// The standings.
const (
	Answered    Standing = "answered"
	Silent      Standing = "silent"      // connected, but no answer in time
	Gone        Standing = "gone"        // the connection broke
	Left        Standing = "left"        // ended in good order
	Unreachable Standing = "unreachable" // never connected
)

// Report is what is known of one rank: what the server hears, or what the memory of a host shows.
type Report struct {
	Rank     int           `json:"rank"`
	Host     string        `json:"host"` // empty if it never connected
	PID      int           `json:"pid"`
	Standing Standing      `json:"standing"`
	State    State         `json:"state"` // if it answered; else what it did last, where that is known
	Silence  time.Duration `json:"silence,omitempty"`
	Process  string        `json:"process,omitempty"` // why it is silent, if the kernel shows it
}

// ListenControl listens on a free TCP port of all interfaces. contact goes to the other ranks, who hand it to
// DialControl; it holds a secret of this job.
func ListenControl(size int, on Handlers) (h *ControlServer, contactInfo string, err error) {
	listener, err := (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), "tcp", ":0")
	if err != nil {
		return nil, "", fmt.Errorf("cannot listen on a TCP port: %w", err)
	}
	h = &ControlServer{on: on, size: size, token: rand.Text(), socket: listener, opened: map[net.Conn]struct{}{},
		members: map[int]*Connection{}}
	host, _ := os.Hostname()
	info, err := json.Marshal(contact{Host: host, Port: listener.Addr().(*net.TCPAddr).Port, Token: h.token,
		Addresses: ownAddresses()})
	if err != nil {
		return nil, "", errors.Join(err, listener.Close())
	}
	h.readers.Go(h.accept)
	return h, string(info), nil
}

func (h *ControlServer) accept() {
	for {
		conn, err := h.socket.Accept()
		h.mu.Lock()
		closed := h.closed
		switch {
		case err == nil && closed:
			_ = conn.Close()
		case err == nil:
			h.opened[conn] = struct{}{}
			h.readers.Go(func() { h.serve(conn) })
		}
		h.mu.Unlock()
		if closed {
			return
		}
		if err != nil { // most likely no file descriptor is left; those who dial try again
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func (h *ControlServer) serve(conn net.Conn) {
	if m := h.greet(newConnection(conn, h.on)); m != nil { // else not a rank, or a rank that will retry
		m.read()
	}
	_ = conn.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.opened, conn)
}

// greet makes a connection a member if it knows the token; else it returns nil. A second one of a rank replaces the
// first: the rank gave that up while it was on its way.
func (h *ControlServer) greet(c *Connection) *Connection {
	_ = c.conn.SetReadDeadline(time.Now().Add(handshakeTime))
	f, err := c.receive()
	if err != nil || f.Kind != frameHello || f.Rank < 1 || f.Rank >= h.size ||
		subtle.ConstantTimeCompare([]byte(f.Token), []byte(h.token)) != 1 {
		return nil
	}
	_ = c.conn.SetReadDeadline(time.Time{})
	c.peer = f
	h.mu.Lock()
	defer h.mu.Unlock() // the welcome is the first frame, and the rank is known before it receives that
	if c.send(frame{Kind: frameWelcome}, sendTime) != nil {
		return nil
	}
	if before := h.members[f.Rank]; before != nil {
		before.leave()
		_ = before.conn.Close()
	}
	h.members[f.Rank] = c
	return c
}

func (h *ControlServer) member(rank int) *Connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.members[rank]
}

// Ask asks every rank what it is doing and reports on ranks 1 to size-1, in order, after the timeout at the latest.
func (h *ControlServer) Ask(timeout time.Duration) []Report {
	reports := make([]Report, h.size-1)
	var wait sync.WaitGroup
	for i := range reports {
		wait.Go(func() { reports[i] = h.ask(i+1, timeout) })
	}
	wait.Wait()
	return reports
}

func (h *ControlServer) ask(rank int, timeout time.Duration) Report {
	m := h.member(rank)
	if m == nil {
		return Report{Rank: rank, Standing: Unreachable}
	}
	r := Report{Rank: rank, Host: m.peer.Host, PID: m.peer.PID, Standing: Silent}
	s, err := m.Ask(timeout)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		s.Rank, s.Host = rank, m.peer.Host
		r.Standing, r.State = Answered, s
	case m.left:
		r.Standing = Left
	case errors.Is(err, errOver):
		r.Standing = Gone
	}
	return r
}

// Missing are the ranks that never connected, sorted.
func (h *ControlServer) Missing() (ranks []int) {
	for rank := 1; rank < h.size; rank++ {
		if h.member(rank) == nil {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// Broadcast sends an event to every connected rank; it takes the send timeout at most.
func (h *ControlServer) Broadcast(e Event) {
	h.each(func(c *Connection) { _ = c.Send(e) })
}

// each calls f for all members at the same time.
func (h *ControlServer) each(f func(*Connection)) {
	h.mu.Lock()
	members := slices.Collect(maps.Values(h.members))
	h.mu.Unlock()
	var wait sync.WaitGroup
	for _, m := range members {
		wait.Go(func() { f(m) })
	}
	wait.Wait()
}

// Close closes the connections to all ranks, which learn that the end is intended. Closing twice does nothing.
func (h *ControlServer) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	_ = h.socket.Close()
	h.each((*Connection).Close)
	h.mu.Lock()
	for conn := range h.opened { // those that are no members
		_ = conn.Close()
	}
	h.mu.Unlock()
	h.readers.Wait()
}
