package launch

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"busbar/rank/exit"
)

// Broadcast gives rank 0's value to every rank of a group. The value is of fixed size: a number, a truth value, or a
// struct or array of them. Collective.
func Broadcast[T any](c Comm, value *T) error {
	b, err := binary.Append(nil, binary.LittleEndian, value)
	if err != nil {
		return err
	}
	if err := c.Bcast(b, 0); err != nil {
		return err
	}
	_, err = binary.Decode(b, binary.LittleEndian, value)
	return err
}

// BroadcastJSON is Broadcast for any value that JSON can hold. Collective.
func BroadcastJSON[T any](c Comm, value *T) error {
	var text []byte
	err := OnRoot(c, func() (err error) {
		text, err = json.Marshal(value)
		return err
	})
	if err != nil {
		return err
	}
	length := int64(len(text))
	if err := Broadcast(c, &length); err != nil {
		return err
	}
	if c.Rank() != 0 {
		text = make([]byte, length)
	}
	if err := c.Bcast(text, 0); err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

// GatherJSON returns the values of all ranks of a group, by rank, on rank 0, and nil elsewhere. Collective.
func GatherJSON[T any](c Comm, mine T) ([]T, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	parts, err := c.Gatherv(text, 0)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	all := make([]T, len(parts))
	for i, p := range parts {
		if err := json.Unmarshal(p, &all[i]); err != nil {
			return nil, exit.Environmentf("this program cannot read the facts of rank %d (%v): "+
				"start the same rank binary on all hosts", i, err)
		}
	}
	return all, nil
}

// AllGatherJSON returns the values of all ranks of a group, by rank, on every rank. Collective.
func AllGatherJSON[T any](c Comm, mine T) ([]T, error) {
	all, err := GatherJSON(c, mine)
	return Share(c, func() ([]T, error) { return all, err })
}

// Share runs f on rank 0 and returns its value on every rank. If f fails, rank 0 returns its error and the other ranks
// return exit.ErrElsewhere. Collective.
func Share[T any](c Comm, f func() (T, error)) (T, error) {
	var value T
	err := OnRoot(c, func() (err error) {
		value, err = f()
		return err
	})
	if err != nil {
		return value, err
	}
	return value, BroadcastJSON(c, &value)
}

// OnRoot runs f on rank 0 and returns on every rank whether it failed, as Share does. Collective.
func OnRoot(c Comm, f func() error) error {
	var err error
	failed := false
	if c.Rank() == 0 {
		err = f()
		failed = err != nil
	}
	if e := Broadcast(c, &failed); e != nil {
		return e
	}
	if failed && c.Rank() != 0 {
		return exit.ErrElsewhere
	}
	return err
}

// BarrierWhile is a barrier in which this rank calls work again and again; an error of it ends the wait. It matches
// BarrierSleeping. Collective.
func BarrierWhile(c Comm, work func() error) error {
	if b, ok := c.(interface{ BarrierWhile(func() error) error }); ok { // MPI's threads may not call it at once
		return b.BarrierWhile(work)
	}
	over := make(chan error, 1)
	go func() { over <- c.Barrier() }()
	for {
		select {
		case err := <-over:
			return err
		default:
			if err := work(); err != nil {
				return err
			}
		}
	}
}

// Together compares the outcome of a step that every rank of the launch took by itself: an error on any rank is an
// error on all. Rank 0 returns the error of the lowest rank that has one, with the place; the others return
// exit.ErrElsewhere. Collective.
func Together(c Comm, ranks []RankFacts, err error) error {
	var mine *exit.Failure
	if err != nil {
		mine = exit.FailureOf(err)
	}
	all, failed := GatherJSON(c, mine)
	return OnRoot(c, func() error { return cmp.Or(failed, firstFailure(all, ranks)) })
}

// firstFailure is the failure of the lowest rank that has one, with how many others have the same; nil if none has.
func firstFailure(all []*exit.Failure, ranks []RankFacts) error {
	for r, f := range all {
		if f == nil {
			continue
		}
		same := 0
		for _, other := range all {
			if other != nil && other.Same(f) {
				same++
			}
		}
		switch same {
		case len(all):
			return exit.With(exit.Environment, f)
		case 1:
			f = f.On(fmt.Sprintf("rank %d on %s", r, ranks[r].Host))
		default:
			f = f.On(fmt.Sprintf("rank %d on %s (and %d more)", r, ranks[r].Host, same-1))
		}
		return exit.With(exit.Environment, f)
	}
	return nil
}
