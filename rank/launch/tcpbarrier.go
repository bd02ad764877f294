package launch

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#include <stdlib.h>
#include "tcpbarrier.h"

static int (*barrier_step(void))(void *, uint64_t) { return busbar_tcp_barrier_step; }

static struct busbar_tcp_barrier *new_barrier(int count, int first, int pause)
{
	struct busbar_tcp_barrier *b = calloc(1, sizeof *b + (size_t)count * sizeof b->sockets[0]);
	if (b) {
		b->count = count;
		b->first = first;
		b->pause = pause;
	}
	return b;
}

static void set_socket(struct busbar_tcp_barrier *b, int i, int socket) { b->sockets[i] = socket; }
*/
import "C"

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
	"unsafe"

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
	first := 0
	if c.rank == 0 {
		first = 1
	}
	b := C.new_barrier(C.int(len(files)), C.int(first), C.int(timeout.Ask.Milliseconds()))
	if b == nil {
		return nil, errors.Join(errors.New("out of memory"), closeAll(files))
	}
	for i, f := range files {
		C.set_socket(b, C.int(i), C.int(f.Fd()))
	}
	return &Barrier{
		Step: loop.Step(unsafe.Pointer(C.barrier_step())), Context: unsafe.Pointer(b),
		Failed: func(code int) error { return fmt.Errorf("barrier over TCP: %w", syscall.Errno(code)) },
		close: func() error {
			C.free(unsafe.Pointer(b))
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
