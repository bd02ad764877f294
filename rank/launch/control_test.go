package launch

import (
	"encoding/json"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"busbar/internal/notice"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// long exceeds the time of any of these tests; short is for calls without a reply.
const (
	long  = 20 * time.Second
	short = 200 * time.Millisecond
)

// handlers are those of a rank in a phase; both functions may be nil.
func handlers(phase string, event func(int, Event), gone func(int)) Handlers {
	return Handlers{State: func() State { return State{Phase: phase} },
		Event: func(rank int, e Event) {
			if event != nil {
				event(rank, e)
			}
		},
		Gone: func(rank int, _ error) {
			if gone != nil {
				gone(rank)
			}
		}}
}

// startChannel starts a job whose ranks are goroutines: a server, and clients for the ranks given.
func startChannel(t *testing.T, size int, on Handlers, ranks ...int) (*ControlServer, map[int]*Connection, string) {
	t.Helper()
	h, info, err := ListenControl(size, on)
	must.NoError(t, err)
	t.Cleanup(h.Close)
	clients := map[int]*Connection{}
	for _, rank := range ranks {
		clients[rank] = dial(t, info, rank, handlers(fmt.Sprint("phase ", rank), nil, nil))
	}
	return h, clients, info
}

func dial(t *testing.T, info string, rank int, on Handlers) *Connection {
	t.Helper()
	c, err := DialControl(info, rank, fmt.Sprintf("node%d", rank), on)
	must.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func contactOf(t *testing.T, info string) (c contact) {
	t.Helper()
	must.NoError(t, json.Unmarshal([]byte(info), &c))
	return c
}

func dialRaw(t *testing.T, info string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", contactOf(t, info).Port))
	must.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(long))
	return conn
}

// mute is a rank that connects and then neither reads nor writes, like a stopped process.
func mute(t *testing.T, info string, rank int) *Connection {
	t.Helper()
	c := newConnection(dialRaw(t, info), Handlers{})
	hello := frame{Kind: frameHello, Token: contactOf(t, info).Token, Rank: rank, Host: "stopped", PID: 77}
	must.NoError(t, c.send(hello, long))
	f, err := c.receive()
	must.NoError(t, err)
	must.EqOp(t, frameWelcome, f.Kind)
	return c
}

func wait[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(long):
		t.Fatalf("waited in vain for %s", what)
	}
	panic("unreachable")
}

func TestEvents(t *testing.T) {
	type sent struct {
		rank int
		what Event
	}
	received, lost := make(chan sent, 9), make(chan int, 9)
	var h *ControlServer
	h, clients, info := startChannel(t, 3, handlers("", func(rank int, e Event) {
		if e.Kind == "hang" { // a callback may ask, also the rank that sent the event
			test.EqOp(t, Answered, h.Ask(long)[rank-1].Standing, test.Sprint(rank))
		}
		received <- sent{rank, e}
	}, func(rank int) { lost <- rank }), 2)
	events := make(chan Event, 2)
	dial(t, info, 1, handlers("", func(_ int, e Event) { events <- e }, nil))
	cause := notice.Kept{Fact: notice.RankFailed{Rank: 2, Problem: "last words"}}
	for _, e := range []Event{{Kind: "signal", Code: 15}, {Kind: "hang"}, {Kind: "failed", Cause: cause}} {
		must.NoError(t, clients[2].Send(e))
		if e.Kind == "failed" { // it arrives although the rank exits at once, before the news of its exit
			_ = clients[2].conn.Close()
		}
		must.EqOp(t, sent{2, e}, wait(t, received, e.Kind))
	}
	must.EqOp(t, 2, wait(t, lost, "the loss of rank 2"))
	h.Broadcast(Event{Kind: "abort", Code: 2})
	must.EqOp(t, 2, wait(t, events, "an event of rank 0").Code)
}

func TestCloseFreesResources(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		h, clients, info := startChannel(t, 5, handlers("", nil, nil), 1, 2, 3, 4)
		dialRaw(t, info) // a foreign connection that sends nothing
		for range 2 {
			h.Close()
			for _, c := range clients {
				c.Close()
			}
		}
	}
	for end := time.Now().Add(long); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
}
