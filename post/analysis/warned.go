package analysis

import "strings"

// WarningOf is a kind of warning that a record can have.
type WarningOf int

// The kinds that findings are made of. rank writes the texts; how they begin is told there.
const (
	Bimodal WarningOf = iota
	Drifting
	kindsOfWarning = iota
)

var warningBegins = [kindsOfWarning]string{Bimodal: "two modes: ", Drifting: "drift within the case: "}

// warned counts the warnings of a record by kind, and keeps the first text of each kind.
func (c *Curve) warned(texts []string) (n [kindsOfWarning]bool) {
	for _, text := range texts {
		for kind, begin := range warningBegins {
			if strings.HasPrefix(text, begin) {
				n[kind] = true
				if c.examples[kind] == "" {
					c.examples[kind] = text
				}
			}
		}
	}
	return n
}
