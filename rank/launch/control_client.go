package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

// ControlClient is the end of the control channel on every rank but 0. A nil client is one that could not connect: its
// methods return errNoSideChannel.
type ControlClient struct {
	*pipe
	calls  callbacks
	answer func() State
	ended  chan struct{} // closed when the connection is over

	mu      sync.Mutex
	onEvent func(Event)
	onGone  func(error)
	early   []Event // that came before onEvent was set
	asked   map[uint64]chan State
	lastID  uint64
	closed  bool // by us, or rank 0 said bye
	over    bool
	err     error // why it is over
}

var background = context.Background()

// dialTime is how long looking for rank 0 may take in all.
const dialTime = 8 * time.Second

// DialControl connects this rank to rank 0's server; host is this rank's. answer says what this rank is doing, from any
// goroutine and without waiting for anything. The error names what was tried.
func DialControl(info string, rank int, host string, answer func() State) (*ControlClient, error) {
	var c contact
	if err := json.Unmarshal([]byte(info), &c); err != nil {
		return nil, fmt.Errorf("rank 0's contact cannot be read: %w", err)
	}
	ctx, cancel := context.WithTimeout(background, dialTime)
	defer cancel()
	targets := order(c, host, localNets())
	var errs []error
	for _, patience := range []time.Duration{time.Second, 3 * time.Second} {
		errs = errs[:0]
		for _, target := range targets {
			address := net.JoinHostPort(target, strconv.Itoa(c.Port))
			s, err := dialOne(ctx, address, patience, frame{Kind: frameHello, Token: c.Token, Rank: rank, Host: host,
				PID: os.Getpid()})
			if err == nil {
				s.answer, s.asked, s.ended = answer, map[uint64]chan State{}, make(chan struct{})
				go s.read()
				return s, nil
			}
			errs = append(errs, fmt.Errorf("%s: %w", address, err))
		}
	}
	return nil, fmt.Errorf("no TCP connection to rank 0 on %s: %w", c.Host, errors.Join(errs...))
}

func dialOne(ctx context.Context, address string, patience time.Duration, hello frame) (*ControlClient, error) {
	conn, err := (&net.Dialer{Timeout: patience, KeepAlive: -1}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, shortError(err)
	}
	s := &ControlClient{pipe: newPipe(conn)}
	limit := time.Now().Add(patience)
	err = errors.Join(s.send(hello, patience), conn.SetReadDeadline(limit))
	if err == nil {
		var f frame
		if f, err = s.receive(); err == nil && (f.Kind != frameWelcome || f.Token != proof(hello.Token)) {
			err = errors.New("somebody else answers there")
		}
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
		return nil, shortError(err)
	}
	return s, nil
}

// shortError leaves out the addresses, which the caller names.
func shortError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// Listen sets what to do with events of rank 0 and with the loss of it, in goroutines of their own; each may be nil.
// Events that came before are handed over now.
func (s *ControlClient) Listen(onEvent func(Event), onGone func(error)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onEvent, s.onGone = onEvent, onGone
	if onEvent != nil {
		for _, e := range s.early {
			s.calls.add(func() { onEvent(e) })
		}
		s.early = nil
	}
	if s.over && !s.closed && onGone != nil {
		err := s.err
		s.calls.add(func() { onGone(err) })
	}
}

func (s *ControlClient) read() {
	var err error
	for err == nil {
		var f frame
		if f, err = s.receive(); err == nil {
			s.handle(f)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over, s.err = true, fmt.Errorf("the side channel to rank 0 broke: %w", shortError(err))
	if s.closed {
		s.err = errors.New("the side channel to rank 0 is closed")
	} else if s.onGone != nil {
		onGone, err := s.onGone, s.err
		s.calls.add(func() { onGone(err) })
	}
	_ = s.conn.Close()
	close(s.ended)
}

func (s *ControlClient) handle(f frame) {
	switch {
	case f.Kind == frameAsk:
		var now State
		if s.answer != nil {
			now = s.answer()
		}
		_ = s.send(frame{Kind: frameState, ID: f.ID, State: &now}, sendTime)
	case f.Kind == frameState && f.State != nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		if waiting := s.asked[f.ID]; waiting != nil {
			waiting <- *f.State
			delete(s.asked, f.ID)
		}
	case f.Kind == frameEvent && f.Event != nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		if onEvent := s.onEvent; onEvent != nil {
			s.calls.add(func() { onEvent(*f.Event) })
		} else if len(s.early) < 16 {
			s.early = append(s.early, *f.Event)
		}
	case f.Kind == frameBye:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = true
	}
}

// Send sends an event to rank 0. Without an error the kernel has it, and it arrives even if this process ends now.
func (s *ControlClient) Send(e Event) error {
	if s == nil {
		return ErrNoControlChannel
	}
	return s.explain(s.send(frame{Kind: frameEvent, Event: &e}, sendTime))
}

// explain says why the connection is over, if it is, instead of what became of a frame.
func (s *ControlClient) explain(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.over {
		return s.err
	}
	return err
}

// Ask asks what rank 0 is doing. The error says that it does not answer within the timeout, or that the connection is
// over.
func (s *ControlClient) Ask(timeout time.Duration) (State, error) {
	if s == nil {
		return State{}, ErrNoControlChannel
	}
	waiting := make(chan State, 1)
	s.mu.Lock()
	s.lastID++
	id := s.lastID
	s.asked[id] = waiting
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asked, id)
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	if err := s.send(frame{Kind: frameAsk, ID: id}, timeout); err != nil {
		return State{}, s.explain(shortError(err))
	}
	select {
	case now := <-waiting:
		return now, nil
	case <-s.ended:
		return State{}, s.explain(ErrNoControlChannel)
	case <-timer.C:
		return State{}, fmt.Errorf("no answer within %s", timeout)
	}
}

// Close takes leave of rank 0, who is told that the end is no accident. Closing twice, or nil, does nothing.
func (s *ControlClient) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	again := s.closed && s.over
	s.closed = true
	s.mu.Unlock()
	if again {
		return
	}
	_ = s.send(frame{Kind: frameBye}, sendTime/4)
	_ = s.conn.Close()
	<-s.ended
}
