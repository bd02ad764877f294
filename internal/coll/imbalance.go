package coll

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// Imbalance is how an alltoallv divides its data among the ranks: "even", "spread:S", "hot:K", "zipf:A", or
// "matrix:NAME:HASH" for a matrix that Matrix.Register made known. It is part of the identity of a case.
//
// With n ranks, each sends to the others, and to itself, in these proportions (columns are receivers):
//
//	even      1/n to each
//	spread:S  (1-S)/n + S·d/(n(n-1)/2) to the rank d after the sender, as NCCL_TESTS_ALLTOALLV_SPREAD of nccl-tests
//	hot:K     K parts to rank 0, one part to each other
//	zipf:A    (j+1)^-A parts to rank j
//
// Every rank sends the same total, but for a matrix.
type Imbalance string

// Even is the imbalance of equal parts.
const Even Imbalance = "even"

// imbalances are the generated ones with the range of their parameter.
var imbalances = map[string]struct{ min, max float64 }{"spread": {0, 1}, "hot": {1, 1e6}, "zipf": {0, 100}}

// ParseImbalance reads even, spread:S (0 to 1), hot:K (at least 1) or zipf:A (at least 0). The error of any other word
// is an *UnknownWordError.
func ParseImbalance(s string) (Imbalance, error) {
	if s == string(Even) {
		return Even, nil
	}
	name, value, _ := strings.Cut(s, ":")
	limits, known := imbalances[name]
	if !known {
		return "", Unknown("imbalance", s, []string{"even", "spread:S", "hot:K", "zipf:A"})
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x >= limits.min && x <= limits.max) {
		return "", fmt.Errorf("imbalance %q: %q must be a number from %g to %g", s, value, limits.min, limits.max)
	}
	return Imbalance(name + ":" + strconv.FormatFloat(x, 'g', -1, 64)), nil
}

// shares are the parts of the data that one rank sends, which sum to 1: by the distance from the sender to the receiver
// if circulant, else by the receiver.
func (i Imbalance) shares(n int) (parts []float64, circulant bool) {
	parts = make([]float64, n)
	name, value, _ := strings.Cut(string(i), ":")
	x, _ := strconv.ParseFloat(value, 64)
	sum := 0.0
	for k := range parts {
		switch name {
		case "spread":
			parts[k] = (1-x)/float64(n) + x*float64(k)/max(1, float64(n*(n-1)/2))
		case "zipf":
			parts[k] = math.Pow(float64(k+1), -x)
		case "hot":
			parts[k] = 1
			if k == 0 {
				parts[k] = x
			}
		default:
			parts[k] = 1
		}
		sum += parts[k]
	}
	for k := range parts {
		if sum == 0 { // one rank, which is at no distance from itself
			parts[k], sum = 1, 1
		}
		parts[k] /= sum
	}
	return parts, name == "spread"
}

// Matrix holds bytes: row i, column j is what rank i sends to rank j.
type Matrix [][]int64

// registered is a matrix that cases name; it never changes.
type registered struct {
	Matrix
	busiest int64 // most bytes that a rank sends or receives
}

var matrices sync.Map // of *registered, by imbalance

// Register makes a matrix known to cases of this process, which name it by the imbalance that it returns.
func (m Matrix) Register(name string) Imbalance {
	r := &registered{Matrix: m}
	h := sha256.New()
	received := make([]int64, len(m))
	for _, row := range m {
		_, _ = fmt.Fprintln(h, row) // never fails
		r.busiest = max(r.busiest, Total(row))
		for j, bytes := range row {
			received[j] += bytes
		}
	}
	for _, bytes := range received {
		r.busiest = max(r.busiest, bytes)
	}
	i := Imbalance(fmt.Sprintf("matrix:%s:%s", name, hex.EncodeToString(h.Sum(nil)[:4])))
	matrices.Store(i, r)
	return i
}

// matrix is the registered matrix of an imbalance; an empty one for others.
func (i Imbalance) matrix() *registered {
	if m, known := matrices.Load(i); known {
		return m.(*registered)
	}
	return &registered{busiest: 1}
}

// Ranks is the number of ranks of a matrix; 0 for an imbalance that fits every world.
func (i Imbalance) Ranks() int { return len(i.matrix().Matrix) }

// Bytes is the largest number of bytes that a rank of a matrix sends or receives.
func (i Imbalance) Bytes() int64 { return i.matrix().busiest }

// split is what the ranks of an alltoallv exchange, in elements.
type split struct {
	n         int
	parts     []int64 // by receiver, or by its distance from the sender if circulant; nil for a matrix
	circulant bool
	entry     func(from, to int) int64 // of a matrix
}

// split computes the parts where Count elements are what the busiest rank sends or receives. Parts are trimmed to 16
// bytes, as nccl-tests does.
func (c Case) split() split {
	trim := func(elements float64) int64 { // the tolerance is for shares such as 1/3
		return int64(elements*(1+1e-12)) &^ (16/int64(c.Type.Size()) - 1)
	}
	if strings.HasPrefix(string(c.Imbalance), "matrix:") {
		m := c.Imbalance.matrix()
		return split{n: c.World, entry: func(from, to int) int64 {
			if max(from, to) >= len(m.Matrix) {
				return 0
			}
			return trim(float64(c.Count) * (float64(m.Matrix[from][to]) / float64(m.busiest)))
		}}
	}
	shares, circulant := c.Imbalance.shares(c.World)
	busiest := 1.0 // in units of what a rank sends
	if !circulant {
		for _, s := range shares {
			busiest = max(busiest, s*float64(c.World))
		}
	}
	parts := make([]int64, len(shares))
	for k, s := range shares {
		parts[k] = trim(float64(c.Count) * s / busiest)
	}
	return split{n: c.World, parts: parts, circulant: circulant}
}

// count is what one rank sends to another.
func (s split) count(from, to int) int64 {
	switch {
	case s.parts == nil:
		return s.entry(from, to)
	case s.circulant:
		return s.parts[(to-from+s.n)%s.n]
	}
	return s.parts[to]
}

// ranks are those of which one sends or receives most: all of a matrix.
func (s split) ranks() int {
	if s.parts == nil {
		return s.n
	}
	return min(s.n, 1)
}

// list collects n counts.
func list(n int, count func(i int) int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = count(i)
	}
	return all
}

// Sends is how many elements a rank sends to each rank in an alltoallv, itself included.
func (c Case) Sends(rank int) []int64 {
	s := c.split()
	return list(c.World, func(to int) int64 { return s.count(rank, to) })
}

// Receives is how many elements a rank receives from each rank in an alltoallv.
func (c Case) Receives(rank int) []int64 {
	s := c.split()
	return list(c.World, func(from int) int64 { return s.count(from, rank) })
}

// Offsets are where the elements for a rank begin in the input of each rank, in elements.
func (c Case) Offsets(rank int) []int64 {
	s := c.split()
	return list(c.World, func(from int) int64 {
		if s.parts != nil && !s.circulant {
			return Total(s.parts[:rank])
		}
		sum := int64(0)
		for to := range rank {
			sum += s.count(from, to)
		}
		return sum
	})
}

// withSplits sets SizeBytes of an alltoallv, and Count to 0 where nothing is left of the parts. Rank 0 is the busiest
// of generated parts.
func (c Case) withSplits(asked int64) Case {
	most, size := int64(0), int64(c.Type.Size())
	for rank := range c.split().ranks() {
		most = max(most, Total(c.Sends(rank)), Total(c.Receives(rank)))
	}
	c.SizeBytes = most * size
	switch {
	case most == 0:
		c.Count, c.SizeBytes = 0, asked
	case c.Imbalance == Even: // one case for all sizes that are trimmed to this one
		c.Count = most
	}
	return c
}

// Uneven reports whether the parts of an alltoallv may differ: they are not known to be even.
func (c Case) Uneven() bool { return c.Collective == AllToAllV && c.Imbalance != Even }

// EvenVolume is the alltoallv of equal parts that moves as many bytes in all, to 2 %; false for an even one, and where
// the parts would be too small for that.
func (c Case) EvenVolume() (even Case, exists bool) {
	if !c.Uneven() || c.Count == 0 {
		return c, false
	}
	s := c.split()
	sum, rows := int64(0), s.ranks() // all rows of generated parts have one sum
	for rank := range rows {
		sum += Total(c.Sends(rank))
	}
	each := float64(sum*int64(c.Type.Size())) / float64(rows) / float64(c.World) // bytes of a part
	part := 16 * math.Round(each/16)
	if even = c; math.Abs(part-each) > 0.02*each {
		return even, false
	}
	even.Imbalance = Even
	return even.WithSize(int64(part) * int64(c.World)), true
}

// Total returns the sum.
func Total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
