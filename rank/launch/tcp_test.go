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
)

// freePort is a port that was free a moment ago.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for r, l := range launches {
		wait.Go(func() { errs[r] = f(l.World()) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return launches
}

func finalizeAll(t testing.TB, launches []*TCP) {
	t.Helper()
	var wait sync.WaitGroup
	for _, l := range launches {
		wait.Go(func() {
			if err := l.Finalize(); err != nil {
				t.Error(err)
			}
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
			if err := errors.Join(errs...); err == nil || !strings.Contains(err.Error(), c.word) {
				t.Error(err)
			}
		})
	}
}

// A rank, rank 0 too, that exits before all have met may be started again.
func TestTCPRankStartedAgain(t *testing.T) {
	for _, again := range []int{0, 1} {
		t.Run(fmt.Sprint(again), func(t *testing.T) {
			all := meetings(t, 3)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			errs := make([]error, 3)
			launches := make([]*TCP, 3)
			var wait sync.WaitGroup
			start := func(r int) {
				wait.Go(func() { launches[r], errs[r] = ConnectTCP(ctx, all[r], nil, "build", io.Discard) })
			}
			first, end := context.WithCancel(ctx)
			met := make(chan error)
			go func() {
				_, err := ConnectTCP(first, all[again], nil, "build", io.Discard)
				met <- err
			}()
			start(1 - again)
			time.Sleep(20 * time.Millisecond) // whether they have met or not
			end()
			if err := <-met; err == nil {
				t.Fatal("two of three ranks met")
			}
			if again == 0 {
				wait.Wait()
				if errs[1] == nil || !strings.Contains(errs[1].Error(), "rank 0 ended the meeting") {
					t.Fatal(errs[1])
				}
				start(1)
			}
			start(again)
			start(2)
			wait.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			finalizeAll(t, launches)
		})
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
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if _, err := ConnectTCP(context.Background(), all[0], nil, "build", io.Discard); err == nil ||
		!strings.Contains(err.Error(), "is in use") {
		t.Error(err)
	}
}

func TestTCPMissingRank(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := ConnectTCP(ctx, meetings(t, 3)[0], nil, "build", io.Discard)
	if err == nil || !strings.Contains(err.Error(), "2 of 3 ranks (1, 2)") {
		t.Error(err)
	}
}

// What connects and is no rank does not disturb the ranks.
func TestTCPStrangers(t *testing.T) {
	all := meetings(t, 8)
	done := make(chan struct{})
	var scanner sync.WaitGroup
	scanner.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", all[0].Port))
			if err != nil {
				time.Sleep(time.Millisecond)
				continue
			}
			_, _ = conn.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n\r\n", i%7)))
			if i%2 == 0 {
				_ = conn.Close()
			} // else it stays silent
		}
	})
	launches, errs := connectAll(t, all)
	close(done)
	scanner.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	finalizeAll(t, launches)
}

func TestTCPLostRank(t *testing.T) {
	launches := onRanks(t, 3, func(Comm) error { return nil })
	_ = launches[2].links[0].Close()
	if err := launches[0].World().Barrier(); err == nil || !strings.Contains(err.Error(), "rank 2") {
		t.Error(err)
	}
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
