package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// dialTime is how long looking for rank 0 may take in all.
const dialTime = 8 * time.Second

// DialControl connects this rank to rank 0's server; host is this rank's. The error names what was tried.
func DialControl(info string, rank int, host string, on Handlers) (*Connection, error) {
	var c contact
	if err := json.Unmarshal([]byte(info), &c); err != nil {
		return nil, fmt.Errorf("cannot read rank 0's contact: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	targets := order(c, host, localNets())
	hello := frame{Kind: frameHello, Token: c.Token, Rank: rank, Host: host, PID: os.Getpid()}
	var errs []error
	for _, patience := range []time.Duration{time.Second, 3 * time.Second} {
		errs = errs[:0]
		for _, target := range targets {
			address := net.JoinHostPort(target, strconv.Itoa(c.Port))
			s, err := dialOne(ctx, address, patience, hello, on)
			if err == nil {
				go s.read()
				return s, nil
			}
			errs = append(errs, fmt.Errorf("%s: %w", address, shortError(err)))
		}
	}
	return nil, fmt.Errorf("no TCP connection to rank 0 on %s: %w", c.Host, errors.Join(errs...))
}

func dialOne(ctx context.Context, address string, patience time.Duration, hello frame, on Handlers) (*Connection,
	error) {
	conn, err := (&net.Dialer{Timeout: patience, KeepAlive: -1}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := newConnection(conn, on)
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	var f frame
	if err = s.send(hello, patience); err == nil {
		f, err = s.receive()
	}
	if err == nil && f.Kind != frameWelcome {
		err = errors.New("another program answers there")
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return s, conn.SetReadDeadline(time.Time{})
}

// shortError leaves out the addresses, which the caller names.
func shortError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
