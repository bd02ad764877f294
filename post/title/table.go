package title

import (
	"cmp"
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// Table is what all rows of one table share.
type Table struct {
	Operation  string // of what is no collective
	Collective coll.Collective
	Type       coll.DataType
	Op         coll.RedOp
	Root       int
	Imbalance  coll.Imbalance
	Groups     coll.Groups
	Placement  coll.Placement
	Mode       coll.Mode
}

func (t Table) String() string {
	words := []string{cmp.Or(t.Operation, t.Collective.String())}
	if t.Type != 0 {
		words = append(words, t.Type.String())
	}
	if t.Op != 0 {
		words = append(words, t.Op.String())
	}
	if t.Imbalance != "" {
		words = append(words, string(t.Imbalance))
	}
	if t.Groups.Divided() {
		words = append(words, t.Groups.String())
	}
	if t.Root > 0 {
		words = append(words, fmt.Sprintf("root %d", t.Root))
	}
	parts := []string{strings.Join(words, " ")}
	if t.Placement != 0 {
		parts = append(parts, Placement(t.Placement))
	}
	if t.Mode != 0 {
		parts = append(parts, t.Mode.String()+" mode")
	}
	return strings.Join(parts, ", ")
}

// Unusual is the method, if it differs from the default of rank.
func Unusual(m *result.Method) (words string) {
	if m.Rotate > 0 {
		words += ", rotating over " + coll.FormatSize(m.Rotate, true)
	}
	if m.Aggregate > 1 {
		words += fmt.Sprintf(", issued by %d", m.Aggregate)
	}
	if m.Average != "" && m.Average != "max over ranks" {
		words += ", times " + m.Average
	}
	if s := m.Settings().String(); s != "" {
		words += ", " + s
	}
	return words
}
