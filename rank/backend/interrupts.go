package backend

import "sync"

// Interrupts brings a rank out of an operation that another rank has given up. A communicator has a number, equal on
// all its ranks, so that a late message does not end an operation of the next one.
type Interrupts struct {
	mu     sync.Mutex
	number int
	passed map[int]bool // numbers that were passed on
	made   int          // communicators to which this rank gave a number
	end    func()
}

// guard makes end what ends an operation of the communicator with that number.
func (i *Interrupts) guard(number int, end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.number, i.end = number, end
}

func (i *Interrupts) current() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.number
}

// First reports whether a number was not passed on yet: if a thousand ranks fail alike, one message to all is
// enough. It need not be the current one: rank 0 passes on messages of worlds that it is not in.
func (i *Interrupts) First(number int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.passed[number] {
		return false
	}
	if i.passed == nil {
		i.passed = map[int]bool{}
	}
	i.passed[number] = true
	return true
}

// Interrupt ends the operation of the communicator with that number, if that is the one in hand. It may be called from
// any goroutine.
func (i *Interrupts) Interrupt(number int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if number == i.number && i.end != nil {
		i.end()
	}
}

// next counts the communicators to which this rank has given a number.
func (i *Interrupts) next() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.made++
	return i.made
}
