package coll

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Division is how a world is divided into groups of equal size: "N:contiguous" for groups of adjacent ranks, as in
// tensor parallelism, "N:strided" for every Nth rank, as in data parallelism. It is "" for an undivided world. Pair
// makes one of groups of two kinds at once.
type Division string

// ParseDivision reads N[:contiguous|strided], NAME=RANKS or none; N is at least 2.
func ParseDivision(s string) (Division, error) {
	if s == "none" {
		return "", nil
	}
	if strings.Contains(s, "=") {
		return parseDimension(s)
	}
	number, layout, given := strings.Cut(s, ":")
	if !given {
		layout = "contiguous"
	}
	if layout != "contiguous" && layout != "strided" {
		return "", Unknown("layout of groups", layout, []string{"contiguous", "strided"})
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 2 {
		return "", fmt.Errorf("groups %q: %q must be an integer of at least 2, as in 4:contiguous", s, number)
	}
	return Division(strconv.Itoa(n) + ":" + layout), nil
}

// N is the number of groups; 1 for an undivided world.
func (d Division) N() int {
	number, _, _ := strings.Cut(string(d), ":")
	n, _ := strconv.Atoi(number)
	return max(1, n)
}

// Size is the number of ranks of each group. The error is that of a world without groups of 2 or more equal parts.
func (d Division) Size(world int) (int, error) {
	n := d.N()
	if world%n != 0 {
		return 0, fmt.Errorf("%d groups do not divide a world of %d ranks: use a divisor of it", n, world)
	}
	if d != "" && world == n {
		return 0, fmt.Errorf("%d groups of a world of %d ranks have 1 rank each: use fewer groups", n, world)
	}
	return world / n, nil
}

// Of is the group of a rank, from 1.
func (d Division) Of(rank, world int) int {
	n := d.N()
	if strings.HasSuffix(string(d), ":strided") {
		return rank%n + 1
	}
	return rank/(world/n) + 1
}

// Groups is which group of a divided world measures a case; the zero value is the whole world.
type Groups struct {
	Division Division `json:"division"`
	Number   int      `json:"number"`          // of the group, or of a dimension; from 1, also of both dimensions
	Alone    bool     `json:"alone,omitempty"` // the ranks of the other groups slept; else all groups measured at once
}

// Divided reports whether the case is that of a group.
func (g Groups) Divided() bool { return g.Number > 0 }

// Compare orders groups by division and number, alone first.
func (g Groups) Compare(o Groups) int {
	return cmp.Or(cmp.Compare(g.Division, o.Division), cmp.Compare(g.Number, o.Number), cmp.Compare(o.Name(), g.Name()))
}

// Name is "2", "2 alone", "tp alone", "tp and dp"; empty for the whole world.
func (g Groups) Name() string {
	dims := g.Division.Dimensions()
	switch {
	case !g.Divided():
		return ""
	case len(dims) == 2 && g.Alone:
		return dims[(g.Number-1)%2].Name + " alone"
	case len(dims) == 2:
		return dims[0].Name + " and " + dims[1].Name
	case g.Alone:
		return fmt.Sprint(g.Number, " alone")
	}
	return strconv.Itoa(g.Number)
}

// Heading is the heading of a table of the collective in groups. One of dimensions has both collectives.
func (g Groups) Heading(collective string) string {
	if g.Division.IsDimension() {
		return "groups " + string(g.Division)
	}
	return collective + " in groups " + string(g.Division)
}

// WithRanks names the group and its ranks: "group 2 (ranks 4-7)", "group 2 alone (ranks 1, 5, … 13)".
func (g Groups) WithRanks(size int) string {
	first, step := (g.Number-1)*size, 1
	if strings.HasSuffix(string(g.Division), ":strided") {
		first, step = g.Number-1, g.Division.N()
	}
	last := first + step*(size-1)
	ranks := fmt.Sprintf("%d-%d", first, last)
	switch {
	case size == 2:
		ranks = fmt.Sprintf("%d, %d", first, last)
	case step > 1:
		ranks = fmt.Sprintf("%d, %d, … %d", first, first+step, last)
	}
	return fmt.Sprintf("group %s (ranks %s)", g.Name(), ranks)
}

// String is "group 2 of 4:contiguous", "group 2 alone of 4:contiguous"; empty for the whole world.
func (g Groups) String() string {
	switch {
	case !g.Divided():
		return ""
	case g.Division.IsDimension():
		return g.Name() + " of " + string(g.Division)
	}
	return "group " + g.Name() + " of " + string(g.Division)
}
