package foreign

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// configurations tells the tests of one file apart by what may have been set between them. Tests of one configuration
// are launches of the same thing, and are pooled; others never are.
type configurations struct {
	said  []byte            // hash of the lines of no known layout since the last row; nil: there are none
	last  string            // of these lines
	label string            // of the configuration that holds
	of    map[string]string // labels by what was said; nil before the first test
	given map[string]int    // how many configurations have a label, but for its number
}

// say takes a line of no known layout.
func (c *configurations) say(text string) {
	text = strings.TrimSpace(text)
	sum := sha256.Sum256(append(c.said, text...))
	c.said, c.last = sum[:], text
}

// row forgets what was said: it is over when the rows of a test are.
func (c *configurations) row() { c.said, c.last = nil, "" }

// next is the label of the test whose first row comes now. That of the first is empty. A test with nothing said before
// it has the configuration of the one before; one with the same said before it as an earlier test has that one's.
func (c *configurations) next() string {
	label, known := c.of[string(c.said)]
	switch {
	case c.of == nil:
		c.of, c.given = map[string]string{}, map[string]int{}
	case c.said == nil:
		label = c.label
	case !known:
		label = "after " + short(c.last)
		if c.given[label]++; c.given[label] > 1 {
			label += fmt.Sprintf(" (%d)", c.given[label])
		}
	}
	if c.said != nil {
		c.of[string(c.said)] = label
	}
	c.label = label
	return label
}

// libraryVariable is a variable of the library with its value, on a command line or as the library's log has it.
var libraryVariable = regexp.MustCompile(`(?:^|\s)((?:NCCL|RCCL)_[A-Z0-9_]+)(?:=| set by environment to )(\S*)`)

// variables are those of the library that a text sets. The log ends a number with a full stop.
func variables(text string) map[string]string {
	found := map[string]string{}
	for _, m := range libraryVariable.FindAllStringSubmatch(text, -1) {
		value := m[2]
		if number := strings.TrimSuffix(value, "."); wholeNumber.MatchString(number) {
			value = number
		}
		found[m[1]] = value
	}
	return found
}

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
