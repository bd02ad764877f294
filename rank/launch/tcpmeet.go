package launch

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/timeout"
)

// The handshake: the rank that connects sends the magic number and a nonce; rank 0 replies with a nonce and its proof;
// the rank sends its proof and its hello; rank 0 replies with what is wrong, or nothing. Both prove the key of the run
// before they send anything else, and messages are short. At the end rank 0 sends all ranks why they cannot meet, or
// nothing.

const (
	tcpMagic      = "busbar/1"
	tcpNonce      = 32
	tcpHelloLimit = 4096
	reportEvery   = 10 * time.Second
)

// tcpHello is what a rank states of itself.
type tcpHello struct {
	Rank  int    `json:"rank"`
	Size  int    `json:"size"`
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Build string `json:"build"`
}

func (h tcpHello) String() string {
	return fmt.Sprintf("rank %d on %s (pid %d)", h.Rank, h.Host, h.PID)
}

// errStranger is the error of a connection that is not from a rank of this run. It is dropped.
var errStranger = errors.New("not a rank of this run")

// errOtherKey is the same of a rank of another run, or with another secret.
var errOtherKey = fmt.Errorf("%w: its key differs", errStranger)

// sendText sends a text with its length.
func sendText(conn net.Conn, text []byte) error {
	_, err := conn.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

func receiveText(conn net.Conn) ([]byte, error) {
	length, err := receiveBytes(conn, 4)
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length)
	if n > tcpHelloLimit {
		return nil, errStranger
	}
	return receiveBytes(conn, int(n))
}

func receiveBytes(conn net.Conn, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(conn, b)
	return b, err
}

// greetRank is rank 0's side of the handshake, up to its last reply.
func greetRank(conn net.Conn, key []byte) (hello tcpHello, err error) {
	begin, err := receiveBytes(conn, len(tcpMagic)+tcpNonce)
	if err != nil || string(begin[:len(tcpMagic)]) != tcpMagic {
		return hello, errStranger
	}
	theirs, mine := begin[len(tcpMagic):], make([]byte, tcpNonce)
	_, _ = rand.Read(mine) // never fails
	if _, err := conn.Write(append(slices.Clone(mine), proof(key, "rank 0", theirs, mine)...)); err != nil {
		return hello, err
	}
	shown, err := receiveBytes(conn, tcpNonce)
	if err != nil || !hmac.Equal(shown, proof(key, "rank", mine, theirs)) {
		return hello, errOtherKey // a rank whose key differs closes the connection
	}
	text, err := receiveText(conn)
	if err == nil {
		err = json.Unmarshal(text, &hello)
	}
	return hello, err
}

// greetRank0 is the other side.
func greetRank0(conn net.Conn, key []byte, hello tcpHello) error {
	mine := make([]byte, tcpNonce)
	_, _ = rand.Read(mine) // never fails
	if _, err := conn.Write(append([]byte(tcpMagic), mine...)); err != nil {
		return err
	}
	reply, err := receiveBytes(conn, 2*tcpNonce)
	if err != nil {
		return fmt.Errorf("what listens there does not reply as rank 0: %w", shortError(err))
	}
	theirs := reply[:tcpNonce]
	if !hmac.Equal(reply[tcpNonce:], proof(key, "rank 0", mine, theirs)) {
		return errors.New("rank 0 of another run listens there, or BUSBAR_SECRET_FILE differs")
	}
	if _, err := conn.Write(proof(key, "rank", theirs, mine)); err != nil {
		return err
	}
	text, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	if err := sendText(conn, text); err != nil {
		return err
	}
	refusal, err := receiveText(conn)
	if err == nil && len(refusal) > 0 {
		err = exit.Environmentf("%s", refusal)
	}
	return err
}

// arrival is a connection whose rank has been greeted.
type arrival struct {
	conn  net.Conn
	hello tcpHello
}

// gathering is how rank 0 waits for the others.
type gathering struct {
	t         *TCP
	me        tcpHello
	joined    map[int]tcpHello // connected ranks, rank 0 too
	exited    map[int]tcpHello // those that closed their connection
	strangers atomic.Int64     // connections that know another key
	begun     time.Time
}

// gatherRanks waits on rank 0 until all ranks are connected, and then listens no more.
func (t *TCP) gatherRanks(ctx context.Context, me tcpHello, log io.Writer) (err error) {
	socket, err := listenForRanks(ctx, t.meeting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(t.sendOutcome(err), socket.Close()) }()
	g := &gathering{t: t, me: me, joined: map[int]tcpHello{0: me}, exited: map[int]tcpHello{}, begun: time.Now()}
	arrivals := make(chan arrival)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go acceptRanks(ctx, socket, t.key, arrivals, &g.strangers)
	ticks := time.NewTicker(reportEvery)
	defer ticks.Stop()
	for len(g.joined) < t.meeting.Size {
		select {
		case a := <-arrivals:
			if err := g.add(a); err != nil {
				return err
			}
		case <-ticks.C:
			g.forgetEnded()
			ranks, others := g.missing()
			fmt.Fprintf(log, "rank: rank 0 waits at %v for %s; %s\n", t.meeting, ranks, others)
		case <-ctx.Done():
			g.forgetEnded()
			ranks, others := g.missing()
			return exit.Environmentf("%s are not connected to rank 0 at %v after %s; %s; check that they were "+
				"started, their logs and the firewall", ranks, t.meeting,
				units.Duration(time.Since(g.begun).Seconds()), others)
		}
	}
	return nil
}

// add makes a rank one of those that have joined. The error is that ranks do not fit together.
func (g *gathering) add(a arrival) error {
	if _, twice := g.joined[a.hello.Rank]; twice {
		g.forgetEnded()
	}
	refusal := refuse(a.hello, g.me, g.joined)
	err := errors.Join(sendText(a.conn, []byte(refusal)), a.conn.SetDeadline(time.Time{}))
	if refusal != "" {
		return exit.Environmentf("%s", refusal)
	}
	if err != nil { // it has ended, or dials again
		_ = a.conn.Close()
		return nil
	}
	g.joined[a.hello.Rank] = a.hello
	delete(g.exited, a.hello.Rank)
	g.t.links[a.hello.Rank] = &tcpLink{Conn: a.conn}
	if len(g.joined) == g.t.meeting.Size {
		g.forgetEnded()
	}
	return nil
}

// sendOutcome sends the ranks that have joined why they cannot meet; nothing if they have met. It returns that error,
// or its own.
func (t *TCP) sendOutcome(reason error) error {
	for r, link := range t.links {
		if link == nil {
			continue
		}
		text := ""
		if reason != nil {
			text = reason.Error()
		}
		_ = link.SetWriteDeadline(time.Now().Add(handshakeTime))
		err := errors.Join(sendText(link, []byte(text[:min(len(text), tcpHelloLimit)])),
			link.SetWriteDeadline(time.Time{}))
		if err != nil && reason == nil { // the ranks after it get this reason
			reason = exit.Environmentf("rank %d exited when all ranks had met: %w", r, shortError(err))
		}
	}
	return reason
}

// forgetEnded removes the ranks that have exited: they may be started again.
func (g *gathering) forgetEnded() {
	for r, link := range g.t.links {
		if link != nil && ended(link.Conn) {
			_ = link.Close()
			g.t.links[r] = nil
			g.exited[r] = g.joined[r]
			delete(g.joined, r)
		}
	}
}

// ended reports whether the other end of a connection is closed.
func ended(conn net.Conn) bool {
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return true
	}
	over := false
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		over = n == 0 && err == nil || err != nil && !errors.Is(err, syscall.EAGAIN)
	})
	return over || err != nil
}

// missing names the ranks that have not joined, and states what is known of the others.
func (g *gathering) missing() (ranks, others string) {
	var missing, exited, names []string
	hosts := map[string]bool{}
	for r := range g.t.meeting.Size {
		if h, here := g.joined[r]; here {
			hosts[h.Host] = true
			continue
		}
		missing = append(missing, strconv.Itoa(r))
		if h, was := g.exited[r]; was {
			exited = append(exited, h.String())
		}
	}
	ranks = fmt.Sprintf("%d of %d ranks (%s)", len(missing), g.t.meeting.Size, units.Some(missing))
	for h := range hosts {
		names = append(names, h)
	}
	slices.Sort(names)
	others = "the others are on " + units.Some(names)
	if len(exited) > 0 {
		others += "; joined and exited: " + units.Some(exited)
	}
	if n := g.strangers.Load(); n > 0 {
		others += fmt.Sprintf("; %s of another run or with another BUSBAR_SECRET_FILE refused",
			units.Count(int(n), "connection"))
	}
	return ranks, others
}

// refuse states why a rank cannot join; "" if it can.
func refuse(h, me tcpHello, joined map[int]tcpHello) string {
	switch before, twice := joined[h.Rank]; {
	case h.Size != me.Size:
		return fmt.Sprintf("%v has a world size of %d, rank 0 one of %d: start all ranks with one launcher", h, h.Size,
			me.Size)
	case h.Build != me.Build:
		return fmt.Sprintf("%v is another build of rank than rank 0 on %s: copy one bin/rank to all hosts", h, me.Host)
	case h.Rank < 0 || h.Rank >= me.Size:
		return fmt.Sprintf("%v is outside of a world of %d", h, me.Size)
	case twice:
		return fmt.Sprintf("two processes have the same rank: %v and %v", before, h)
	}
	return ""
}

// acceptRanks greets what connects, each within the time of a handshake, until ctx ends. What is no rank is dropped;
// strangers counts what has another key.
func acceptRanks(ctx context.Context, socket net.Listener, key []byte, arrivals chan<- arrival,
	strangers *atomic.Int64) {
	for {
		conn, err := socket.Accept()
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // most likely no file descriptor is left
			time.Sleep(50 * time.Millisecond)
			continue
		}
		go func() {
			_ = conn.SetDeadline(time.Now().Add(handshakeTime))
			hello, err := greetRank(conn, key)
			if err == nil {
				select {
				case arrivals <- arrival{conn, hello}:
					return
				case <-ctx.Done():
				}
			}
			if errors.Is(err, errOtherKey) {
				strangers.Add(1)
			}
			_ = conn.Close()
		}()
	}
}

// listenForRanks opens the port of the meeting on the address that the other ranks know.
func listenForRanks(ctx context.Context, m *Meeting) (net.Listener, error) {
	addresses, err := lookUp(ctx, m)
	if err != nil {
		return nil, err
	}
	own := func(a net.IPAddr) bool {
		same := func(n *net.IPNet) bool { return n.IP.Equal(a.IP) }
		return a.IP.IsLoopback() || slices.ContainsFunc(localNets(), same)
	}
	i := slices.IndexFunc(addresses, own)
	if i < 0 {
		return nil, exit.Environmentf("%s=%s (%v) is no address of rank 0's host: set it to one", m.HostFrom, m.Host,
			addresses)
	}
	host := addresses[i].String()
	if addresses[i].IP.IsLoopback() && net.ParseIP(m.Host) == nil && m.Host != "localhost" && m.Size != m.LocalSize {
		host = "" // the name of a host that /etc/hosts maps to 127.0.1.1, as Debian does: others know another address
	}
	socket, err := (&net.ListenConfig{KeepAlive: -1}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(m.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, exit.Environmentf("port %d on %s is in use, perhaps by another run: set %s to another port on "+
			"all ranks", m.Port, m.Host, m.PortFrom)
	}
	if err != nil {
		return nil, exit.Environmentf("rank 0 cannot listen on %v: %w", m, err)
	}
	return socket, nil
}

// lookUp resolves the name of rank 0's host. It tries again, since a name may become known after the host.
func lookUp(ctx context.Context, m *Meeting) ([]net.IPAddr, error) {
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		addresses, err := net.DefaultResolver.LookupIPAddr(ctx, m.Host)
		if err == nil {
			return addresses, nil
		}
		if time.Since(begun) > timeout.Names || ctx.Err() != nil {
			return nil, exit.Environmentf("cannot resolve %s=%s: %w", m.HostFrom, m.Host, err)
		}
	}
}

// joinRank0 connects this rank to rank 0 and waits until all ranks have met. Rank 0 may start later, or again: this
// rank tries until ctx ends.
func (t *TCP) joinRank0(ctx context.Context, hello tcpHello) error {
	if _, err := lookUp(ctx, t.meeting); err != nil {
		return err
	}
	address := net.JoinHostPort(t.meeting.Host, strconv.Itoa(t.meeting.Port))
	begun, pause := time.Now(), 50*time.Millisecond
	for {
		conn, err := dialRank0(ctx, address, t.key, hello)
		if err == nil {
			t.links[0] = &tcpLink{Conn: conn}
			return nil
		}
		if known := (*exit.Error)(nil); errors.As(err, &known) {
			return err
		}
		select {
		case <-ctx.Done():
			return exit.Environmentf("cannot meet rank 0 at %v in %s: %w", t.meeting,
				units.Duration(time.Since(begun).Seconds()), err)
		case <-time.After(pause):
			pause = min(2*pause, time.Second)
		}
	}
}

// dialRank0 returns a connection to rank 0 once all ranks have met.
func dialRank0(ctx context.Context, address string, key []byte, hello tcpHello) (_ net.Conn, err error) {
	conn, err := (&net.Dialer{Timeout: handshakeTime, KeepAlive: -1}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, shortError(err)
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	_ = conn.SetDeadline(time.Now().Add(2 * handshakeTime))
	if err := greetRank0(conn, key, hello); err != nil {
		return nil, err
	}
	// From here on rank 0's limit applies: it may have started later.
	_ = conn.SetDeadline(time.Now().Add(timeout.Meet + handshakeTime))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			_ = conn.SetDeadline(time.Unix(1, 0))
		}
	})
	defer stop()
	reason, err := receiveText(conn)
	switch {
	case err != nil:
		return nil, fmt.Errorf("rank 0 did not report that all ranks have met: %w", shortError(err))
	case len(reason) > 0:
		return nil, exit.Environmentf("rank 0 ended the meeting: %s", reason)
	}
	return conn, conn.SetDeadline(time.Time{})
}
