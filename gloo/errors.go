package gloo

import (
	"fmt"
	"regexp"
	"strings"

	"busbar/internal/dl"
)

// Status is the kind of failure of an Error.
type Status int

// What can go wrong.
const (
	Invalid     Status = iota + 1 // Gloo does not take these arguments
	Lost                          // the connection to another rank broke
	TimedOut                      // timeout waiting for another rank
	NoMemory                      // out of memory
	Interrupted                   // Context.Interrupt was called
	Failed                        // anything else
)

// Error is a failure inside Gloo. A context is of no use after one of its operations failed: Gloo has closed its
// connections.
type Error struct {
	Op     string
	Status Status
	Peer   int    // the rank whose connection broke, or that was waited for; -1: unknown
	Text   string // Gloo's own
}

func (e *Error) Error() string {
	what := "failed"
	switch e.Status {
	case Invalid:
		what = "was refused"
	case Lost:
		what = "lost the connection to " + e.peer()
	case TimedOut:
		what = "timed out waiting for " + e.peer()
	case NoMemory:
		return e.Op + " failed: out of memory"
	case Interrupted:
		return e.Op + " was interrupted"
	}
	return fmt.Sprintf("%s %s: %s", e.Op, what, e.Text)
}

func (e *Error) peer() string {
	if e.Peer < 0 {
		return "another rank"
	}
	return fmt.Sprintf("rank %d", e.Peer)
}

// place is how Gloo's texts begin: the place in its source.
var place = regexp.MustCompile(`^\[[^\]]*:\d+\] `)

func newError(op string, status, peer int, text string) *Error {
	return &Error{Op: op, Status: Status(status), Peer: peer, Text: strings.TrimSpace(place.ReplaceAllString(text, ""))}
}

const build = "build it with: make gloo-shim   (it requires a C++ compiler and Gloo; Debian, Ubuntu: " +
	"sudo apt-get install g++ libgloo-dev)"

// advice is what to type. A shim that lacks one of its libraries needs no rebuild.
func advice(tried []dl.Attempt) string {
	for _, t := range tried {
		switch {
		case strings.Contains(t.Why, "libgloo.so"):
			return "Gloo itself is missing. Debian, Ubuntu: sudo apt-get install libgloo0"
		case strings.Contains(t.Why, "libstdc++.so"):
			return "the C++ library is missing or too old. Debian, Ubuntu: sudo apt-get install libstdc++6"
		}
	}
	return build
}
