package launch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"busbar/internal/notice"
)

func TestAsk(t *testing.T) {
	h, spokes, _ := startChannel(t, 9, 1, 2, 3, 4, 5, 6, 7, 8)
	for range 3 {
		reports := h.Ask(long)
		if len(reports) != 8 {
			t.Fatalf("%d reports of 8 ranks", len(reports))
		}
		for i, r := range reports {
			if r.Rank != i+1 || r.Standing != Answered || r.State.Iteration != uint64(i+1) ||
				r.State.Host != fmt.Sprintf("node%d", i+1) || r.PID == 0 {
				t.Errorf("rank %d: %+v", i+1, r)
			}
		}
	}
	if s, err := spokes[5].Ask(long); err != nil || s.Phase != "zero" {
		t.Errorf("Ask: %+v, %v", s, err)
	}
	if m := h.Missing(); len(m) != 0 {
		t.Errorf("missing %v", m)
	}
}

func TestAskKnowsWhoIsWhat(t *testing.T) {
	h, spokes, info := startChannel(t, 6, 1, 2, 3)
	lost := make(chan int, 9)
	h.OnGone = func(rank int) { lost <- rank }
	mute(t, info, 4)
	spokes[2].Close()
	_ = spokes[3].conn.Close()
	if rank := wait(t, lost, "the loss of rank 3"); rank != 3 {
		t.Errorf("rank %d is gone, want 3", rank)
	}
	// Until the server has read rank 2's farewell.
	for len(h.present()) > 2 {
		time.Sleep(time.Millisecond)
	}
	want := map[int]Standing{1: Answered, 2: Left, 3: Gone, 4: Silent, 5: Unreachable}
	for _, r := range h.Ask(short) {
		if r.Standing != want[r.Rank] {
			t.Errorf("rank %d: %s, want %s", r.Rank, r.Standing, want[r.Rank])
		}
		if r.Standing == Gone && time.Since(r.At) > long {
			t.Errorf("gone at %v", r.At)
		}
	}
	if m := h.Missing(); len(m) != 1 || m[0] != 5 {
		t.Errorf("missing %v, want 5", m)
	}
	h.Close()
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
	if r := h.Ask(short); r[0].Standing != Silent {
		t.Fatalf("%+v", r[0])
	}
	old, err := p.receive()
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan []Report)
	go func() { next <- h.Ask(long) }()
	fresh, err := p.receive()
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []frame{
		{Kind: frameState, ID: old.ID, State: &State{Phase: "old"}},
		{Kind: frameState, ID: fresh.ID, State: &State{Phase: "fresh"}},
	} {
		if err := p.send(answer, long); err != nil {
			t.Fatal(err)
		}
	}
	if r := wait(t, next, "the answer"); r[0].State.Phase != "fresh" {
		t.Errorf("%+v", r[0])
	}
}

func TestStrangers(t *testing.T) {
	h, spokes, info := startChannel(t, 3, 1)
	lost := make(chan int, 9)
	h.OnGone = func(rank int) { lost <- rank }
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
	if m := h.Missing(); fmt.Sprint(m) != "[2]" || len(lost) != 0 {
		t.Errorf("missing %v, %d lost; want rank 1 alone to be there", m, len(lost))
	}
	if _, err := spokes[1].Ask(long); err != nil {
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

// A rank that does not read must not hold up the others, nor the close.
func TestOneThatNeverReads(t *testing.T) {
	h, _, info := startChannel(t, 3, 1)
	mute(t, info, 2)
	e := Event{Kind: "finish", Cause: notice.Kept{Fact: notice.Recorded{Text: strings.Repeat("x", frameLimit/2)}}}
	h.mu.Lock()
	stuck := h.members[2]
	h.mu.Unlock()
	for stuck.send(frame{Kind: frameEvent, Event: &e}, short) == nil { // until all buffers are full
	}
	if r := h.Ask(short); r[0].Standing != Answered || r[1].Standing == Answered {
		t.Errorf("%+v", r)
	}
	done := make(chan bool)
	go func() { h.Close(); close(done) }()
	wait(t, done, "the close")
}

// A rank that gave up its first connection while that was on its way comes again.
func TestSecondConnection(t *testing.T) {
	h, _, info := startChannel(t, 2)
	h.OnGone = func(rank int) { t.Errorf("rank %d is gone", rank) }
	first := mute(t, info, 1)
	s, err := DialControl(info, 1, "node1", func() State { return State{Phase: "second"} })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := io.ReadAll(first); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the first connection is still open: %v", err)
	}
	if r := h.Ask(long); r[0].State.Phase != "second" {
		t.Errorf("%+v", r[0])
	}
}
