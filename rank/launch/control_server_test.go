package launch

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test/must"
)

func TestAskReportsEachRank(t *testing.T) {
	lost := make(chan int, 9)
	h, clients, info := startChannel(t, 6, handlers("zero", nil, func(rank int) { lost <- rank }), 1, 2, 3)
	mute(t, info, 4)
	s, err := clients[1].Ask(long)
	must.NoError(t, err)
	must.EqOp(t, "zero", s.Phase)
	clients[2].Close()
	_ = clients[3].conn.Close()
	must.EqOp(t, 3, wait(t, lost, "the loss of rank 3"))
	wait(t, h.member(2).over, "the end of rank 2")
	reports := h.Ask(short)
	for i, want := range []Standing{Answered, Left, Gone, Silent, Unreachable} {
		must.EqOp(t, i+1, reports[i].Rank)
		must.EqOp(t, want, reports[i].Standing)
	}
	must.EqOp(t, "phase 1", reports[0].State.Phase)
	must.EqOp(t, "node1", reports[0].State.Host)
	must.EqOp(t, os.Getpid(), reports[0].PID)
	must.Eq(t, []int{5}, h.Missing())
	h.Close()
	must.EqOp(t, 0, len(lost)) // the end was in good order
}

// A late reply does not count for a later request.
func TestLateAnswer(t *testing.T) {
	h, _, info := startChannel(t, 2, handlers("", nil, nil))
	c := mute(t, info, 1)
	must.EqOp(t, Silent, h.Ask(short)[0].Standing)
	old, err := c.receive()
	must.NoError(t, err)
	next := make(chan []Report)
	go func() { next <- h.Ask(long) }()
	fresh, err := c.receive()
	must.NoError(t, err)
	must.NoError(t, c.send(frame{Kind: frameState, ID: old.ID, State: &State{Phase: "old"}}, long))
	must.NoError(t, c.send(frame{Kind: frameState, ID: fresh.ID, State: &State{Phase: "fresh"}}, long))
	must.EqOp(t, "fresh", wait(t, next, "the answer")[0].State.Phase)
}

func TestRejectsOtherConnections(t *testing.T) {
	h, clients, info := startChannel(t, 3, handlers("", nil, func(rank int) { t.Errorf("rank %d exited", rank) }), 1)
	token := contactOf(t, info).Token
	for name, text := range map[string]string{
		"web browser": "GET / HTTP/1.1\r\n\r\n",
		"no token":    `{"k":"hello","rank":2}` + "\n",
		"no hello":    `{"k":"event","token":"` + token + `","rank":2,"event":{"kind":"failed"}}` + "\n",
		"rank 0":      `{"k":"hello","rank":0,"token":"` + token + `"}` + "\n",
		"rank 3 of 3": `{"k":"hello","rank":3,"token":"` + token + `"}` + "\n",
		"endless":     strings.Repeat("x", 2*frameLimit),
	} {
		t.Run(name, func(t *testing.T) {
			conn := dialRaw(t, info)
			_, _ = io.WriteString(conn, text) // it may be dropped meanwhile
			b, err := io.ReadAll(conn)
			var e net.Error
			if len(b) > 0 || errors.As(err, &e) && e.Timeout() {
				t.Errorf("was not dropped: %q, %v", b, err)
			}
		})
	}
	must.Eq(t, []int{2}, h.Missing())
	_, err := clients[1].Ask(long)
	must.NoError(t, err)
}

// A rank that does not read must not delay the others or the close.
func TestRankThatNeverReads(t *testing.T) {
	h, _, info := startChannel(t, 3, handlers("", nil, nil), 1)
	mute(t, info, 2)
	e := Event{Kind: "finish", Cause: notice.Kept{Fact: notice.Recorded{Text: strings.Repeat("x", frameLimit/2)}}}
	for h.member(2).send(frame{Kind: frameEvent, Event: &e}, short) == nil { // until all buffers are full
	}
	r := h.Ask(short)
	must.EqOp(t, Answered, r[0].Standing)
	must.NotEqOp(t, Answered, r[1].Standing)
	done := make(chan bool)
	go func() { h.Close(); close(done) }()
	wait(t, done, "the close")
}

// A rank that abandoned its first connection reconnects.
func TestSecondConnection(t *testing.T) {
	h, _, info := startChannel(t, 2, handlers("", nil, func(rank int) { t.Errorf("rank %d exited", rank) }))
	first := mute(t, info, 1)
	dial(t, info, 1, handlers("second", nil, nil))
	_, err := first.receive()
	must.Error(t, err)
	must.EqOp(t, "second", h.Ask(long)[0].State.Phase)
}
