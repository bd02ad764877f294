package launch

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// The control channel (the side channel in messages) is one TCP connection from every rank to rank 0 that needs nothing
// of MPI, so that a hang in MPI can be looked into and a signal to one rank can end the job in good order. Nothing
// moves on it while measuring: no heartbeat, no keep-alive. Rank 0 holds the server, every other rank a client; both
// speak frames, one JSON object a line.
//
// A rank that cannot connect (a firewall) is unknown to the server, and everything else goes on.

// State is what a rank is doing. Ranks are compared by Number, Step, Iteration and Stage, in this order.
type State struct {
	Rank      int           `json:"-"`
	Host      string        `json:"-"`
	Phase     string        `json:"phase"`
	Number    uint64        `json:"number,omitempty"` // of the case, growing by one with each
	Case      string        `json:"case,omitempty"`   // as text; empty: none
	Group     string        `json:"group,omitempty"`  // that measures it; empty: there are no groups
	Step      uint64        `json:"step,omitempty"`   // phases begun since the case began; all ranks pass the same ones
	Iteration uint64        `json:"iteration,omitempty"`
	Stage     string        `json:"stage,omitempty"`  // of the iteration, by loop.Stage; empty: between operations
	Since     time.Duration `json:"since"`            // in this phase
	Says      string        `json:"says,omitempty"`   // the library's own last word on an error or on what it waits for
	Silent    []Report      `json:"silent,omitempty"` // ranks of the same host, by its memory: they cannot answer
}

// Event is something a rank has to say unasked.
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
	frameHello   = "hello"   // client to server: token, rank, host, pid
	frameWelcome = "welcome" // server to client: proof of the token
	frameAsk     = "ask"     // either way
	frameState   = "state"   // the answer
	frameEvent   = "event"   // either way
	frameBye     = "bye"     // either way: the end of the connection is no accident
)

const (
	frameLimit    = 16 << 10 // bytes; longer lines are a stranger's
	silentBytes   = 2 << 10  // of a silent rank, about
	handshakeTime = 5 * time.Second
	sendTime      = 2 * time.Second
)

// ErrNoControlChannel is the error of a rank that could not connect to rank 0.
var ErrNoControlChannel = errors.New("no side channel to rank 0")

// contact is what a client needs to find the server.
type contact struct {
	Host      string   `json:"host"`
	Port      int      `json:"port"`
	Token     string   `json:"token"`
	Addresses []string `json:"addresses"` // IP addresses of the server's host, the likeliest first
}

// proof shows that the server knows the token without handing it to whoever else listens on that port.
func proof(token string) string {
	sum := sha256.Sum256([]byte("busbar hub " + token))
	return hex.EncodeToString(sum[:])
}

// pipe sends and receives frames. Any goroutine may send; one receives.
type pipe struct {
	conn net.Conn
	in   *bufio.Reader

	sending sync.Mutex
}

func newPipe(conn net.Conn) *pipe {
	return &pipe{conn: conn, in: bufio.NewReaderSize(conn, 512)} // ten thousand of them lie idle on rank 0
}

// send returns when the kernel has the frame, or within the timeout. A peer that does not read ends the connection
// only when its buffers are full, since half a frame cannot be taken back.
func (p *pipe) send(f frame, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	p.sending.Lock()
	defer p.sending.Unlock()
	return p.write(f, deadline)
}

// write is send by who holds p.sending.
func (p *pipe) write(f frame, deadline time.Time) error {
	line, err := encode(f)
	if err != nil {
		return err
	}
	if err := p.conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	n, err := p.conn.Write(line)
	if err != nil && n > 0 {
		_ = p.conn.Close()
	}
	return err
}

// encode writes a frame as a line; texts too long for a frame are cut.
func encode(f frame) ([]byte, error) {
	if f.State != nil {
		s := *f.State
		s.Phase, s.Case, s.Group, s.Stage = units.Truncate(s.Phase, 200), units.Truncate(s.Case, 1000),
			units.Truncate(s.Group, 600), units.Truncate(s.Stage, 200)
		f.State = &s
	}
	f.Host = units.Truncate(f.Host, 255)
	for limit := frameLimit / 2; ; limit /= 2 {
		if f.Event != nil {
			e := *f.Event
			e.Kind, e.Cause.Fact = units.Truncate(e.Kind, 100), cutCause(e.Cause.Fact, limit/2)
			f.Event = &e
		}
		if f.State != nil {
			f.State.Silent = f.State.Silent[:min(len(f.State.Silent), limit/silentBytes)]
		}
		line, err := json.Marshal(f)
		if err != nil || len(line) < frameLimit {
			return append(line, '\n'), err
		}
		if limit == 0 {
			return nil, fmt.Errorf("a frame of %d bytes is too long for the side channel", len(line))
		}
	}
}

// cutCause limits the texts and lists of what ranks tell rank 0.
func cutCause(cause notice.Fact, limit int) notice.Fact {
	switch f := cause.(type) {
	case notice.RankFailed:
		f.Problem = units.Truncate(f.Problem, limit)
		return f
	case notice.RankCrashed:
		f.Problem, f.Stack = units.Truncate(f.Problem, limit), units.Truncate(f.Stack, limit)
		return f
	case notice.RunHung:
		const each = 1000 // bytes of a rank at most, about
		f.Problem, f.Ranks = units.Truncate(f.Problem, limit), f.Ranks[:min(len(f.Ranks), limit/each)]
		return f
	}
	return cause
}

// receive waits for the next frame.
func (p *pipe) receive() (frame, error) {
	var f frame
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
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
		return f, fmt.Errorf("no frame of the side channel: %w", err)
	}
	return f, nil
}

// callbacks runs functions one after another in a goroutine of its own, which ends when there are none: a callback may
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

// CaseName is the case in hand with the group that measures it.
func (s State) CaseName() string {
	if s.Group == "" {
		return s.Case
	}
	return s.Case + " of " + s.Group
}
