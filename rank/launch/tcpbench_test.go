package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"
)

// benchmarkBegin is set in the processes that BenchmarkTCPProcesses starts: when it began, in Unix nanoseconds.
const benchmarkBegin = "BUSBAR_BENCHMARK_BEGIN"

func TestMain(m *testing.M) {
	if begin, err := strconv.ParseInt(os.Getenv(benchmarkBegin), 10, 64); err == nil {
		if err := benchmarkRank(time.Unix(0, begin)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const barriers = 100

// benchmarkRank is one process of the benchmark. Rank 0 prints the seconds until all ranks had met and of one barrier.
func benchmarkRank(begin time.Time) error {
	m, err := BootstrapTCP.Choose(os.Getenv)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	t, err := ConnectTCP(ctx, m, nil, "build", io.Discard)
	if err != nil {
		return err
	}
	met := time.Now()
	for range barriers {
		if err := t.World().Barrier(); err != nil {
			return err
		}
	}
	if m.Rank == 0 {
		fmt.Println(met.Sub(begin).Seconds(), time.Since(met).Seconds()/barriers)
	}
	return t.Finalize()
}

// BenchmarkTCPProcesses starts processes that meet. The start of the processes is part of the first metric.
func BenchmarkTCPProcesses(b *testing.B) {
	for _, n := range []int{16, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var start, barrier float64
			for range b.N {
				s, t := launchProcesses(b, n)
				start, barrier = start+s, barrier+t
			}
			b.ReportMetric(start/float64(b.N), "s/start")
			b.ReportMetric(barrier/float64(b.N), "s/barrier")
		})
	}
}

func launchProcesses(b *testing.B, n int) (start, barrier float64) {
	b.Helper()
	port, begin := freePort(b), time.Now().UnixNano()
	var wait sync.WaitGroup
	for r := range n {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprint("RANK=", r), fmt.Sprint("WORLD_SIZE=", n),
			fmt.Sprint("LOCAL_RANK=", r),
			fmt.Sprint("LOCAL_WORLD_SIZE=", n), "MASTER_ADDR=127.0.0.1", fmt.Sprint("MASTER_PORT=", port),
			fmt.Sprint(benchmarkBegin, "=", begin))
		c.Stderr = os.Stderr
		wait.Go(func() {
			out, err := c.Output()
			if err == nil && r == 0 {
				_, err = fmt.Sscan(string(out), &start, &barrier)
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	wait.Wait()
	return start, barrier
}

// BenchmarkTCP has all ranks in one process.
func BenchmarkTCP(b *testing.B) {
	for _, n := range []int{16, 64, 256, 1024, 4096} {
		b.Run(fmt.Sprint("barrier of ", n), func(b *testing.B) {
			launches := onRanks(b, n, func(Comm) error { return nil })
			b.ResetTimer()
			var wait sync.WaitGroup
			for _, l := range launches {
				wait.Go(func() {
					for range b.N {
						if err := l.World().Barrier(); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wait.Wait()
			b.StopTimer()
			finalizeAll(b, launches)
		})
		b.Run(fmt.Sprint("start of ", n), func(b *testing.B) {
			for range b.N {
				finalizeAll(b, onRanks(b, n, func(Comm) error { return nil }))
			}
		})
	}
}
