package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// Somebody else may listen on the server's port on an address that every host has.
func TestWrongHub(t *testing.T) {
	_, info, err := ListenControl(2)
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
	s, err := DialControl(string(wrong), 1, "elsewhere", nil)
	if err == nil || s != nil || !strings.Contains(err.Error(), "somebody else") ||
		!strings.Contains(err.Error(), fmt.Sprint(c.Port)) {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestNoSideChannel(t *testing.T) {
	var s *ControlClient
	s.Listen(nil, nil)
	s.Close()
	if err := s.Send(Event{}); !errors.Is(err, ErrNoControlChannel) {
		t.Errorf("tell: %v", err)
	}
	if _, err := s.Ask(long); !errors.Is(err, ErrNoControlChannel) {
		t.Errorf("Ask: %v", err)
	}
	var h *ControlServer
	h.Close()
	if _, err := DialControl("not a contact", 1, "here", nil); err == nil {
		t.Error("an unreadable contact is taken")
	}
}

func TestLossOfRank0(t *testing.T) {
	h, spokes, info := startChannel(t, 4, 1, 2)
	lost := make(chan error, 9)
	spokes[1].Listen(nil, func(err error) { lost <- err })
	spokes[2].Listen(nil, func(err error) { t.Errorf("rank 2: %v", err) })

	// Rank 2 sees an end in good order, and says bye itself.
	h.mu.Lock()
	one, two := h.members[1], h.members[2]
	h.mu.Unlock()
	if err := two.send(frame{Kind: frameBye}, long); err != nil {
		t.Fatal(err)
	}
	_ = two.conn.Close()
	wait(t, spokes[2].ended, "the end of rank 2's connection")
	if _, err := spokes[2].Ask(long); err == nil {
		t.Error("an ended connection answers")
	}

	// Rank 1 sees a crash.
	_ = one.conn.Close()
	if err := wait(t, lost, "the loss of rank 0"); err == nil {
		t.Error("lost without an error")
	}
	if _, err := spokes[1].Ask(long); err == nil || !strings.Contains(err.Error(), "side channel") {
		t.Errorf("Ask: %v", err)
	}

	// Who listens too late hears of it as well.
	spokes[1].Listen(nil, func(err error) { lost <- err })
	wait(t, lost, "the loss of rank 0, once more")

	// A rank 0 that is stopped does not answer.
	block := make(chan bool)
	h.Self = func() State { <-block; return State{} }
	s, err := DialControl(info, 3, "node3", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	defer close(block)
	if _, err := s.Ask(short); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("Ask of a stopped rank 0: %v", err)
	}
}
