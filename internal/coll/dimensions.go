package coll

import (
	"fmt"
	"strconv"
	"strings"
)

// Dimension is one of the two ways in which a world is divided at once: groups of so many ranks, and what they measure.
type Dimension struct {
	Name       string
	Size       int
	Collective Collective
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// parseDimension reads NAME=RANKS, with 2 ranks or more.
func parseDimension(s string) (Division, error) {
	name, size, _ := strings.Cut(s, "=")
	n, err := strconv.Atoi(size)
	if err != nil || n < 2 || name == "" || len(name) > 16 || strings.Trim(name, letters) != "" {
		return "", fmt.Errorf("groups %q: must be a name of up to 16 letters (a-z) and digits, and at least 2 ranks, "+
			"as in tp=8", s)
	}
	return Division(name + "=" + strconv.Itoa(n)), nil
}

// IsDimension reports whether it is one dimension, NAME=RANKS, or a division by two.
func (d Division) IsDimension() bool { return strings.Contains(string(d), "=") }

// Pair joins two dimensions and their collectives, in order; one collective is that of both. The text is
// "tp=8:all_reduce+dp=4:all_gather". The ranks of the first one's groups are adjacent, those of the second one's
// strided. Collectives with a root and alltoallv cannot be paired.
func Pair(dims []Division, collectives []Collective, world int) (Division, error) {
	if len(dims) != 2 || !dims[0].IsDimension() || !dims[1].IsDimension() || len(collectives) > 2 {
		return "", fmt.Errorf("%d groups and %d collectives: groups of two kinds at once require two names and a "+
			"collective for each, as in --groups tp=8,dp=4 --collective all_reduce,all_gather", len(dims),
			len(collectives))
	}
	d := Division(fmt.Sprintf("%s:%s+%s:%s", dims[0], collectives[0], dims[1], collectives[len(collectives)-1]))
	of := d.Dimensions()
	for _, c := range collectives {
		if c.Rooted() || c == AllToAllV {
			return "", fmt.Errorf("%s cannot run beside another collective: use one without a root, not alltoallv", c)
		}
	}
	switch one, other := of[0].Size, of[1].Size; {
	case of[0].Name == of[1].Name:
		return "", fmt.Errorf("both groups are named %s: give each its own name, as in tp=8,dp=4", of[0].Name)
	case world%one != 0 || world/one != other: // the product may overflow
		return "", fmt.Errorf("%s times %s must be the %d ranks of the world", dims[0], dims[1], world)
	}
	return d, nil
}

// Dimensions are the dimensions of a division by two at once; none of another division.
func (d Division) Dimensions() (all []Dimension) {
	if !d.IsDimension() {
		return nil
	}
	for text := range strings.SplitSeq(string(d), "+") {
		words, collective, _ := strings.Cut(text, ":")
		name, size, _ := strings.Cut(words, "=")
		n, _ := strconv.Atoi(size)
		c, _ := ParseCollective(collective)
		all = append(all, Dimension{name, n, c})
	}
	return all
}

// Layout is how dimension k of a world divides it.
func (d Division) Layout(k, world int) Division {
	return Division(fmt.Sprint(world/d.Dimensions()[k].Size, []string{":contiguous", ":strided"}[k]))
}

// Measured are the dimensions whose operations a case measures.
func (g Groups) Measured() []int {
	if g.Alone {
		return []int{g.Number - 1}
	}
	return []int{0, 1}
}

// In is the operation of dimension k where both are measured: of the same size, in bytes.
func (c Case) In(k int) Case {
	d := c.Groups.Division.Dimensions()[k]
	c.Collective, c.World = d.Collective, d.Size
	switch {
	case !c.Collective.Reduces():
		c.Op = 0
	case c.Op == 0:
		c.Op = Sum
	}
	return c.WithSize(c.SizeBytes)
}
