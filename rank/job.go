package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/ledger"
	"busbar/rank/listing"
	"busbar/rank/plan"
	"busbar/rank/screen"
	"busbar/rank/timeout"
)

// job is one launch in this rank: it connects the ranks, measures and finalizes.
type job struct {
	*ending
	cfg       *config
	args      []string
	stdout    io.Writer
	start     time.Time
	started   launch.Started // from the environment of the launcher
	libraries []backend.Library
	screen    *screen.Screen
}

// run runs the program and returns the exit code of this rank.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := launch.ReadStarted(os.Getenv)
	reports := started.Rank <= 0 // every rank parses the same command line; rank 0 reports errors
	cfg, err := parseFlags(args, os.Getenv)
	if err != nil && started.NoMPI && started.LocalRank <= 0 { // hosts have logs of their own
		reports = true
	}
	switch {
	case !reports && err != nil && started.NoMPI:
		return exit.Usage
	case !reports && (err != nil || cfg.help || cfg.shortHelp || cfg.version || cfg.list):
		return exit.OK
	case err != nil:
		complain(stderr, err)
		return exit.Usage
	case cfg.help || cfg.shortHelp:
		cfg.writeHelp(stdout)
		return exit.OK
	case cfg.version:
		fmt.Fprintln(stdout, versionLine())
		return exit.OK
	}
	timeout.Scale(cfg.timeScale)
	if cfg.list {
		if err := listing.Write(&cfg.Options, started, stdout); err != nil {
			complain(stderr, err)
			return exit.CodeOf(err)
		}
		return exit.OK
	}
	j := &job{ending: &ending{stderr: stderr, rank: max(0, started.Rank), ledger: ledger.New(stderr)},
		cfg: cfg, args: args, stdout: stdout, start: time.Now(), started: started}
	return j.run(ctx)
}

func (j *job) run(ctx context.Context) (code int) {
	defer func() {
		if p := recover(); p != nil {
			j.stop(exit.Failed, result.Failed, notice.RankCrashed{
				PlacedRank: j.placed(), Problem: fmt.Sprint(p), Stack: string(debug.Stack()),
			})
		}
	}()
	j.watch = hang.NewWatchdog(j.cfg.Deadline, j.onHang)
	j.diagnose = j.librariesOnHang
	code, err := j.work(ctx)
	if err == nil {
		return code
	}
	return j.fail(err)
}

// work connects the ranks, agrees on the plan, measures it and finalizes.
func (j *job) work(ctx context.Context) (int, error) {
	if err := j.connect(); err != nil {
		j.neverConnected(err)
		return 0, err
	}
	j.listen()
	if j.cfg.preflight {
		return checking{j}.run()
	}
	j.watch.Phase("read the sweep", 0)
	auto := func(worlds []int) string { return backend.Auto(j.host(), worlds) }
	p, err := plan.Agree(j.world, j.ranks, &j.cfg.Options, auto, j.stderr)
	if err != nil {
		return 0, err
	}
	if j.libraries, err = backend.Open(j.host(), p.Backends, p.Worlds); err != nil {
		return 0, err
	}
	j.screen = screen.New(j.rank == 0 && !j.cfg.quiet, j.stdout, j.cfg.Out)
	if j.world.Size() == 1 && j.started.Size < 1 {
		j.screen.Wrapped("# ", screen.WorldOfOne)
	}
	for _, lib := range j.libraries {
		if l, ok := lib.(backend.Accelerator); ok {
			if text := l.Adjusted(p.Worlds, j.world.Size()); text != "" {
				j.screen.Wrapped("# "+l.Name()+": ", text)
			}
		}
	}
	s := j.session()
	s.Plan, s.Libraries, s.Screen = p, j.libraries, j.screen
	code, err := s.Measure(ctx)
	if err != nil {
		return 0, err
	}
	if j.rank == 0 {
		j.screen.Summary(code)
	}
	return j.leave(code)
}

// fail ends this rank after an error of work.
func (j *job) fail(err error) int {
	if errors.Is(err, exit.ErrElsewhere) {
		j.watch.Phase(hang.PhaseFinalize, 0)
		if j.screen != nil { // rank 0 aborts; beside that, MPI_Finalize may leave mpirun hanging
			time.Sleep(timeout.OtherHosts + timeout.Abort)
		}
		j.finalize()
		return j.ownCode(exit.Failed)
	}
	code := exit.CodeOf(err)
	if j.world == nil { // the ranks are not connected; rank 0 probably reports the same error
		if j.rank > 0 {
			time.Sleep(2 * time.Second)
			err = fmt.Errorf("rank %d on %s: %w", j.rank, hostName(), err)
		}
		complain(j.stderr, err)
		return code
	}
	// Rank 0 reports the errors that all ranks detect before they measure.
	if code == exit.Usage || code == exit.Environment && j.rank == 0 && j.screen == nil {
		complain(j.stderr, err)
		j.watch.Phase(hang.PhaseFinalize, 0)
		j.finalize()
		return code
	}
	j.stop(code, result.Failed, notice.RankFailed{Rank: j.rank, Host: hostName(), Problem: err.Error()})
	return code
}

// leave ends the job normally.
func (j *job) leave(code int) (int, error) {
	j.state.parting.Store(true)
	j.watch.Phase(hang.PhaseFinalize, 0)
	rank0 := int64(code)
	if err := launch.Broadcast(j.world, &rank0); err != nil {
		return 0, err
	}
	if err := j.world.Barrier(); err != nil {
		return 0, err
	}
	j.finalize()
	if j.rank != 0 {
		code = j.ownCode(int(rank0))
	}
	return code, nil
}

// ownCode is the exit code of a rank other than 0. Launchers of MPI use that of rank 0; without one the process, pod or
// agent must fail where the job does.
func (e *ending) ownCode(code int) int {
	if l := e.launched.Load(); l == nil || launch.MPIOf(*l) != nil {
		return exit.OK
	}
	return code
}

// hostName returns the name of this host.
func hostName() string {
	h, err := os.Hostname()
	if err != nil {
		return "unknown-host"
	}
	return h
}

// complain prints an error.
func complain(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "rank: %v\n", err)
}
