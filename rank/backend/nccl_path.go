package backend

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"busbar/cudart/nccl"
	"busbar/internal/bench"
	"busbar/internal/dl"
	"busbar/internal/result"
)

// openProfiler makes NCCL load the plugin to which it reports its path, if --algorithms is set.
func (l *ncclLibrary) openProfiler() (err error) {
	if !l.h.Options.GPU.Path {
		return nil
	}
	if other := os.Getenv(nccl.ProfilerVariable); other != "" {
		return fmt.Errorf("--algorithms requires %s for its own plugin, but it is set to %s: unset it, or omit "+
			"--algorithms", nccl.ProfilerVariable, other)
	}
	if l.paths, err = nccl.OpenProfiler(dl.Folders()); err != nil {
		err = fmt.Errorf("--algorithms: %w", err)
		if missing := new(dl.LoadError); errors.As(err, &missing) {
			err = fmt.Errorf("%w\nrun make build, or use a bundle", err)
		}
		return err
	}
	return os.Setenv(nccl.ProfilerVariable, l.paths.Path())
}

// dropProfiler takes the plugin back from a library that is not to have it.
func (l *ncclLibrary) dropProfiler() error {
	if l.paths == nil || l.nccl.Info().Profilable() {
		return nil
	}
	l.paths = nil
	l.notes = append(l.notes, "path: unknown, "+l.nccl.Info().Name+" does not report it")
	return os.Unsetenv(nccl.ProfilerVariable)
}

// agreeOnPaths keeps the plugin only if NCCL has taken it on every rank; it is known once there is a communicator.
// Collective.
func (b *ncclBackend) agreeOnPaths() error {
	l := b.l
	if l.paths == nil {
		return nil
	}
	version := l.paths.Interface()
	without := []float64{float64(b2i(version == 0))}
	if err := b.w.Max(without); err != nil {
		return err
	}
	note := fmt.Sprintf("path: NCCL reports it through its profiler interface, version %d (%s=%s), only "+
		"during an operation that is not timed", version, nccl.ProfilerVariable, l.paths.Path())
	if without[0] == 0 {
		b.paths = l.paths
	} else {
		note = "path: unknown, this library supports no plugin for NCCL's profiler interface (NCCL does since 2.23)"
	}
	if !slices.Contains(l.notes, note) {
		l.notes = append(l.notes, note)
	}
	return nil
}

// Watch implements bench.Pathfinder. A graph launch reports nothing, so it runs the operation alone.
func (o *ncclOperation) Watch() bench.Operation {
	if o.b.paths == nil || !o.b.paths.Watch() {
		return nil
	}
	if o.b.graph > 0 {
		return o.single
	}
	return o
}

// Path implements bench.Pathfinder.
func (o *ncclOperation) Path() *result.Path {
	w := o.b.paths.Take()
	if !w.Known() {
		return nil
	}
	return &result.Path{Algorithm: w.Algorithm, Protocol: w.Protocol, Channels: w.Channels, AtMost: w.AtMost}
}
