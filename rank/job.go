package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/mpi"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/ledger"
	"busbar/rank/plan"
	"busbar/rank/preflight"
	"busbar/rank/screen"
	"busbar/rank/timeout"
)

// job is one launch as this rank sees it.
type job struct {
	cfg            *config
	args           []string
	stdout, stderr io.Writer
	start          time.Time

	launch     mpi.Launch
	lib        *mpi.MPI
	connected  launch.Launch                 // nil before connect
	abortable  atomic.Pointer[launch.Launch] // the same, for other goroutines
	world      launch.Comm
	rank, size int
	ranks      []launch.RankFacts // on every rank after connect

	hub   *launch.ControlServer // rank 0
	spoke *launch.ControlClient // the others

	look   atomic.Pointer[hang.Peers] // nil until the ranks know each other
	shared atomic.Pointer[string]     // shared memory that has a name yet

	libraries  []backend.Library
	interrupts backend.Interrupts

	naming atomic.Bool // rank 0 is finding out who hangs

	watch       *hang.Watchdog
	ledger      *ledger.Ledger
	askedToStop atomic.Bool
	signalled   atomic.Bool // rank 0 got SIGTERM or SIGINT itself
	parting     atomic.Bool // the job is ending in good order
	aborting    atomic.Bool // rank 0 ends the job: what fails now fails because of that
	screen      *screen.Screen
	checks      *preflight.Checklist // rank 0 with --preflight
}

// run is the program: it returns the exit code of this rank.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := mpi.Launcher(os.Getenv)
	speaks := started.Rank <= 0 // every rank reads the same command line; one says what is wrong with it
	cfg, err := parseFlags(args, os.Getenv)
	switch {
	case !speaks && (err != nil || cfg.help || cfg.version || cfg.list):
		return exit.OK
	case err != nil:
		complain(stderr, err)
		return exit.Usage
	case cfg.help:
		writeHelp(stdout)
		return exit.OK
	case cfg.version:
		fmt.Fprintln(stdout, versionLine())
		return exit.OK
	}
	timeout.Scale(cfg.timeScale)
	if cfg.list {
		if err := plan.List(&cfg.Options, plan.Started{Size: started.Size, LocalSize: started.LocalSize}, stdout); err != nil {
			complain(stderr, err)
			return exit.CodeOf(err)
		}
		return exit.OK
	}
	j := &job{cfg: cfg, args: args, stdout: stdout, stderr: stderr, start: time.Now(), launch: started, rank: max(0, started.Rank), size: 1,
		ledger: ledger.New(stderr)}
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
	code, err := j.work(ctx)
	if err == nil {
		return code
	}
	return j.fail(err)
}

// work is the contents page: connect the ranks, agree on the plan, measure world by world, part.
func (j *job) work(ctx context.Context) (int, error) {
	if err := j.connect(); err != nil {
		j.neverConnected(err)
		return 0, err
	}
	j.listen()
	if j.cfg.preflight {
		return j.preflight()
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
	j.screen = screen.New(j.rank == 0 && !j.cfg.quiet, p.Kind(), j.launch, j.stdout, j.stderr)
	for _, lib := range j.libraries {
		if l, ok := lib.(backend.Accelerator); ok {
			if text := l.Adjusted(p.Worlds, j.size); text != "" {
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
		j.screen.Farewell(code)
	}
	return j.part(code)
}

// fail ends this rank after an error that work returned.
func (j *job) fail(err error) int {
	if errors.Is(err, exit.ErrElsewhere) {
		j.watch.Phase(hang.PhaseFinalize, 0)
		j.finalize()
		return exit.OK
	}
	code := exit.CodeOf(err)
	if j.world == nil { // nothing connects the ranks yet; rank 0 most likely has the same to say
		if j.rank > 0 {
			time.Sleep(2 * time.Second)
			err = fmt.Errorf("rank %d on %s: %w", j.rank, hostName(), err)
		}
		complain(j.stderr, err)
		return code
	}
	if code == exit.Usage || code == exit.Environment && j.rank == 0 && j.screen == nil { // found before measuring, by all
		complain(j.stderr, err)
		j.watch.Phase(hang.PhaseFinalize, 0)
		j.finalize()
		return code
	}
	j.stop(code, result.Failed, notice.RankFailed{Rank: j.rank, Host: hostName(), Problem: err.Error()})
	return code
}

// placed is this rank.
func (j *job) placed() notice.PlacedRank { return notice.PlacedRank{Rank: j.rank, Host: hostName()} }

// told is a cause as stderr has it, with the stack of a crash.
func told(cause notice.Fact) string {
	text := notice.Message(cause)
	if c, is := cause.(notice.RankCrashed); is {
		text += "\n" + c.Stack
	}
	return text
}

// stop ends the whole job because of something this rank saw. It does not return.
func (j *job) stop(code int, status result.Status, cause notice.Fact) {
	if j.rank == 0 {
		j.stopAll(code, status, cause)
	}
	if j.aborting.Load() {
		time.Sleep(timeout.Abort)
		os.Exit(exit.OK)
	}
	if j.spoke.Send(launch.Event{Kind: "failed", Cause: notice.Kept{Fact: cause}, Code: code}) == nil {
		time.Sleep(timeout.Abort) // rank 0 closes its files and takes us along
	}
	fmt.Fprintf(j.stderr, "rank: %s\n", told(cause))
	j.die(code)
}

// stopAll is stop on rank 0: the files are closed, the reason is said, and the other ranks are taken along.
func (j *job) stopAll(code int, status result.Status, cause notice.Fact) {
	paths := j.ledger.Paths()
	if !j.ledger.Finish(result.Aborted, cause, code, status) {
		j.yield(code) // somebody else is ending the run
	}
	fmt.Fprintf(j.stderr, "rank: %s\n", told(cause))
	j.checks.CutShort(cause)
	if len(paths) > 0 && !j.ledger.Reported() {
		fmt.Fprintf(j.stderr, "rank: what was measured before is kept%s; --resume continues it\n", inFiles(paths))
	}
	j.look.Load().AwaitOtherHosts()
	j.die(code)
}

// part ends the job in good order; rank 0 alone gives a code that is not 0.
func (j *job) part(code int) (int, error) {
	j.parting.Store(true)
	j.watch.Phase(hang.PhaseFinalize, 0)
	if err := j.world.Barrier(); err != nil {
		return 0, err
	}
	j.finalize()
	if j.rank != 0 {
		code = exit.OK
	}
	return code, nil
}

func (j *job) finalize() {
	j.parting.Store(true)
	if err := j.connected.Finalize(); err != nil {
		fmt.Fprintf(j.stderr, "rank: rank %d on %s: %v\n", j.rank, hostName(), err)
	}
	// Last: until here a rank that hangs can be asked.
	if j.hub != nil {
		j.hub.Close()
	}
	j.spoke.Close()
}

// hostName is the name of this host; every machine has one.
func hostName() string {
	h, err := os.Hostname()
	if err != nil {
		return "unknown-host"
	}
	return h
}

// complain writes an error for a person.
func complain(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "rank: %v\n", err)
}
