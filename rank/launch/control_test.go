package launch

import (
	"encoding/json"
	"fmt"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"busbar/internal/notice"
)

// long is more than any of these tests takes; short is for what must not answer.
const (
	long  = 20 * time.Second
	short = 200 * time.Millisecond
)

// job of ranks as goroutines: a server, and clients for the ranks given.
func startChannel(t *testing.T, size int, ranks ...int) (*ControlServer, map[int]*ControlClient, string) {
	t.Helper()
	h, info, err := ListenControl(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	h.Self = func() State { return State{Phase: "zero"} }
	spokes := map[int]*ControlClient{}
	for _, rank := range ranks {
		s, err := DialControl(info, rank, fmt.Sprintf("node%d", rank), func() State {
			return State{Phase: "measure", Number: 3, Case: "all_reduce", Iteration: uint64(rank)}
		})
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		t.Cleanup(s.Close)
		spokes[rank] = s
	}
	return h, spokes, info
}

func contactOf(t *testing.T, info string) contact {
	t.Helper()
	var c contact
	if err := json.Unmarshal([]byte(info), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func dialRaw(t *testing.T, info string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", contactOf(t, info).Port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(long))
	return conn
}

// mute is a rank that connects and then neither reads nor writes, like a stopped process.
func mute(t *testing.T, info string, rank int) net.Conn {
	t.Helper()
	conn := dialRaw(t, info)
	p := newPipe(conn)
	if err := p.send(frame{Kind: frameHello, Token: contactOf(t, info).Token, Rank: rank, Host: "stopped", PID: 77},
		long); err != nil {
		t.Fatal(err)
	}
	if f, err := p.receive(); err != nil || f.Kind != frameWelcome {
		t.Fatalf("no welcome: %+v, %v", f, err)
	}
	return conn
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
	h, info, err := ListenControl(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	type said struct {
		rank int
		what Event
	}
	heard, lost := make(chan said, 9), make(chan int, 9)
	h.OnEvent = func(rank int, e Event) {
		if e.Kind == "hang" { // a callback may ask, also the rank that spoke
			if r := h.Ask(long); r[rank-1].Standing != Answered {
				t.Errorf("while its event is dealt with, rank %d is %s", rank, r[rank-1].Standing)
			}
		}
		heard <- said{rank, e}
	}
	h.OnGone = func(rank int) { lost <- rank }
	spokes := make([]*ControlClient, 3)
	for rank := 1; rank < 3; rank++ {
		if spokes[rank], err = DialControl(info, rank, "here", func() State { return State{} }); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(spokes[rank].Close)
	}
	failed := func(problem string) Event {
		return Event{Kind: "failed", Cause: notice.Kept{Fact: notice.RankFailed{Rank: 2, Problem: problem}}}
	}
	much := strings.Repeat("\x01é", frameLimit)
	hung := notice.RunHung{Problem: much, Ranks: make([]notice.HungRank, frameLimit/8)}
	for _, e := range []Event{
		{Kind: "signal", Code: 15}, {Kind: "hang"}, failed(much), {Kind: "failed", Cause: notice.Kept{Fact: hung}},
		{Kind: "failed", Cause: notice.Kept{Fact: notice.RankCrashed{Problem: much, Stack: much}}},
	} {
		if err := spokes[2].Send(e); err != nil {
			t.Fatal(err)
		}
		got := wait(t, heard, e.Kind)
		if got.rank != 2 || got.what.Kind != e.Kind || got.what.Code != e.Code ||
			reflect.TypeOf(got.what.Cause.Fact) != reflect.TypeOf(e.Cause.Fact) {
			t.Errorf("got %+v, want %+v", got, e)
		}
	}
	// What a rank says last arrives although it ends at once, and before the news of its end.
	if err := spokes[2].Send(failed("last words")); err != nil {
		t.Fatal(err)
	}
	_ = spokes[2].conn.Close()
	if got := wait(t, heard, "the last words"); got.what != failed("last words") {
		t.Errorf("%+v", got)
	}
	wait(t, lost, "the loss of rank 2")

	// To the others, whether they listen yet or not.
	if n := h.Broadcast(Event{Kind: "finish", Code: 1}); n != 1 {
		t.Errorf("told %d ranks, want 1", n)
	}
	for arrived := false; !arrived; time.Sleep(time.Millisecond) {
		spokes[1].mu.Lock()
		arrived = len(spokes[1].early) > 0
		spokes[1].mu.Unlock()
	}
	told := make(chan Event, 2)
	spokes[1].Listen(func(e Event) { told <- e }, nil)
	h.Broadcast(Event{Kind: "abort", Code: 2})
	if a, b := wait(t, told, "an event"), wait(t, told, "an event"); a.Code != 1 || b.Code != 2 {
		t.Errorf("told %+v, %+v", a, b)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		h, info, err := ListenControl(9)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		spokes := make([]*ControlClient, 9)
		for rank := 1; rank < 9; rank++ {
			wg.Go(func() {
				s, err := DialControl(info, rank, "here", func() State { return State{} })
				if err != nil {
					t.Error(err)
				}
				spokes[rank] = s
			})
		}
		wg.Wait()
		dialRaw(t, info) // a stranger who says nothing
		h.Close()
		h.Close()
		for _, s := range spokes {
			s.Close()
			s.Close()
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

// A frame holds as many silent ranks as it has room for, whatever their states hold.
func TestFrameWithSilentRanks(t *testing.T) {
	for _, text := range []string{"all_reduce", strings.Repeat("<", 300)} {
		s := State{Phase: "measure", Case: text}
		for rank := range 100 {
			s.Silent = append(s.Silent, Report{Rank: rank, Standing: Silent, State: State{Case: text, Says: text}})
		}
		line, err := encode(frame{Kind: frameState, State: &s})
		var f frame
		if err == nil {
			err = json.Unmarshal(line, &f)
		}
		if err != nil || len(line) > frameLimit || len(f.State.Silent) == 0 || len(s.Silent) != 100 ||
			!reflect.DeepEqual(f.State.Silent[0], s.Silent[0]) {
			t.Errorf("%v, %d bytes: %s", err, len(line), line)
		}
	}
}
