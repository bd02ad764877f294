package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Error is one thing that is wrong in a file. Reader.Err joins all that were found; errors.As finds the first.
type Error struct {
	File   string
	Line   int // from 1
	Column int // from 1; 0 where only the line is known
	Err    error
}

func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

var (
	yamlLine   = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
	yamlParser = regexp.MustCompile(`^did not find expected (?:<|'|key|node)`)
)

// syntaxError makes an Error of one of yaml.v3. Its scanner counts lines from 1, its parser from 0. Where the parser
// gives up, the line may be the first of the enclosing block.
func syntaxError(file string, err error) *Error {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(m[1]) // no line: 0
	text := strings.TrimPrefix(err.Error(), m[0])
	if yamlParser.MatchString(text) {
		line++
		text += "; look at brackets and indentation from this line on"
	}
	return &Error{File: file, Line: max(line, 1), Err: fmt.Errorf("not YAML: %s", text)}
}

// Err is the problems as one error in the order of the file, or nil.
func (r *Reader) Err() error {
	problems := r.problems
	slices.SortStableFunc(problems, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	all := make([]error, len(problems))
	for i, e := range problems {
		all[i] = e
	}
	return errors.Join(all...)
}
