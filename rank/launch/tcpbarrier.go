package launch

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"busbar/internal/loop"
	"busbar/rank/timeout"
)

// NewBarrier implements LoopBarrier by connections of their own along the tree of the group. Collective.
func (c tcpComm) NewBarrier() (*Barrier, error) {
	parent, children, err := barrierSockets(c)
	files := append(children, parent...)
	failed := []float64{0}
	if err != nil {
		failed[0] = 1
	}
	if e := c.Max(failed); e != nil || failed[0] != 0 {
		return nil, errors.Join(fmt.Errorf("the ranks cannot connect for a barrier over TCP: %w", eitherError(err, e)),
			closeAll(files))
	}
	up, down := -1, descriptors(children)
	if len(parent) > 0 {
		up = descriptors(parent)[0]
	}
	b, err := loop.NewSocketBarrier(up, down, timeout.Ask)
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

func descriptors(files []*os.File) (fds []int) {
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	return fds
}

// barrierSockets are the sockets of this rank along the tree: to its parent, none on the first member, and to its
// children.
func barrierSockets(c tcpComm) (parent, children []*os.File, err error) {
	for _, g := range c.tree() { // all of them, also after an error: others wait in the next group
		conns, e := connectMembers(g)
		files, f := filesOf(conns)
		if g.rank == 0 {
			children = append(children, files...)
		} else {
			parent = files
		}
		err = errors.Join(err, e, f)
	}
	return parent, children, err
}

// filesOf are the sockets of connections, some of which may be nil. It closes the connections.
func filesOf(conns []net.Conn) (files []*os.File, err error) {
	for _, conn := range conns {
		if conn == nil {
			continue
		}
		f, e := conn.(*net.TCPConn).File()
		if err = errors.Join(err, e, conn.Close()); f != nil {
			files = append(files, f)
		}
	}
	return files, err
}
