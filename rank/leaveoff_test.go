package main

import "testing"

// A word about a communicator that is gone must not end an operation of the next, and each is passed on once.
func TestLeaver(t *testing.T) {
	var l leaver
	interrupted := 0
	l.guard(1, func() { interrupted++ })
	if !l.first(1) || l.first(1) || l.first(2) {
		t.Error("the number in hand is passed on once, others never")
	}
	l.leave(1)
	l.guard(2, func() { interrupted += 10 })
	l.leave(1)
	if l.first(1) || !l.first(2) || interrupted != 1 {
		t.Errorf("interrupted %d", interrupted)
	}
	l.guard(2, nil)
	l.leave(2)
	if l.current() != 2 || interrupted != 1 {
		t.Errorf("current %d, interrupted %d", l.current(), interrupted)
	}
}
