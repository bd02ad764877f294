package launch

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/timeout"
)

// TCP is a launch whose ranks are connected by TCP: every rank to rank 0, which passes on what others send each other,
// and in a world of more than branch ranks also to the first of its block.
// It carries what is not timed, and nothing while operations are timed.
type TCP struct {
	meeting *Meeting
	key     []byte // of the run
	exit    func(code int)

	mu      sync.Mutex // guards what follows
	links   []*tcpLink // by rank; nil where rank 0 passes messages on
	arrived *sync.Cond
	queues  map[queueKey][]tcpFrame
	lost    error  // of the first connection that broke
	groups  uint32 // that this rank has numbered

	// Connections may end, and have ended normally.
	parting, over atomic.Bool
}

// queueKey is where frames wait until they are asked for.
type queueKey struct{ from, group uint32 }

// tcpFrame is one message between two ranks.
type tcpFrame struct {
	from, to, group uint32
	operation       tcpOperation
	payload         []byte
}

// tcpOperation is what a frame belongs to. Ranks that are in different operations get an error.
type tcpOperation uint32

const (
	tcpBroadcast tcpOperation = iota
	tcpGather
	tcpBarrier
	tcpClock
	tcpAbort
)

func (o tcpOperation) String() string {
	return [...]string{"broadcast", "gather", "barrier", "clock comparison", "abort"}[o]
}

const (
	tcpHeader     = 20       // bytes of a frame before its payload
	tcpFrameLimit = 64 << 20 // bytes of a payload
)

// tcpLink is one connection. Any goroutine may write.
type tcpLink struct {
	net.Conn
	writing sync.Mutex
}

func (l *tcpLink) write(f tcpFrame) error {
	if len(f.payload) > tcpFrameLimit {
		return fmt.Errorf("a message of %d bytes is too long for TCP bootstrap", len(f.payload))
	}
	b := make([]byte, tcpHeader, tcpHeader+len(f.payload))
	for i, v := range []uint32{f.from, f.to, f.group, uint32(f.operation), uint32(len(f.payload))} {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.Conn.Write(append(b, f.payload...))
	return err
}

func (l *tcpLink) read() (f tcpFrame, err error) {
	var header [tcpHeader]byte
	if _, err := io.ReadFull(l, header[:]); err != nil {
		return f, err
	}
	v := func(i int) uint32 { return binary.LittleEndian.Uint32(header[4*i:]) }
	if v(4) > tcpFrameLimit || v(3) > uint32(tcpAbort) {
		return f, fmt.Errorf("invalid frame (operation %d, %d bytes)", v(3), v(4))
	}
	f = tcpFrame{v(0), v(1), v(2), tcpOperation(v(3)), make([]byte, v(4))}
	_, err = io.ReadFull(l, f.payload)
	return f, err
}

// serve handles the frames of the rank at the other end until the connection ends.
func (t *TCP) serve(peer int) {
	link, me := t.link(peer), uint32(t.meeting.Rank)
	for {
		f, err := link.read()
		if err == nil && (f.to >= uint32(t.meeting.Size) || f.from >= uint32(t.meeting.Size) ||
			peer != 0 && f.from != uint32(peer) || me != 0 && f.to != me && f.operation != tcpAbort) {
			err = errors.New("it sent a frame with a wrong address")
		}
		if err != nil {
			t.disconnect(fmt.Errorf("the connection to rank %d broke: %w", peer, shortError(err)))
			return
		}
		switch {
		case f.operation == tcpAbort:
			t.passAbort(f)
		case f.to != me:
			// An error is that of the receiver's connection, which reports it.
			_ = t.link(int(f.to)).write(f)
		default:
			t.mu.Lock()
			key := queueKey{f.from, f.group}
			t.queues[key] = append(t.queues[key], f)
			t.mu.Unlock()
			t.arrived.Broadcast()
		}
	}
}

// disconnect makes all waiting and later calls fail, unless connections may end. It leaves the control channel time to
// report which process exited.
func (t *TCP) disconnect(err error) {
	time.Sleep(timeout.Ask)
	if !t.parting.Load() {
		t.fail(err)
	}
}

// fail makes all waiting and later calls fail.
func (t *TCP) fail(err error) {
	t.mu.Lock()
	if t.lost == nil {
		t.lost = err
	}
	t.mu.Unlock()
	t.arrived.Broadcast()
}

// link is the connection to a rank, or to rank 0 where there is none.
func (t *TCP) link(to int) *tcpLink {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.links[to], t.links[0])
}

// send hands data to another rank of the launch.
func (t *TCP) send(to int, group uint32, o tcpOperation, data []byte) error {
	err := t.link(to).write(tcpFrame{uint32(t.meeting.Rank), uint32(to), group, o, data})
	if err != nil {
		return fmt.Errorf("cannot send to rank %d: %w", to, shortError(err))
	}
	return nil
}

// receive waits for the next frame of another rank in a group.
func (t *TCP) receive(from int, group uint32, o tcpOperation) ([]byte, error) {
	key := queueKey{uint32(from), group}
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queues[key]) == 0 {
		if t.lost != nil {
			return nil, t.lost
		}
		t.arrived.Wait()
	}
	f := t.queues[key][0]
	if t.queues[key] = t.queues[key][1:]; len(t.queues[key]) == 0 {
		delete(t.queues, key)
	}
	if f.operation != o {
		return nil, fmt.Errorf("rank %d is in a %v, rank %d in a %v", from, f.operation, t.meeting.Rank, o)
	}
	return f.payload, nil
}

// World implements Launch.
func (t *TCP) World() Comm {
	c := tcpComm{launch: t, rank: t.meeting.Rank}
	for r := range t.meeting.Size {
		c.members = append(c.members, r)
	}
	return c
}

// Library implements Launch.
func (t *TCP) Library() Library {
	return Library{Name: "TCP", Version: "TCP", Facts: result.MPI{Library: "none: TCP connects the ranks"}}
}

// Connected implements Launch.
func (t *TCP) Connected() bool { return !t.over.Load() }

// Abort implements Launch: rank 0 sends the code to all ranks, which exit at once.
func (t *TCP) Abort(code int) {
	f := tcpFrame{from: uint32(t.meeting.Rank), operation: tcpAbort,
		payload: binary.LittleEndian.AppendUint32(nil, uint32(code))}
	if t.meeting.Rank == 0 {
		t.passAbort(f)
		return
	}
	_ = t.links[0].write(f)
}

func (t *TCP) passAbort(f tcpFrame) {
	t.parting.Store(true)
	if t.meeting.Rank == 0 {
		var sending sync.WaitGroup
		for r, link := range t.links[1:] {
			if r+1 != int(f.from) {
				sending.Go(func() {
					_ = link.SetWriteDeadline(time.Now().Add(time.Second))
					_ = link.write(f)
				})
			}
		}
		sending.Wait()
	}
	code := exit.Failed
	if len(f.payload) == 4 {
		code = cmp.Or(int(binary.LittleEndian.Uint32(f.payload)), code)
	}
	t.exit(code)
}

// Finalize implements Launch.
func (t *TCP) Finalize() error {
	err := t.World().Barrier() // a rank that exits before it is an error
	t.parting.Store(true)
	t.over.Store(true)
	for _, link := range t.links {
		if link != nil {
			err = errors.Join(err, link.Close())
		}
	}
	return err
}

// proof is what one side of a connection shows to know the key of this run.
func proof(key []byte, side string, first, second []byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, part := range [][]byte{[]byte(side), first, second} {
		_, _ = h.Write(part) // never fails
	}
	return h.Sum(nil)
}

// meetingKey is the key of a run: of the secret in BUSBAR_SECRET_FILE, and of its identity, which guards against
// mix-ups only.
func meetingKey(m *Meeting, secret []byte) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "busbar\x00%d\x00%s\x00%s", len(m.Identity), m.Identity, secret))
	return sum[:]
}

// newTCP is a launch before its connections are made.
func newTCP(m *Meeting, key []byte) *TCP {
	t := &TCP{meeting: m, key: key, links: make([]*tcpLink, m.Size), exit: os.Exit, queues: map[queueKey][]tcpFrame{}}
	t.arrived = sync.NewCond(&t.mu)
	return t
}

// ConnectTCP connects the ranks of a meeting. log gets the progress of rank 0, which waits for the others until ctx
// ends. build must be equal on all ranks.
func ConnectTCP(ctx context.Context, m *Meeting, secret []byte, build string, log io.Writer) (*TCP, error) {
	t := newTCP(m, meetingKey(m, secret))
	hello := tcpHello{Rank: m.Rank, Size: m.Size, Build: build, PID: os.Getpid()}
	hello.Host, _ = os.Hostname()
	var err error
	switch {
	case m.Size == 1:
	case m.Rank == 0:
		err = t.gatherRanks(ctx, hello, log)
	default:
		err = t.joinRank0(ctx, hello)
	}
	if err != nil {
		return nil, err
	}
	for r, link := range t.links {
		if link != nil {
			go t.serve(r)
		}
	}
	return t, t.connectTree()
}
