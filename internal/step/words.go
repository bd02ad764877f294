package step

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
)

// words are the spellings of one kind of value: names[i] is that of value i+1.
type words struct {
	kind  string
	names []string
}

var (
	strategies = words{"strategy", []string{"ddp", "fsdp"}}
	progresses = words{"way of progress", []string{"none", "poll", "thread"}}
	works      = words{"kind of work", []string{"forward", "backward", "compress", "optimizer"}}
)

func (w words) name(i int) string {
	if i < 1 || i > len(w.names) {
		return ""
	}
	return w.names[i-1]
}

func (w words) parse(s string) (int, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	for i, n := range w.names {
		if n == word {
			return i + 1, nil
		}
	}
	return 0, coll.Unknown(w.kind, s, w.names)
}

func (w words) marshal(i int) ([]byte, error) {
	if i < 1 || i > len(w.names) {
		return nil, fmt.Errorf("step: %d is no %s", i, w.kind)
	}
	return []byte(w.names[i-1]), nil
}

// Strategies lists all strategies.
func Strategies() []Strategy { return []Strategy{DDP, FSDP} }

// ParseStrategy reads a strategy: ddp or fsdp. The error is a *coll.UnknownWordError.
func ParseStrategy(s string) (Strategy, error) {
	i, err := strategies.parse(s)
	return Strategy(i), err
}

func (s Strategy) String() string { return strategies.name(int(s)) }

// MarshalText implements encoding.TextMarshaler.
func (s Strategy) MarshalText() ([]byte, error) { return strategies.marshal(int(s)) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Strategy) UnmarshalText(b []byte) (err error) {
	*s, err = ParseStrategy(string(b))
	return err
}

// Ways lists all ways of progress on a host.
func Ways() []Progress { return []Progress{NoCalls, Poll, Thread} }

// ParseProgress reads a way of progress: none, poll or thread. The error is a *coll.UnknownWordError.
func ParseProgress(s string) (Progress, error) {
	i, err := progresses.parse(s)
	return Progress(i), err
}

// String is the word of ParseProgress, "" on a GPU.
func (p Progress) String() string { return progresses.name(int(p)) }

// MarshalText implements encoding.TextMarshaler. The zero value has no text: it is left out where it is written.
func (p Progress) MarshalText() ([]byte, error) { return progresses.marshal(int(p)) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Progress) UnmarshalText(b []byte) (err error) {
	*p, err = ParseProgress(string(b))
	return err
}

// phrase is the way in a sentence.
func (p Progress) phrase() string {
	return []string{"", "no calls", "polling", "a second thread"}[p]
}

func (w Work) String() string { return works.name(int(w)) }

// String is the point in one line for people: "ddp 25M float32 + powersgd-4, polling".
func (p Point) String() string {
	s := fmt.Sprintf("%s %s %s", p.Strategy, p.Bucket, p.Type)
	if p.Compression != (Compression{}) {
		s += " + " + p.Compression.String()
	}
	if p.Progress >= NoCalls && p.Progress <= Thread {
		s += ", " + p.Progress.phrase()
	}
	return s
}
