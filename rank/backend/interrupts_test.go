package backend

import (
	"testing"

	"busbar/rank/launch"
)

// A message about a closed communicator must not end an operation of the next, and each is passed on once.
func TestInterrupts(t *testing.T) {
	var l Interrupts
	interrupted := 0
	l.guard(1, func() { interrupted++ })
	if !l.First(1) || l.First(1) {
		t.Error("a number is passed on once")
	}
	l.Interrupt(1)
	l.guard(2, func() { interrupted += 10 })
	l.Interrupt(1)
	if l.First(1) || !l.First(2) || interrupted != 1 {
		t.Errorf("interrupted %d", interrupted)
	}
	l.guard(2, nil)
	l.Interrupt(2)
	if l.current() != 2 || interrupted != 1 {
		t.Errorf("current %d, interrupted %d", l.current(), interrupted)
	}
}

// Concurrent worlds never have communicators with the same number.
func TestCommunicatorsDiffer(t *testing.T) {
	seen := map[int]bool{}
	for rank := range 3 {
		h := &Host{Interrupts: &Interrupts{}, Ranks: make([]launch.RankFacts, 3), Rank: rank}
		for range 5 {
			n := h.nextCommunicator()
			if n <= 0 || seen[n] {
				t.Fatalf("rank %d gives the number %d again", rank, n)
			}
			seen[n] = true
		}
	}
}
