package main

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// hub is rank 0's end of the side channel.
type hub struct {
	// Set before the contact is given to other ranks. The callbacks run in goroutines of their own, those of one rank
	// in order; they may ask, and need not return. Each may be nil.
	self    func() state               // what rank 0 is doing; must not wait
	onGone  func(rank int)             // a connection broke without a word: the process or its host is gone
	onEvent func(rank int, what event) // what a rank has to say

	size    int
	token   string
	socket  net.Listener
	readers sync.WaitGroup

	mu      sync.Mutex // guards what follows
	opened  map[net.Conn]struct{}
	members map[int]*member
	asked   map[uint64]*question
	lastID  uint64
	closed  bool
}

// member is a rank that has connected.
type member struct {
	*pipe
	calls callbacks
	rank  int
	host  string
	pid   int

	left bool      // said bye; guarded by the hub's mu
	gone time.Time // when the connection broke; guarded by the hub's mu
}

// question is one ask that waits for answers.
type question struct {
	answers map[int]state
	want    int
	done    chan struct{}
}

// standing is what the hub knows of a rank.
type standing string

const (
	answered    standing = "answered"
	silent      standing = "silent"      // connected, but no answer in time
	gone        standing = "gone"        // the connection broke
	left        standing = "left"        // ended in good order
	unreachable standing = "unreachable" // never connected
)

// report is what is known of one rank: what the hub hears, or what the memory and the files of hosts show.
type report struct {
	Rank     int
	Host     string // empty if it never connected
	PID      int
	Standing standing
	State    state     // if it answered; else what it did last, where that is known
	At       time.Time // when it was gone
	Silence  time.Duration
	Process  string // why it is silent, where the kernel tells
}

// newHub listens on a free TCP port of all interfaces. contact goes to the other ranks, who hand it to dialHub; it holds
// a secret of this job.
func newHub(size int) (h *hub, contactInfo string, err error) {
	var secret [16]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, "", err
	}
	listener, err := (&net.ListenConfig{KeepAlive: -1}).Listen(background, "tcp", ":0")
	if err != nil {
		return nil, "", fmt.Errorf("cannot listen on a TCP port: %w", err)
	}
	h = &hub{size: size, token: hex.EncodeToString(secret[:]), socket: listener,
		opened: map[net.Conn]struct{}{}, members: map[int]*member{}, asked: map[uint64]*question{}}
	host, _ := os.Hostname()
	info, err := json.Marshal(contact{Host: host, Port: listener.Addr().(*net.TCPAddr).Port, Token: h.token, Addresses: ownAddresses()})
	if err != nil {
		_ = listener.Close()
		return nil, "", err
	}
	h.readers.Add(1)
	go h.accept()
	return h, string(info), nil
}

func (h *hub) accept() {
	defer h.readers.Done()
	for {
		conn, err := h.socket.Accept()
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		if err == nil {
			h.opened[conn] = struct{}{}
			h.readers.Add(1)
			go h.serve(conn)
		}
		h.mu.Unlock()
		if err != nil { // most likely no file descriptor is left; those who dial try again
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func (h *hub) serve(conn net.Conn) {
	defer h.readers.Done()
	defer func() {
		_ = conn.Close()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.opened, conn)
	}()
	m, err := h.greet(newPipe(conn))
	if err != nil {
		return // a stranger, or a rank that will try again
	}
	for {
		f, err := m.receive()
		if err != nil {
			break
		}
		h.handle(m, f)
	}
	h.mu.Lock()
	unexpected := !h.closed && !m.left && h.members[m.rank] == m
	if unexpected {
		m.gone = time.Now()
	}
	h.mu.Unlock()
	if unexpected && h.onGone != nil {
		m.calls.add(func() { h.onGone(m.rank) })
	}
}

// greet takes a connection in if it knows the token. A second one of a rank takes the place of the first: the rank gave
// that up while it was on its way.
func (h *hub) greet(p *pipe) (*member, error) {
	if err := p.conn.SetReadDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, err
	}
	f, err := p.receive()
	if err != nil {
		return nil, err
	}
	if f.Kind != frameHello || subtle.ConstantTimeCompare([]byte(f.Token), []byte(h.token)) != 1 || f.Rank < 1 || f.Rank >= h.size {
		return nil, fmt.Errorf("no rank of this job")
	}
	if err := p.conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	// The welcome must be the first frame, and the rank must be known before it believes that it is.
	p.sending.Lock()
	defer p.sending.Unlock()
	m := &member{pipe: p, rank: f.Rank, host: f.Host, pid: f.PID}
	h.mu.Lock()
	before := h.members[m.rank]
	h.members[m.rank] = m
	h.mu.Unlock()
	if before != nil {
		_ = before.conn.Close()
	}
	return m, p.write(frame{Kind: frameWelcome, Token: proof(h.token)}, time.Now().Add(sendTime))
}

func (h *hub) handle(m *member, f frame) {
	switch {
	case f.Kind == frameState && f.State != nil:
		h.mu.Lock()
		defer h.mu.Unlock()
		q := h.asked[f.ID]
		if q == nil {
			return // too late
		}
		q.answers[m.rank] = *f.State
		if len(q.answers) == q.want {
			close(q.done)
			delete(h.asked, f.ID)
		}
	case f.Kind == frameAsk:
		var s state
		if h.self != nil {
			s = h.self()
		}
		_ = m.send(frame{Kind: frameState, ID: f.ID, State: &s}, sendTime)
	case f.Kind == frameEvent && f.Event != nil && h.onEvent != nil:
		m.calls.add(func() { h.onEvent(m.rank, *f.Event) })
	case f.Kind == frameBye:
		h.mu.Lock()
		defer h.mu.Unlock()
		m.left = true
	}
}

// present are the ranks that are connected.
func (h *hub) present() []*member {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*member
	for _, m := range h.members {
		if m.gone.IsZero() && !m.left {
			all = append(all, m)
		}
	}
	return all
}

// ask asks every rank what it is doing and reports on ranks 1 to size-1, in order, after the timeout at the latest.
func (h *hub) ask(timeout time.Duration) []report {
	members := h.present()
	q := &question{answers: map[int]state{}, want: len(members), done: make(chan struct{})}
	h.mu.Lock()
	h.lastID++
	id := h.lastID
	h.asked[id] = q
	h.mu.Unlock()
	if len(members) > 0 {
		for _, m := range members {
			go m.send(frame{Kind: frameAsk, ID: id}, timeout) //nolint:errcheck // who cannot be asked does not answer
		}
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		select {
		case <-q.done:
		case <-timer.C:
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.asked, id)
	reports := make([]report, 0, max(0, h.size-1))
	for rank := 1; rank < h.size; rank++ {
		reports = append(reports, h.reportOn(rank, q))
	}
	return reports
}

func (h *hub) reportOn(rank int, q *question) report {
	m := h.members[rank]
	if m == nil {
		return report{Rank: rank, Standing: unreachable}
	}
	r := report{Rank: rank, Host: m.host, PID: m.pid, Standing: silent}
	s, ok := q.answers[rank]
	switch {
	case ok:
		s.Rank, s.Host = rank, m.host
		r.Standing, r.State = answered, s
	case !m.gone.IsZero():
		r.Standing, r.At = gone, m.gone
	case m.left:
		r.Standing = left
	}
	return r
}

// missing are the ranks that never connected, sorted.
func (h *hub) missing() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ranks []int
	for rank := 1; rank < h.size; rank++ {
		if h.members[rank] == nil {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// tellAll sends an event to every connected rank and says how many got it; it takes the send timeout at the longest.
func (h *hub) tellAll(e event) int { return h.sendAll(frame{Kind: frameEvent, Event: &e}, sendTime) }

func (h *hub) sendAll(f frame, timeout time.Duration) (sent int) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, m := range h.present() {
		wait.Go(func() {
			if m.send(f, timeout) == nil {
				mu.Lock()
				defer mu.Unlock()
				sent++
			}
		})
	}
	wait.Wait()
	return sent
}

// close takes leave of all ranks, who are told that the end is no accident. Closing twice does nothing.
func (h *hub) close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	again := h.closed
	h.closed = true
	h.mu.Unlock()
	if again {
		return
	}
	_ = h.socket.Close()
	h.sendAll(frame{Kind: frameBye}, sendTime/4)
	h.mu.Lock()
	for conn := range h.opened {
		_ = conn.Close()
	}
	h.mu.Unlock()
	h.readers.Wait()
}
