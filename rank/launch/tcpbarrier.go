package launch

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"busbar/internal/loop"
	"busbar/rank/timeout"
)

// barrierHello is what a member sends first on its connection of a barrier.
type barrierHello struct {
	Member int    `json:"member"`
	Token  string `json:"token"`
}

// NewBarrier implements LoopBarrier by connections of their own between the first member and all others. Collective.
func (c tcpComm) NewBarrier() (*Barrier, error) {
	files, err := barrierFiles(c)
	failed := []float64{0}
	if err != nil {
		failed[0] = 1
	}
	if e := c.Max(failed); e != nil || failed[0] != 0 {
		return nil, errors.Join(fmt.Errorf("the ranks cannot connect for a barrier over TCP: %w", eitherError(err, e)),
			closeAll(files))
	}
	var sockets []int
	for _, f := range files {
		sockets = append(sockets, int(f.Fd()))
	}
	b, err := loop.NewSocketBarrier(sockets, c.rank == 0, timeout.Ask)
	if err != nil {
		return nil, errors.Join(err, closeAll(files))
	}
	return &Barrier{
		Step: b.Step(), Context: b.Context(),
		Failed: func(code int) error { return fmt.Errorf("barrier over TCP: %w", syscall.Errno(code)) },
		close: func() error {
			b.Free()
			return closeAll(files)
		},
	}, nil
}

// eitherError is the error of this rank, or of the exchange, or that another rank has one.
func eitherError(mine, exchange error) error {
	switch {
	case mine != nil:
		return mine
	case exchange != nil:
		return exchange
	}
	return errors.New("another rank failed")
}

func closeAll(files []*os.File) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// barrierFiles are the sockets of this rank: to all members on the first, to the first elsewhere.
func barrierFiles(c tcpComm) ([]*os.File, error) {
	var socket net.Listener
	where, err := Share(c, func() (contact, error) {
		var err error
		address := ":0"
		if c.launch.meeting.Size == c.launch.meeting.LocalSize {
			address = "127.0.0.1:0"
		}
		if socket, err = (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), "tcp", address); err != nil {
			return contact{}, err
		}
		host, _ := os.Hostname()
		return contact{Host: host, Port: socket.Addr().(*net.TCPAddr).Port, Token: rand.Text(),
			Addresses: ownAddresses()}, nil
	})
	if err != nil {
		return nil, err
	}
	if c.rank == 0 {
		defer socket.Close()
		return acceptMembers(c, socket, where.Token)
	}
	f, err := dialFirst(where, barrierHello{c.rank, where.Token})
	if err != nil {
		return nil, err
	}
	return []*os.File{f}, nil
}

// acceptMembers waits for the connections of all other members.
func acceptMembers(c tcpComm, socket net.Listener, token string) (files []*os.File, err error) {
	if err := socket.(*net.TCPListener).SetDeadline(time.Now().Add(2 * dialTime)); err != nil {
		return nil, err
	}
	for len(files) < c.Size()-1 {
		conn, err := socket.Accept()
		if err != nil {
			return files, fmt.Errorf("%d of %d members connected: %w", len(files), c.Size()-1, shortError(err))
		}
		_ = conn.SetDeadline(time.Now().Add(handshakeTime))
		var hello barrierHello
		text, err := receiveText(conn)
		if err == nil {
			err = json.Unmarshal(text, &hello)
		}
		if err == nil && subtle.ConstantTimeCompare([]byte(hello.Token), []byte(token)) == 1 {
			f, err := fileOf(conn)
			if err = errors.Join(err, sendText(conn, nil)); err != nil {
				return files, err
			}
			files = append(files, f)
		}
		_ = conn.Close()
	}
	return files, nil
}

// dialFirst connects to the first member of a group.
func dialFirst(where contact, hello barrierHello) (*os.File, error) {
	host, _ := os.Hostname()
	var errs []error
	for _, target := range order(where, host, localNets()) {
		address := net.JoinHostPort(target, strconv.Itoa(where.Port))
		conn, err := (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: -1}).Dial("tcp", address)
		if err == nil {
			defer conn.Close()
			var text []byte
			if text, err = json.Marshal(hello); err == nil {
				err = sendText(conn, text)
			}
			if err == nil {
				_ = conn.SetDeadline(time.Now().Add(handshakeTime))
				_, err = receiveText(conn)
			}
			if err == nil {
				return fileOf(conn)
			}
		}
		errs = append(errs, fmt.Errorf("%s: %w", address, shortError(err)))
	}
	return nil, errors.Join(errs...)
}

// fileOf is the socket of a connection, which can be closed then.
func fileOf(conn net.Conn) (*os.File, error) {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn).File()
}
