package golden

import (
	"fmt"
	"testing"

	"github.com/shoenig/test"
)

// Fatalf ends the test as a panic.
func (s *spy) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// level has a text of its own.
type level int

func (l *level) UnmarshalText(text []byte) error {
	*l = level(len(text))
	return nil
}

type cased struct {
	Name  string
	Size  int64
	Share float64
	Is    bool
	Level level
	Parts []string
}

func TestTable(t *testing.T) {
	test.Eq(t, []cased{
		{"two words", 64 << 10, 0.5, true, 4, []string{"a b", "c"}},
		{Name: "-\t", Size: -1},
		{Share: 3, Level: 1},
	}, Table[cased](t, `
		# not a row
		Name       Size    Share  Is    Level  Parts
		two words  64<<10  1.0/2  true  four   a b; c
		"-\t"      -1

		-          -       3      -     x
	`))
	for text, want := range map[string]string{
		"Name  Nome\na  b": "column Nome: no such field: a  b",
		"Name\na  b":       "2 columns of 1: a  b",
		"Size\nx":          `column Size: "x" is no constant: eval:1:1: undefined: x: x`,
		"Size\n1.5":        `column Size: "1.5" is no int64: 1.5`,
		"Is\n1":            `column Is: "1" is no bool: 1`,
		"Name\n\"unending": `column Name: invalid syntax: "unending`,
	} {
		func() {
			defer func() { test.Eq(t, any(want), recover()) }()
			Table[cased](&spy{TB: t}, text)
		}()
	}
}
