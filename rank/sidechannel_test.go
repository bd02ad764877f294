package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// long is more than any of these tests takes; short is for what must not answer.
const (
	long  = 20 * time.Second
	short = 200 * time.Millisecond
)

// job of ranks as goroutines: a hub, and spokes for the ranks given.
func startChannel(t *testing.T, size int, ranks ...int) (*hub, map[int]*spoke, string) {
	t.Helper()
	h, info, err := newHub(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	h.self = func() state { return state{Phase: "zero"} }
	spokes := map[int]*spoke{}
	for _, rank := range ranks {
		s, err := dialHub(info, rank, fmt.Sprintf("node%d", rank), func() state {
			return state{Phase: "measure", Number: 3, Case: "all_reduce", Iteration: uint64(rank)}
		})
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		t.Cleanup(s.close)
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
	if err := p.send(frame{Kind: frameHello, Token: contactOf(t, info).Token, Rank: rank, Host: "stopped", PID: 77}, long); err != nil {
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

func TestAsk(t *testing.T) {
	h, spokes, _ := startChannel(t, 9, 1, 2, 3, 4, 5, 6, 7, 8)
	for range 3 {
		reports := h.ask(long)
		if len(reports) != 8 {
			t.Fatalf("%d reports of 8 ranks", len(reports))
		}
		for i, r := range reports {
			if r.Rank != i+1 || r.Standing != answered || r.State.Iteration != uint64(i+1) || r.State.Host != fmt.Sprintf("node%d", i+1) || r.PID == 0 {
				t.Errorf("rank %d: %+v", i+1, r)
			}
		}
	}
	if s, err := spokes[5].askHub(long); err != nil || s.Phase != "zero" {
		t.Errorf("askHub: %+v, %v", s, err)
	}
	if m := h.missing(); len(m) != 0 {
		t.Errorf("missing %v", m)
	}
}

func TestAskKnowsWhoIsWhat(t *testing.T) {
	h, spokes, info := startChannel(t, 6, 1, 2, 3)
	lost := make(chan int, 9)
	h.onGone = func(rank int) { lost <- rank }
	mute(t, info, 4)
	spokes[2].close()
	_ = spokes[3].conn.Close()
	if rank := wait(t, lost, "the loss of rank 3"); rank != 3 {
		t.Errorf("rank %d is gone, want 3", rank)
	}
	// Until the hub has read rank 2's farewell.
	for len(h.present()) > 2 {
		time.Sleep(time.Millisecond)
	}
	want := map[int]standing{1: answered, 2: left, 3: gone, 4: silent, 5: unreachable}
	for _, r := range h.ask(short) {
		if r.Standing != want[r.Rank] {
			t.Errorf("rank %d: %s, want %s", r.Rank, r.Standing, want[r.Rank])
		}
		if r.Standing == gone && time.Since(r.At) > long {
			t.Errorf("gone at %v", r.At)
		}
	}
	if m := h.missing(); len(m) != 1 || m[0] != 5 {
		t.Errorf("missing %v, want 5", m)
	}
	h.close()
	select {
	case rank := <-lost:
		t.Errorf("rank %d was reported as gone though the end was in good order", rank)
	default:
	}
}

// A rank that answers wrongly late must not be taken for the answer to a later question.
func TestLateAnswer(t *testing.T) {
	h, _, info := startChannel(t, 2)
	conn := mute(t, info, 1)
	p := newPipe(conn)
	if r := h.ask(short); r[0].Standing != silent {
		t.Fatalf("%+v", r[0])
	}
	old, err := p.receive()
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan []report)
	go func() { next <- h.ask(long) }()
	fresh, err := p.receive()
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []frame{
		{Kind: frameState, ID: old.ID, State: &state{Phase: "old"}},
		{Kind: frameState, ID: fresh.ID, State: &state{Phase: "fresh"}},
	} {
		if err := p.send(answer, long); err != nil {
			t.Fatal(err)
		}
	}
	if r := wait(t, next, "the answer"); r[0].State.Phase != "fresh" {
		t.Errorf("%+v", r[0])
	}
}

func TestEvents(t *testing.T) {
	h, info, err := newHub(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	type said struct {
		rank int
		what event
	}
	heard, lost := make(chan said, 9), make(chan int, 9)
	h.onEvent = func(rank int, e event) {
		if e.Kind == "hang" { // a callback may ask, also the rank that spoke
			if r := h.ask(long); r[rank-1].Standing != answered {
				t.Errorf("while its event is dealt with, rank %d is %s", rank, r[rank-1].Standing)
			}
		}
		heard <- said{rank, e}
	}
	h.onGone = func(rank int) { lost <- rank }
	spokes := make([]*spoke, 3)
	for rank := 1; rank < 3; rank++ {
		if spokes[rank], err = dialHub(info, rank, "here", func() state { return state{} }); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(spokes[rank].close)
	}
	for _, e := range []event{{Kind: "signal", Text: "terminated", Code: 15}, {Kind: "hang"}, {Kind: "failed", Text: strings.Repeat("\x01é", frameLimit)}} {
		if err := spokes[2].tell(e); err != nil {
			t.Fatal(err)
		}
		got := wait(t, heard, e.Kind)
		if got.rank != 2 || got.what.Kind != e.Kind || got.what.Code != e.Code || len(e.Text) < 99 && got.what.Text != e.Text {
			t.Errorf("got %+v, want %+v", got, e)
		}
	}
	// What a rank says last arrives although it ends at once, and before the news of its end.
	if err := spokes[2].tell(event{Kind: "failed", Text: "last words"}); err != nil {
		t.Fatal(err)
	}
	_ = spokes[2].conn.Close()
	if got := wait(t, heard, "the last words"); got.what.Text != "last words" {
		t.Errorf("%+v", got)
	}
	wait(t, lost, "the loss of rank 2")

	// To the others, whether they listen yet or not.
	if n := h.tellAll(event{Kind: "finish", Text: "first"}); n != 1 {
		t.Errorf("told %d ranks, want 1", n)
	}
	for arrived := false; !arrived; time.Sleep(time.Millisecond) {
		spokes[1].mu.Lock()
		arrived = len(spokes[1].early) > 0
		spokes[1].mu.Unlock()
	}
	told := make(chan event, 2)
	spokes[1].listen(func(e event) { told <- e }, nil)
	h.tellAll(event{Kind: "abort", Text: "second"})
	if a, b := wait(t, told, "an event"), wait(t, told, "an event"); a.Text != "first" || b.Text != "second" {
		t.Errorf("told %+v, %+v", a, b)
	}
}

func TestStrangers(t *testing.T) {
	h, spokes, info := startChannel(t, 3, 1)
	lost := make(chan int, 9)
	h.onGone = func(rank int) { lost <- rank }
	token := contactOf(t, info).Token
	for name, text := range map[string]string{
		"web browser": "GET / HTTP/1.1\r\n\r\n",
		"no token":    `{"k":"hello","rank":2}` + "\n",
		"wrong token": `{"k":"hello","rank":2,"token":"` + strings.Repeat("0", len(token)) + `"}` + "\n",
		"no hello":    `{"k":"event","token":"` + token + `","rank":2,"event":{"kind":"failed"}}` + "\n",
		"rank 0":      `{"k":"hello","rank":0,"token":"` + token + `"}` + "\n",
		"rank 3 of 3": `{"k":"hello","rank":3,"token":"` + token + `"}` + "\n",
		"endless":     strings.Repeat("x", 2*frameLimit),
		"closed":      "\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := dialRaw(t, info)
			if _, err := io.WriteString(conn, text); err != nil {
				t.Logf("dropped while writing: %v", err)
			}
			if b, err := io.ReadAll(conn); len(b) > 0 || errors.Is(err, errTimeout(err)) {
				t.Errorf("was not dropped: %q, %v", b, err)
			}
		})
	}
	if m := h.missing(); fmt.Sprint(m) != "[2]" || len(lost) != 0 {
		t.Errorf("missing %v, %d lost; want rank 1 alone to be there", m, len(lost))
	}
	if _, err := spokes[1].askHub(long); err != nil {
		t.Errorf("rank 1 suffers from strangers: %v", err)
	}
}

func TestFrameLimit(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		_, _ = io.WriteString(far, `{"k":"bye"}`+"\n"+`{"k":"`+strings.Repeat("x", frameLimit)+`"}`+"\n")
		far.Close()
	}()
	p := newPipe(near)
	if f, err := p.receive(); err != nil || f.Kind != frameBye {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := p.receive(); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a line of %d bytes is taken: %v", len(f.Kind), err)
	}
}

// errTimeout is err if it is a timeout, else an error that nothing is.
func errTimeout(err error) error {
	var e net.Error
	if errors.As(err, &e) && e.Timeout() {
		return err
	}
	return errors.New("none")
}

// Somebody else may listen on the hub's port on an address that every host has.
func TestWrongHub(t *testing.T) {
	_, info, err := newHub(2)
	if err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, `{"k":"welcome","token":"guess"}`+"\n")
		}
	}()
	c := contactOf(t, info)
	c.Port, c.Addresses, c.Host = other.Addr().(*net.TCPAddr).Port, []string{"127.0.0.1"}, ""
	wrong, _ := json.Marshal(c)
	s, err := dialHub(string(wrong), 1, "elsewhere", nil)
	if err == nil || s != nil || !strings.Contains(err.Error(), "somebody else") || !strings.Contains(err.Error(), fmt.Sprint(c.Port)) {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestNoSideChannel(t *testing.T) {
	var s *spoke
	s.listen(nil, nil)
	s.close()
	if err := s.tell(event{}); !errors.Is(err, errNoSideChannel) {
		t.Errorf("tell: %v", err)
	}
	if _, err := s.askHub(long); !errors.Is(err, errNoSideChannel) {
		t.Errorf("askHub: %v", err)
	}
	var h *hub
	h.close()
	if _, err := dialHub("not a contact", 1, "here", nil); err == nil {
		t.Error("an unreadable contact is taken")
	}
}

// A rank that does not read must not hold up the others, nor the close.
func TestOneThatNeverReads(t *testing.T) {
	h, _, info := startChannel(t, 3, 1)
	mute(t, info, 2)
	e := event{Kind: "finish", Text: strings.Repeat("x", frameLimit/2)}
	h.mu.Lock()
	stuck := h.members[2]
	h.mu.Unlock()
	for stuck.send(frame{Kind: frameEvent, Event: &e}, short) == nil { // until all buffers are full
	}
	if r := h.ask(short); r[0].Standing != answered || r[1].Standing == answered {
		t.Errorf("%+v", r)
	}
	done := make(chan bool)
	go func() { h.close(); close(done) }()
	wait(t, done, "the close")
}

func TestLossOfRank0(t *testing.T) {
	h, spokes, info := startChannel(t, 4, 1, 2)
	lost := make(chan error, 9)
	spokes[1].listen(nil, func(err error) { lost <- err })
	spokes[2].listen(nil, func(err error) { t.Errorf("rank 2: %v", err) })

	// Rank 2 sees an end in good order, and says bye itself.
	h.mu.Lock()
	one, two := h.members[1], h.members[2]
	h.mu.Unlock()
	if err := two.send(frame{Kind: frameBye}, long); err != nil {
		t.Fatal(err)
	}
	_ = two.conn.Close()
	wait(t, spokes[2].ended, "the end of rank 2's connection")
	if _, err := spokes[2].askHub(long); err == nil {
		t.Error("an ended connection answers")
	}

	// Rank 1 sees a crash.
	_ = one.conn.Close()
	if err := wait(t, lost, "the loss of rank 0"); err == nil {
		t.Error("lost without an error")
	}
	if _, err := spokes[1].askHub(long); err == nil || !strings.Contains(err.Error(), "side channel") {
		t.Errorf("askHub: %v", err)
	}

	// Who listens too late hears of it as well.
	spokes[1].listen(nil, func(err error) { lost <- err })
	wait(t, lost, "the loss of rank 0, once more")

	// A rank 0 that is stopped does not answer.
	block := make(chan bool)
	h.self = func() state { <-block; return state{} }
	s, err := dialHub(info, 3, "node3", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	defer close(block)
	if _, err := s.askHub(short); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("askHub of a stopped rank 0: %v", err)
	}
}

// A rank that gave up its first connection while that was on its way comes again.
func TestSecondConnection(t *testing.T) {
	h, _, info := startChannel(t, 2)
	h.onGone = func(rank int) { t.Errorf("rank %d is gone", rank) }
	first := mute(t, info, 1)
	s, err := dialHub(info, 1, "node1", func() state { return state{Phase: "second"} })
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if _, err := io.ReadAll(first); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the first connection is still open: %v", err)
	}
	if r := h.ask(long); r[0].State.Phase != "second" {
		t.Errorf("%+v", r[0])
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		h, info, err := newHub(9)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		spokes := make([]*spoke, 9)
		for rank := 1; rank < 9; rank++ {
			wg.Go(func() {
				s, err := dialHub(info, rank, "here", func() state { return state{} })
				if err != nil {
					t.Error(err)
				}
				spokes[rank] = s
			})
		}
		wg.Wait()
		dialRaw(t, info) // a stranger who says nothing
		h.close()
		h.close()
		for _, s := range spokes {
			s.close()
			s.close()
		}
	}
	for end := time.Now().Add(long); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func TestOrderOfAddresses(t *testing.T) {
	_, lan, _ := net.ParseCIDR("10.1.0.0/16")
	lan.IP = net.ParseIP("10.1.0.7")
	_, bridge, _ := net.ParseCIDR("172.17.0.0/16")
	bridge.IP = net.ParseIP("172.17.0.1")
	c := contact{Host: "head", Addresses: []string{"172.17.0.1", "192.168.3.4", "10.1.0.9"}}
	for host, want := range map[string]string{
		"node1": "[10.1.0.9 192.168.3.4 head 172.17.0.1]",
		"head":  "[127.0.0.1 ::1 10.1.0.9 192.168.3.4 head 172.17.0.1]",
	} {
		if got := fmt.Sprint(order(c, host, []*net.IPNet{bridge, lan})); got != want {
			t.Errorf("from %s: %s, want %s", host, got, want)
		}
	}
}
