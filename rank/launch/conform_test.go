package launch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"busbar/rank/launch"
	"busbar/rank/launch/launchtest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// 130 ranks are three blocks of the tree. The system tests run the suite over MPI.
func TestTCPConforms(t *testing.T) {
	for _, n := range []int{1, 2, 5, 130} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			socket, err := net.Listen("tcp", "127.0.0.1:0")
			must.NoError(t, err)
			port := socket.Addr().(*net.TCPAddr).Port
			must.NoError(t, socket.Close())
			errs := make([]error, n)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			var wait sync.WaitGroup
			for r := range n {
				m := &launch.Meeting{Source: "a test", Rank: r, Size: n, LocalRank: r, LocalSize: n, Host: "127.0.0.1",
					HostFrom: "MASTER_ADDR", Port: port, Identity: t.Name()}
				wait.Go(func() {
					l, err := launch.ConnectTCP(ctx, m, nil, "build", io.Discard)
					if err == nil {
						err = errors.Join(launchtest.Use(l.World()), l.Finalize())
					}
					errs[r] = err
				})
			}
			wait.Wait()
			test.NoError(t, errors.Join(errs...))
		})
	}
}
