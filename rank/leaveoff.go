package main

import (
	"sync"
)

// Leaver brings a rank out of an operation that another rank has given up. A communicator has a number, equal on all
// its ranks, so that a word that comes late does not end an operation of the next one.
type Leaver struct {
	mu        sync.Mutex
	number    int
	passed    map[int]bool // numbers that were passed on
	made      int          // communicators to which this rank gave a number
	interrupt func()
}

// guard makes interrupt what ends an operation of the communicator with that number.
func (l *Leaver) guard(number int, interrupt func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number, l.interrupt = number, interrupt
}

func (l *Leaver) current() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.number
}

// first says whether a number was not passed on yet: with a thousand ranks that fail alike, one word to all is enough. It
// need not be the one in hand: rank 0 passes on the words of worlds that it is not in.
func (l *Leaver) first(number int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.passed[number] {
		return false
	}
	if l.passed == nil {
		l.passed = map[int]bool{}
	}
	l.passed[number] = true
	return true
}

func (l *Leaver) leave(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number == l.number && l.interrupt != nil {
		l.interrupt()
	}
}

// next counts the communicators to which this rank has given a number.
func (l *Leaver) next() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	return l.made
}
