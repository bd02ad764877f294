package launch

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/shoenig/test/must"
)

// Another program may listen on the server's port at an address that every host has.
func TestDialOfAnotherServer(t *testing.T) {
	_, info, err := ListenControl(2, handlers("", nil, nil))
	must.NoError(t, err)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	defer other.Close()
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, `{"k":"hello"}`+"\n")
		}
	}()
	c := contactOf(t, info)
	c.Port, c.Addresses, c.Host = other.Addr().(*net.TCPAddr).Port, []string{"127.0.0.1"}, ""
	wrong, _ := json.Marshal(c)
	s, err := DialControl(string(wrong), 1, "elsewhere", Handlers{})
	if err == nil || s != nil || !strings.Contains(err.Error(), "another program") ||
		!strings.Contains(err.Error(), fmt.Sprint(c.Port)) {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestNoSideChannel(t *testing.T) {
	var c *Connection
	c.Close()
	must.ErrorIs(t, c.Send(Event{}), ErrNoControlChannel)
	_, err := c.Ask(long)
	must.ErrorIs(t, err, ErrNoControlChannel)
	var h *ControlServer
	h.Close()
	_, err = DialControl("not a contact", 1, "here", Handlers{})
	must.Error(t, err)
}

func TestLossOfRank0(t *testing.T) {
	block, lost := make(chan bool), make(chan int, 9)
	defer close(block)
	on := handlers("", nil, nil)
	on.State = func() State { <-block; return State{} }
	h, _, info := startChannel(t, 4, on)
	one := dial(t, info, 1, handlers("", nil, func(rank int) { lost <- rank }))
	two := dial(t, info, 2, handlers("", nil, func(int) { t.Error("rank 2 lost rank 0") }))

	h.member(2).Close() // in good order
	wait(t, two.over, "the end of rank 2's connection")
	_, err := two.Ask(long)
	must.Error(t, err)

	_ = h.member(1).conn.Close() // a crash
	must.EqOp(t, 0, wait(t, lost, "the loss of rank 0"))
	_, err = one.Ask(long)
	must.Error(t, err)

	_, err = dial(t, info, 3, handlers("", nil, nil)).Ask(short) // rank 0 is stopped
	must.ErrorContains(t, err, "no answer")
}
