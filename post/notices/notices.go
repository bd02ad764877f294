// Package notices selects the notices that a command reports, and documents their codes.
package notices

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// Selection is which notices a command does not report, and which make it fail.
type Selection struct {
	Ignore []string // codes
	FailOn string   // a severity; "" for none
}

// Check returns the error of an unknown code or severity.
func (s *Selection) Check() error {
	for _, code := range s.Ignore {
		if notice.Find(notice.Code(code)) == nil {
			return unknownCode(code)
		}
	}
	severities := []string{notice.Error.String(), notice.Warning.String()}
	if s.FailOn != "" && !slices.Contains(severities, s.FailOn) {
		return coll.Unknown("severity", s.FailOn, severities)
	}
	return nil
}

// Shows reports whether notices with this code are reported.
func (s *Selection) Shows(code notice.Code) bool { return !slices.Contains(s.Ignore, string(code)) }

// Kept returns the notices that are reported.
func (s *Selection) Kept(all []notice.Notice) []notice.Notice {
	return units.Where(all, func(n notice.Notice) bool { return s.Shows(n.Code()) })
}

// Failed returns a *FailOnError if some of the notices make the command fail.
func (s *Selection) Failed(all []notice.Notice) error {
	if s.FailOn == "" {
		return nil
	}
	var lowest notice.Severity
	if err := lowest.UnmarshalText([]byte(s.FailOn)); err != nil {
		return err
	}
	n := len(units.Where(all, func(n notice.Notice) bool { return n.Severity >= lowest }))
	if n == 0 {
		return nil
	}
	return &FailOnError{n, s.FailOn}
}

// FailOnError counts the notices of the severity that --fail-on names, or a higher one.
type FailOnError struct {
	n        int
	severity string
}

func (e *FailOnError) Error() string {
	return fmt.Sprintf("%s of severity %s or higher (--fail-on %s)", units.Count(e.n, "notice"), e.severity, e.severity)
}

// unknownCode is the error of a code that the catalogue does not have. It does not list the hundreds that exist.
func unknownCode(code string) error {
	var codes, begun []string // all, and those that begin with the word
	for _, e := range notice.Entries() {
		codes = append(codes, string(e.Code()))
		if strings.HasPrefix(string(e.Code()), code+"-") {
			begun = append(begun, fmt.Sprintf("%q", e.Code()))
		}
	}
	near := strings.Join(begun, " or ")
	if one := coll.Nearest(code, codes); near == "" && one != "" {
		near = fmt.Sprintf("%q", one)
	}
	if near != "" {
		return fmt.Errorf("unknown code %q; did you mean %s? (post explain lists all codes)", code, near)
	}
	return fmt.Errorf("unknown code %q (post explain lists all codes)", code)
}
