package launch

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

// ControlServer is rank 0's end of the control channel.
type ControlServer struct {
	// Set before the contact is given to other ranks. The callbacks run in goroutines of their own, those of one rank
	// in order; they may ask, and need not return. Each may be nil.
	Self    func() State               // what rank 0 is doing; must not wait
	OnGone  func(rank int)             // a connection broke without a word: the process or its host is gone
	OnEvent func(rank int, what Event) // what a rank has to say

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

	left bool      // said bye; guarded by the server's mu
	gone time.Time // when the connection broke; guarded by the server's mu
}

// question is one ask that waits for answers.
type question struct {
	answers map[int]State
	want    int
	done    chan struct{}
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
	State    State         `json:"state"`       // if it answered; else what it did last, where that is known
	At       time.Time     `json:"at,omitzero"` // when it was gone
	Silence  time.Duration `json:"silence,omitempty"`
	Process  string        `json:"process,omitempty"` // why it is silent, where the kernel tells
}

// ListenControl listens on a free TCP port of all interfaces. contact goes to the other ranks, who hand it to
// DialControl; it holds a secret of this job.
func ListenControl(size int) (h *ControlServer, contactInfo string, err error) {
	var secret [16]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, "", err
	}
	listener, err := (&net.ListenConfig{KeepAlive: -1}).Listen(background, "tcp", ":0")
	if err != nil {
		return nil, "", fmt.Errorf("cannot listen on a TCP port: %w", err)
	}
	h = &ControlServer{size: size, token: hex.EncodeToString(secret[:]), socket: listener,
		opened: map[net.Conn]struct{}{}, members: map[int]*member{}, asked: map[uint64]*question{}}
	host, _ := os.Hostname()
	info, err := json.Marshal(contact{Host: host, Port: listener.Addr().(*net.TCPAddr).Port, Token: h.token,
		Addresses: ownAddresses()})
	if err != nil {
		_ = listener.Close()
		return nil, "", err
	}
	h.readers.Add(1)
	go h.accept()
	return h, string(info), nil
}

func (h *ControlServer) accept() {
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

func (h *ControlServer) serve(conn net.Conn) {
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
	if unexpected && h.OnGone != nil {
		m.calls.add(func() { h.OnGone(m.rank) })
	}
}

// greet takes a connection in if it knows the token. A second one of a rank takes the place of the first: the rank gave
// that up while it was on its way.
func (h *ControlServer) greet(p *pipe) (*member, error) {
	if err := p.conn.SetReadDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, err
	}
	f, err := p.receive()
	if err != nil {
		return nil, err
	}
	if f.Kind != frameHello || subtle.ConstantTimeCompare([]byte(f.Token), []byte(h.token)) != 1 || f.Rank < 1 ||
		f.Rank >= h.size {
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

func (h *ControlServer) handle(m *member, f frame) {
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
		var s State
		if h.Self != nil {
			s = h.Self()
		}
		_ = m.send(frame{Kind: frameState, ID: f.ID, State: &s}, sendTime)
	case f.Kind == frameEvent && f.Event != nil && h.OnEvent != nil:
		m.calls.add(func() { h.OnEvent(m.rank, *f.Event) })
	case f.Kind == frameBye:
		h.mu.Lock()
		defer h.mu.Unlock()
		m.left = true
	}
}

// present are the ranks that are connected.
func (h *ControlServer) present() []*member {
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

// Ask asks every rank what it is doing and reports on ranks 1 to size-1, in order, after the timeout at the latest.
func (h *ControlServer) Ask(timeout time.Duration) []Report {
	members := h.present()
	q := &question{answers: map[int]State{}, want: len(members), done: make(chan struct{})}
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
	reports := make([]Report, 0, max(0, h.size-1))
	for rank := 1; rank < h.size; rank++ {
		reports = append(reports, h.reportOn(rank, q))
	}
	return reports
}

func (h *ControlServer) reportOn(rank int, q *question) Report {
	m := h.members[rank]
	if m == nil {
		return Report{Rank: rank, Standing: Unreachable}
	}
	r := Report{Rank: rank, Host: m.host, PID: m.pid, Standing: Silent}
	s, ok := q.answers[rank]
	switch {
	case ok:
		s.Rank, s.Host = rank, m.host
		r.Standing, r.State = Answered, s
	case !m.gone.IsZero():
		r.Standing, r.At = Gone, m.gone
	case m.left:
		r.Standing = Left
	}
	return r
}

// Missing are the ranks that never connected, sorted.
func (h *ControlServer) Missing() []int {
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

// Broadcast sends an event to every connected rank and says how many got it; it takes the send timeout at the longest.
func (h *ControlServer) Broadcast(e Event) int {
	return h.sendAll(frame{Kind: frameEvent, Event: &e}, sendTime)
}

func (h *ControlServer) sendAll(f frame, timeout time.Duration) (sent int) {
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

// Close takes leave of all ranks, who are told that the end is no accident. Closing twice does nothing.
func (h *ControlServer) Close() {
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
