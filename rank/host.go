package main

import (
	"cmp"
	"encoding/json"
	"fmt"

	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// host is this launch as libraries see it.
func (j *job) host() *backend.Host {
	h := &backend.Host{Options: j.cfg.Options, Ranks: j.ranks, Rank: j.rank, CPU: machine.Facts("/").CPU, MPI: j.lib, Coordinator: j, Watch: j.watch,
		Interrupts: &j.interrupts, Stderr: j.stderr}
	h.Options.Compute = j.cfg.step.ComputeOptions
	h.Options.Compute.Copies = j.cfg.step.copies()
	return h
}

// forLibraries is this world as libraries see it.
func (w *subworld) forLibraries() *backend.World {
	return &backend.World{World: w.world, Group: w.comm, Area: &w.area, Memory: w}
}

// method is how this session's cases are measured.
func (s *session) method() backend.Method {
	return backend.Method{Layout: s.layout(), Aggregate: s.p.sweep.Aggregate, Iterations: s.p.sweep.Iterations}
}

// eventLeave is the word that an operation of the communicator with that number has failed somewhere.
const eventLeave = "leave"

// PassOn implements backend.Coordinator, wherever the word comes from.
func (j *job) PassOn(number int) {
	if !j.interrupts.First(number) {
		return
	}
	e := launch.Event{Kind: eventLeave, Code: number}
	j.interrupts.Interrupt(number)
	if j.hub != nil {
		go j.hub.Broadcast(e)
	} else if j.rank != 0 {
		_ = j.spoke.Send(e) // without a side channel the watchdog ends what hangs
	}
}

// Exchange implements backend.Coordinator.
func (j *job) Exchange(mine json.RawMessage) ([]json.RawMessage, error) {
	parts, failed := j.world.Gatherv(mine, 0)
	all, err := share(j, func() ([]json.RawMessage, error) {
		if failed != nil {
			return nil, failed // to all ranks: none may wait for the others
		}
		all := make([]json.RawMessage, len(parts))
		for i, p := range parts {
			all[i] = p
		}
		return all, nil
	})
	return all, cmp.Or(failed, err)
}

// Together implements backend.Coordinator; rank 0 has the words, those of the lowest rank that has any.
func (j *job) Together(err error) error {
	var mine []byte
	if err != nil {
		var e error
		if mine, e = json.Marshal(exit.FailureOf(err)); e != nil {
			return e
		}
	}
	all, e := j.world.Gatherv(mine, 0)
	if e != nil {
		return e
	}
	_, e = j.onRoot(func() ([]byte, error) {
		for r, b := range all {
			if len(b) == 0 {
				continue
			}
			same := 0
			for _, other := range all {
				if string(other) == string(b) {
					same++
				}
			}
			var f exit.Failure
			if err := json.Unmarshal(b, &f); err != nil {
				return nil, err
			}
			if same == len(all) {
				return nil, exit.With(exit.Environment, &f)
			}
			where := fmt.Sprintf("rank %d on %s%s", r, j.ranks[r].Host, others(same-1))
			return nil, exit.With(exit.Environment, f.On(where))
		}
		return nil, nil
	})
	return e
}

func others(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// gather brings every rank's value to rank 0, in the order of the ranks. Collective.
func gather[T any](j *job, mine T) ([]T, error) {
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	parts, err := j.world.Gatherv(b, 0)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(parts))
	for i, b := range parts {
		if err := json.Unmarshal(b, &all[i]); err != nil {
			return nil, fmt.Errorf("what rank %d says of itself: %w", i, err)
		}
	}
	return all, nil
}
