package foreign

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// configurations distinguishes the tests of one process by what may have been set between them. Tests of one
// configuration are launches of the same thing, and are pooled; others never are.
type configurations struct {
	noted  string            // the lines of no known layout since the last row, as far as they are kept
	last   string            // of these lines
	label  string            // of the configuration that holds
	labels map[string]string // by the lines noted before; nil before the first test
	given  map[string]int    // how many configurations have a label, but for its number
}

// maxNoted bounds the text between two tests that is compared.
const maxNoted = 64 << 10

// note takes a line of no known layout.
func (c *configurations) note(text string) {
	c.last = strings.TrimSpace(text)
	if len(c.noted) < maxNoted {
		c.noted += c.last + "\n"
	}
}

// forget drops the noted lines when a row of a test comes.
func (c *configurations) forget() { c.noted, c.last = "", "" }

// next is the label of the test whose first row comes now. That of the first is empty. A test without lines before it
// has the configuration of the previous one; one with the same lines before it as an earlier test has that one's.
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

// libraryVariable is a variable of the library with its value, on a command line or as the library's log has it. The
// log ends a number with a full stop.
var libraryVariable = regexp.MustCompile(
	`(?:^|\s)((?:NCCL|RCCL)_[A-Z0-9_]+)(?:=| set by environment to )(-?\d+\b|\S*)`)

// noConfiguration are variables that change what is written or how processes find each other, and no time.
var noConfiguration = regexp.MustCompile(`^NCCL_(DEBUG\w*|HOSTID|COMM_ID|\w+_DUMP_FILE)$`)

// configured names the variables that a run had set, in the order of their names.
func configured(environment map[string]string) (words []string) {
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if !noConfiguration.MatchString(name) {
			words = append(words, name+"="+environment[name])
		}
	}
	return words
}
