package step

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
)

func (s Strategy) String() string { return string(s) }

func (p Progress) String() string { return string(p) }

// Strategies lists all strategies.
func Strategies() []Strategy { return []Strategy{DDP, FSDP} }

// ParseStrategy reads a strategy: ddp or fsdp. The error is a *coll.UnknownWordError.
func ParseStrategy(s string) (Strategy, error) {
	names := make([]string, len(Strategies()))
	for i, word := range Strategies() {
		if names[i] = string(word); names[i] == strings.ToLower(strings.TrimSpace(s)) {
			return word, nil
		}
	}
	return "", coll.Unknown("strategy", s, names)
}

// Ways lists all ways of progress on a host.
func Ways() []Progress { return []Progress{NoCalls, Poll, Thread} }

// progressText is each way of progress in the name of a point.
var progressText = map[Progress]string{NoCalls: ", no calls", Poll: ", polling", Thread: ", a second thread"}

// String is the point in one line for people: "ddp 25M float32, polling".
func (p Point) String() string {
	s := fmt.Sprintf("%s %s %s", p.Strategy, p.Bucket, p.Type)
	if p.Compression != "" {
		s += " + " + p.Compression
	}
	return s + progressText[p.Progress]
}

// GroupString is what the points of a group share: "ddp, float32, progress poll".
func (p Point) GroupString() string {
	s := fmt.Sprintf("%s, %s", p.Strategy, p.Type)
	if p.Compression != "" {
		s += fmt.Sprintf(", compression %s (MODELLED)", p.Compression)
	}
	if p.Progress != "" {
		s += fmt.Sprintf(", progress %s", p.Progress)
	}
	return s
}
