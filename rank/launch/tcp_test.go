package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// freePort is a port that was free a moment ago.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func meetings(t testing.TB, n int) []*Meeting {
	t.Helper()
	port := freePort(t)
	all := make([]*Meeting, n)
	for r := range all {
		all[r] = &Meeting{Source: "a test", Rank: r, Size: n, LocalRank: r, LocalSize: n, Host: "127.0.0.1",
			HostFrom: "MASTER_ADDR", Port: port, Identity: t.Name()}
	}
	return all
}

// connectAll connects the ranks of meetings, each as a goroutine.
func connectAll(t testing.TB, all []*Meeting) ([]*TCP, []error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	launches, errs := make([]*TCP, len(all)), make([]error, len(all))
	var wait sync.WaitGroup
	for i, m := range all {
		wait.Go(func() {
			if launches[i], errs[i] = ConnectTCP(ctx, m, nil, "build", io.Discard); errs[i] != nil && i == 0 {
				cancel()
			}
		})
	}
	wait.Wait()
	return launches, errs
}

// onRanks runs f on every rank of a launch.
func onRanks(t testing.TB, n int, f func(c Comm) error) []*TCP {
	t.Helper()
	launches, errs := connectAll(t, meetings(t, n))
	must.NoError(t, errors.Join(errs...))
	var wait sync.WaitGroup
	for r, l := range launches {
		wait.Go(func() { errs[r] = f(l.World()) })
	}
	wait.Wait()
	must.NoError(t, errors.Join(errs...))
	return launches
}

func finalizeAll(t testing.TB, launches []*TCP) {
	t.Helper()
	var wait sync.WaitGroup
	for _, l := range launches {
		wait.Go(func() {
			test.NoError(t, l.Finalize())
		})
	}
	wait.Wait()
}

func TestTCPRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m []*Meeting)
		word   string
	}{
		"same rank twice":    {func(m []*Meeting) { m[2].Rank = 1 }, "the same rank"},
		"another world size": {func(m []*Meeting) { m[1].Size = 4 }, "world size of 4, rank 0 one of 3"},
		"another run":        {func(m []*Meeting) { m[1].Identity = "b" }, "another run"},
		"address elsewhere":  {func(m []*Meeting) { m[0].Host = "192.0.2.1" }, "no address of rank 0's host"},
	} {
		t.Run(name, func(t *testing.T) {
			all := meetings(t, 3)
			c.change(all)
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			errs := make([]error, len(all))
			var wait sync.WaitGroup
			for i, m := range all {
				wait.Go(func() { _, errs[i] = ConnectTCP(ctx, m, nil, "build", io.Discard) })
			}
			wait.Wait()
			test.ErrorContains(t, errors.Join(errs...), c.word)
		})
	}
}

// join is the handshake of a rank that then waits for the others.
func join(t *testing.T, m *Meeting) net.Conn {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", m.Port))
		if err != nil {
			continue
		}
		hello := tcpHello{Rank: m.Rank, Size: m.Size, Build: "build"}
		must.NoError(t, greetRank0(conn, meetingKey(m, nil), hello))
		return conn
	}
	t.Fatal("rank 0 does not listen")
	return nil
}

// A rank that exits before all have met may be started again.
func TestTCPRankStartedAgain(t *testing.T) {
	all := meetings(t, 3)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	launches, errs := make([]*TCP, 3), make([]error, 3)
	var wait sync.WaitGroup
	start := func(r int) {
		wait.Go(func() { launches[r], errs[r] = ConnectTCP(ctx, all[r], nil, "build", io.Discard) })
	}
	start(0)
	must.NoError(t, join(t, all[1]).Close())
	start(1)
	start(2)
	wait.Wait()
	must.NoError(t, errors.Join(errs...))
	finalizeAll(t, launches)
}

// The other ranks wait for a rank 0 that is started again.
func TestTCPRank0StartedAgain(t *testing.T) {
	all := meetings(t, 2)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	socket, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", all[0].Port))
	must.NoError(t, err)
	launches, errs := make([]*TCP, 2), make([]error, 2)
	var wait sync.WaitGroup
	wait.Go(func() { launches[1], errs[1] = ConnectTCP(ctx, all[1], nil, "build", io.Discard) })
	conn, err := socket.Accept()
	if err == nil {
		_, err = greetRank(conn, meetingKey(all[0], nil))
	}
	must.NoError(t, errors.Join(err, sendText(conn, nil), conn.Close(), socket.Close()))
	launches[0], errs[0] = ConnectTCP(ctx, all[0], nil, "build", io.Discard)
	wait.Wait()
	must.NoError(t, errors.Join(errs...))
	finalizeAll(t, launches)
}

// Ranks that have joined get the reason why the others have not.
func TestTCPOutcome(t *testing.T) {
	all := meetings(t, 4)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := ConnectTCP(ctx, all[0], nil, "build", io.Discard)
		ended <- err
	}()
	conn := join(t, all[1])
	defer conn.Close()
	must.NoError(t, join(t, all[2]).Close())
	cancel()
	reason, err := receiveText(conn)
	mine := <-ended
	if err != nil || mine == nil || string(reason) != mine.Error() ||
		!strings.Contains(mine.Error(), "2 of 4 ranks (2, 3)") || !strings.Contains(mine.Error(), "exited: rank 2 on") {
		t.Fatalf("rank 1 got %q, %v; rank 0 has %v", reason, err, mine)
	}
}

func TestMissingRanksNamed(t *testing.T) {
	g := gathering{t: newTCP(&Meeting{Size: 100}, nil), joined: map[int]tcpHello{0: {Host: "n0"}, 5: {Host: "n1"}}}
	g.strangers.Store(3)
	ranks, others := g.missing()
	if !strings.HasPrefix(ranks, "98 of 100 ranks (1, 2, 3, 4, 6,") || !strings.HasSuffix(ranks, " and 90 more)") ||
		!strings.HasPrefix(others, "the others are on n0, n1; 3 connections of another run") {
		t.Errorf("%s; %s", ranks, others)
	}
}

func TestTCPSecret(t *testing.T) {
	all := meetings(t, 2)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	errs := make([]error, 2)
	var wait sync.WaitGroup
	for r, secret := range []string{"a", "b"} {
		wait.Go(func() { _, errs[r] = ConnectTCP(ctx, all[r], []byte(secret), "build", io.Discard) })
	}
	wait.Wait()
	if errs[0] == nil || errs[1] == nil || !strings.Contains(errs[1].Error(), "BUSBAR_SECRET_FILE") {
		t.Errorf("%v; %v", errs[0], errs[1])
	}
}

func TestTCPPortInUse(t *testing.T) {
	all := meetings(t, 2)
	socket, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", all[0].Port))
	must.NoError(t, err)
	defer socket.Close()
	_, err = ConnectTCP(context.Background(), all[0], nil, "build", io.Discard)
	test.ErrorContains(t, err, "is in use")
}

func TestTCPMissingRank(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := ConnectTCP(ctx, meetings(t, 3)[0], nil, "build", io.Discard)
	test.ErrorContains(t, err, "2 of 3 ranks (1, 2) are not connected")
}

// strangers connect to a port: some send what is no handshake, some stay silent.
func strangers(t *testing.T, address string) {
	t.Helper()
	for i := range 20 {
		conn, err := net.Dial("tcp", address)
		must.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = conn.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n\r\n", i%3)))
		if i%2 == 0 {
			_ = conn.Close()
		}
	}
}

// What connects and is no rank does not disturb the ranks.
func TestTCPStrangers(t *testing.T) {
	all := meetings(t, 3)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	launches, errs := make([]*TCP, 3), make([]error, 3)
	var wait sync.WaitGroup
	wait.Go(func() { launches[0], errs[0] = ConnectTCP(ctx, all[0], nil, "build", io.Discard) })
	_ = join(t, all[1]).Close() // rank 0 listens
	strangers(t, fmt.Sprint("127.0.0.1:", all[0].Port))
	for r := 1; r < 3; r++ {
		wait.Go(func() { launches[r], errs[r] = ConnectTCP(ctx, all[r], nil, "build", io.Discard) })
	}
	wait.Wait()
	must.NoError(t, errors.Join(errs...))
	finalizeAll(t, launches)
}

// The same where ranks connect to each other.
func TestMembersAmongStrangers(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	defer socket.Close()
	key, conns, ended := []byte("key"), make([]net.Conn, 3), make(chan error)
	go func() { ended <- acceptMembers(conns, socket, key) }()
	strangers(t, socket.Addr().String())
	first, err := dialFirst(socket.Addr().String(), key, 1)
	must.NoError(t, err)
	again, err := dialFirst(socket.Addr().String(), key, 1) // as after a timeout
	must.NoError(t, err)
	other, err := dialFirst(socket.Addr().String(), key, 2)
	must.NoError(t, errors.Join(err, <-ended))
	if conns[1].RemoteAddr().String() != again.LocalAddr().String() ||
		conns[2].RemoteAddr().String() != other.LocalAddr().String() {
		t.Errorf("connected to %v and %v", conns[1].RemoteAddr(), conns[2].RemoteAddr())
	}
	for _, c := range []net.Conn{first, again, other, conns[1], conns[2]} {
		_ = c.Close()
	}
}

// A rank that exits before Finalize is an error of the others.
func TestTCPLostInFinalize(t *testing.T) {
	launches := onRanks(t, 3, func(Comm) error { return nil })
	_ = launches[2].links[0].Close()
	var wait sync.WaitGroup
	for r, l := range launches[:2] {
		wait.Go(func() {
			test.Error(t, l.Finalize(), test.Sprint(r))
		})
	}
	wait.Wait()
}

func TestTCPLostRank(t *testing.T) {
	launches := onRanks(t, 3, func(Comm) error { return nil })
	_ = launches[2].links[0].Close()
	test.ErrorContains(t, launches[0].World().Barrier(), "rank 2")
}

func TestTCPAbort(t *testing.T) {
	launches := onRanks(t, 4, func(Comm) error { return nil })
	var wait sync.WaitGroup
	codes := make([]int, 4)
	for r, l := range launches {
		wait.Add(1)
		var once sync.Once
		l.exit = func(code int) { once.Do(func() { codes[r] = code; wait.Done() }) }
	}
	launches[3].Abort(5)
	codes[3] = 5
	wait.Done() // the caller exits by itself
	wait.Wait()
	for r, code := range codes {
		if code != 5 {
			t.Errorf("rank %d exits with %d", r, code)
		}
	}
}
