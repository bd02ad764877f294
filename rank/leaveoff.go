package main

import (
	"sync"

	"busbar/rank/launch"
)

// leaver brings a rank out of an operation that another rank has given up. A communicator has a number, equal on all
// its ranks, so that a word that comes late does not end an operation of the next one.
type leaver struct {
	mu        sync.Mutex
	number    int
	passed    map[int]bool // numbers that were passed on
	made      int          // communicators to which this rank gave a number
	interrupt func()
}

// guard makes interrupt what ends an operation of the communicator with that number.
func (l *leaver) guard(number int, interrupt func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number, l.interrupt = number, interrupt
}

func (l *leaver) current() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.number
}

// first says whether a number was not passed on yet: with a thousand ranks that fail alike, one word to all is enough. It
// need not be the one in hand: rank 0 passes on the words of worlds that it is not in.
func (l *leaver) first(number int) bool {
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

func (l *leaver) leave(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number == l.number && l.interrupt != nil {
		l.interrupt()
	}
}

// nextCommunicator is a number for a communicator whose first rank this one is; no other in the launch has it, also where
// several worlds measure at the same time.
func (j *job) nextCommunicator() int {
	j.leaver.mu.Lock()
	defer j.leaver.mu.Unlock()
	j.leaver.made++
	return j.leaver.made*j.size + j.rank
}

// eventLeave is the word that an operation of the communicator with that number has failed somewhere.
const eventLeave = "leave"

// passOn tells every rank that an operation of the communicator with that number has failed, wherever the word comes
// from.
func (j *job) passOn(number int) {
	if !j.leaver.first(number) {
		return
	}
	e := launch.Event{Kind: eventLeave, Code: number}
	j.leaver.leave(number)
	if j.hub != nil {
		go j.hub.Broadcast(e)
	} else if j.rank != 0 {
		_ = j.spoke.Send(e) // without a side channel the watchdog ends what hangs
	}
}
