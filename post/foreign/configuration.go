package foreign

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// configurations distinguishes the tests of one process by the settings between them. Tests of one configuration are
// launches of the same case and are pooled; others never are.
type configurations struct {
	noted  string            // lines of unknown layout since the last row, truncated
	last   string            // of these lines
	label  string            // the current configuration
	labels map[string]string // by the preceding lines; nil before the first test
	given  map[string]int    // number of labelled configurations
}

// maxNoted bounds the compared text between two tests.
const maxNoted = 64 << 10

// note adds a line of unknown layout.
func (c *configurations) note(text string) {
	c.last = strings.TrimSpace(text)
	if len(c.noted) < maxNoted {
		c.noted += c.last + "\n"
	}
}

// forget drops the noted lines at a row of a test.
func (c *configurations) forget() { c.noted, c.last = "", "" }

// next returns the label of the test that begins; "" for the first. A test without preceding lines has the previous
// configuration; one with the same lines as an earlier test has that test's.
func (c *configurations) next() string {
	label, known := c.labels[c.noted]
	switch {
	case c.labels == nil:
		c.labels, c.given = map[string]string{}, map[string]int{}
	case c.noted == "":
		label = c.label
	case !known:
		label = "after " + short(c.last)
		if c.given[label]++; c.given[label] > 1 {
			label += fmt.Sprintf(" (%d)", c.given[label])
		}
	}
	if c.noted != "" {
		c.labels[c.noted] = label
	}
	c.label = label
	return label
}

// libraryVariable is a library variable with its value, on a command line or in the library's log, which ends a number
// with a full stop.
var libraryVariable = regexp.MustCompile(
	`(?:^|\s)((?:NCCL|RCCL)_[A-Z0-9_]+)(?:=| set by environment to )(-?\d+\b|\S*)`)

// noConfiguration are variables that affect output or bootstrap but no times.
var noConfiguration = regexp.MustCompile(`^NCCL_(DEBUG\w*|HOSTID|COMM_ID|\w+_DUMP_FILE)$`)

// configured returns the names of the variables set for a run, sorted.
func configured(environment map[string]string) (words []string) {
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if !noConfiguration.MatchString(name) {
			words = append(words, name+"="+environment[name])
		}
	}
	return words
}
