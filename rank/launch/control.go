package launch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"busbar/internal/notice"
)

// The control channel (the side channel in messages) is one TCP connection from every rank to rank 0 that needs nothing
// of MPI, so that rank 0 can diagnose a hang in MPI and a signal to one rank can end the job cleanly. Nothing
// moves on it while measuring: no heartbeat, no keep-alive. A frame is one JSON
// object a line.
//
// A rank that cannot connect (a firewall) is unknown to the server; the run continues.

// State is what a rank is doing. Ranks are compared by Number, Step, Iteration and Stage, in this order.
type State struct {
	Rank         int           `json:"-"`
	Host         string        `json:"-"`
	Phase        string        `json:"phase"`
	Number       uint64        `json:"number,omitempty"` // of the case, growing by one with each
	Case         string        `json:"case,omitempty"`   // as text; empty: none
	Group        string        `json:"group,omitempty"`  // that measures it; empty: there are no groups; see Joint
	Step         uint64        `json:"step,omitempty"`   // phases since the case began; equal on all ranks
	Iteration    uint64        `json:"iteration,omitempty"`
	Stage        string        `json:"stage,omitempty"`         // of the iteration (loop.Stage); empty: none
	Since        time.Duration `json:"since"`                   // in this phase
	Limit        time.Duration `json:"limit,omitempty"`         // of this phase, if longer than --deadline
	LibraryError string        `json:"library_error,omitempty"` // or what the library waits for
	Silent       []Report      `json:"silent,omitempty"`        // ranks of the same host that cannot answer
}

// Joint is how State.Group begins if this rank's groups share ranks with others, so that all ranks wait for each other.
const Joint = "+"

// CaseName is the case in hand with the group that measures it.
func (s State) CaseName() string {
	if s.Group == "" {
		return s.Case
	}
	return s.Case + " of " + strings.TrimPrefix(s.Group, Joint)
}

// Event is a message that a rank sends unasked.
type Event struct {
	Kind string `json:"kind"` // "signal", "failed", "hang"; "abort" from rank 0
	Code int    `json:"code,omitempty"`

	Cause notice.Kept `json:"cause,omitzero"` // of "failed"
}

// frame is one message.
type frame struct {
	Kind  string `json:"k"`
	ID    uint64 `json:"id,omitempty"` // of a question and its answer
	Token string `json:"token,omitempty"`
	Rank  int    `json:"rank,omitempty"`
	Host  string `json:"host,omitempty"`
	PID   int    `json:"pid,omitempty"`
	State *State `json:"state,omitempty"`
	Event *Event `json:"event,omitempty"`
}

// The kinds of frames.
const (
	frameHello   = "hello"   // to rank 0: token, rank, host, pid
	frameWelcome = "welcome" // from rank 0: the token was right
	frameAsk     = "ask"     // either way
	frameState   = "state"   // the answer
	frameEvent   = "event"   // either way
	frameBye     = "bye"     // either way: the end of the connection is no accident
)

const (
	frameLimit    = 256 << 10 // bytes; a longer line is not from a rank
	handshakeTime = 5 * time.Second
	sendTime      = 2 * time.Second
)

// Handlers is what one end of the control channel does. Event and Gone run in a goroutine of their own, those of one
// peer in order; they may ask, and need not return.
type Handlers struct {
	State func() State                 // returns what this rank is doing, without waiting
	Event func(rank int, e Event)      // handles an event that a rank sent
	Gone  func(rank int, reason error) // a connection broke: the process of that rank exited or its host is down
}

// ErrNoControlChannel is the error of a rank that could not connect to rank 0.
var ErrNoControlChannel = errors.New("no side channel to rank 0")

var errOver = errors.New("the side channel is closed")

// contact is what a client needs to find the server.
type contact struct {
	Host      string   `json:"host"`
	Port      int      `json:"port"`
	Token     string   `json:"token"`
	Addresses []string `json:"addresses"` // IP addresses of the server's host, the likeliest first
}

// Connection is one end of a connection between rank 0 and another rank. Any goroutine may use it. A nil Connection is
// one that could not be opened: its methods return ErrNoControlChannel.
type Connection struct {
	conn  net.Conn
	in    *bufio.Reader
	peer  frame // the hello of the rank at the other end; zero for rank 0
	on    Handlers
	calls callbacks
	over  chan struct{} // closed when the connection is over

	sending sync.Mutex

	mu     sync.Mutex // guards what follows
	asked  map[uint64]chan State
	lastID uint64
	left   bool // one of the two ends sent bye
}

func newConnection(conn net.Conn, on Handlers) *Connection {
	return &Connection{conn: conn, in: bufio.NewReaderSize(conn, 512), // ten thousand of them lie idle on rank 0
		on: on, asked: map[uint64]chan State{}, over: make(chan struct{})}
}

// send returns when the kernel has the frame, or within the timeout. A peer that does not read ends the connection
// only when its buffers are full, since half a frame cannot be taken back.
func (c *Connection) send(f frame, timeout time.Duration) error {
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(line) >= frameLimit {
		return fmt.Errorf("a frame of %d bytes is too long for the side channel", len(line))
	}
	deadline := time.Now().Add(timeout)
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	n, err := c.conn.Write(append(line, '\n'))
	if err != nil && n > 0 {
		_ = c.conn.Close()
	}
	return err
}

// receive waits for the next frame.
func (c *Connection) receive() (frame, error) {
	var f frame
	var line []byte
	for {
		part, err := c.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > frameLimit {
			return f, fmt.Errorf("a line of more than %d bytes on the side channel", frameLimit)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return f, err
		}
	}
	if err := json.Unmarshal(line, &f); err != nil {
		return f, fmt.Errorf("invalid frame on the side channel: %w", err)
	}
	return f, nil
}

// read handles frames until the connection is over.
func (c *Connection) read() {
	var err error
	for err == nil {
		var f frame
		if f, err = c.receive(); err == nil {
			c.handle(f)
		}
	}
	_ = c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.over)
	if !c.left {
		reason := fmt.Errorf("the side channel to rank %d broke: %w", c.peer.Rank, shortError(err))
		c.calls.add(func() { c.on.Gone(c.peer.Rank, reason) })
	}
}

func (c *Connection) handle(f frame) {
	switch {
	case f.Kind == frameAsk:
		now := c.on.State()
		_ = c.send(frame{Kind: frameState, ID: f.ID, State: &now}, sendTime)
	case f.Kind == frameState && f.State != nil:
		c.mu.Lock()
		defer c.mu.Unlock()
		if waiting := c.asked[f.ID]; waiting != nil { // else it is too late
			waiting <- *f.State
			delete(c.asked, f.ID)
		}
	case f.Kind == frameEvent && f.Event != nil:
		c.calls.add(func() { c.on.Event(c.peer.Rank, *f.Event) })
	case f.Kind == frameBye:
		c.leave()
	}
}

// leave records that the end of the connection is no accident.
func (c *Connection) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
}

// Send sends an event. Without an error the kernel has it, and it arrives even if this process ends now.
func (c *Connection) Send(e Event) error {
	if c == nil {
		return ErrNoControlChannel
	}
	return c.send(frame{Kind: frameEvent, Event: &e}, sendTime)
}

// Ask returns what the rank at the other end is doing. It fails after the timeout, or if the connection is closed.
func (c *Connection) Ask(timeout time.Duration) (State, error) {
	if c == nil {
		return State{}, ErrNoControlChannel
	}
	waiting := make(chan State, 1)
	c.mu.Lock()
	c.lastID++
	id := c.lastID
	c.asked[id] = waiting
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.asked, id)
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	go c.send(frame{Kind: frameAsk, ID: id}, timeout) //nolint:errcheck // a rank without a channel does not answer
	select {
	case now := <-waiting:
		return now, nil
	case <-c.over:
		return State{}, errOver
	case <-timer.C:
		return State{}, fmt.Errorf("no answer within %s", timeout)
	}
}

// Close ends the connection cleanly and informs the other end.
func (c *Connection) Close() {
	if c == nil {
		return
	}
	c.leave()
	_ = c.send(frame{Kind: frameBye}, sendTime/4)
	_ = c.conn.Close()
	<-c.over
}

// callbacks runs functions one after another in a separate goroutine, which ends with the last one: a callback may
// ask other ranks, or never return, while the connection goes on being read.
type callbacks struct {
	mu      sync.Mutex
	queue   []func()
	running bool
}

func (c *callbacks) add(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, f)
	if !c.running {
		c.running = true
		go c.run()
	}
}

func (c *callbacks) run() {
	for {
		c.mu.Lock()
		if len(c.queue) == 0 {
			c.running = false
			c.mu.Unlock()
			return
		}
		f := c.queue[0]
		c.queue = c.queue[1:]
		c.mu.Unlock()
		f()
	}
}
