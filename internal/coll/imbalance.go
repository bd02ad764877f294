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

// matrices are those that cases name, by their imbalance. They never change.
var matrices sync.Map

// Register makes a matrix known to cases of this process, which name it by the imbalance that it returns.
func (m Matrix) Register(name string) Imbalance {
	h := sha256.New()
	for _, row := range m {
		_, _ = fmt.Fprintln(h, row) // never fails
	}
	i := Imbalance(fmt.Sprintf("matrix:%s:%s", name, hex.EncodeToString(h.Sum(nil)[:4])))
	matrices.Store(i, m)
	return i
}

// matrix is the registered matrix of an imbalance; nil without one.
func (i Imbalance) matrix() Matrix {
	m, _ := matrices.Load(i)
	found, _ := m.(Matrix)
	return found
}

// Ranks is the number of ranks of a matrix; 0 for an imbalance that fits every world.
func (i Imbalance) Ranks() int { return len(i.matrix()) }

// Bytes is the largest number of bytes that a rank of a matrix sends or receives; 0 without a matrix.
func (i Imbalance) Bytes() int64 {
	most := int64(0)
	m := i.matrix()
	received := make([]int64, len(m))
	for _, row := range m {
		sent := int64(0)
		for j, bytes := range row {
			sent += bytes
			received[j] += bytes
		}
		most = max(most, sent)
	}
	for _, bytes := range received {
		most = max(most, bytes)
	}
	return most
}

// Sends is how many elements a rank sends to each rank in an alltoallv, itself included. Parts are trimmed to 16 bytes.
func (c Case) Sends(rank int) []int64 {
	parts, circulant := c.parts()
	return c.each(func(peer int) int64 {
		switch {
		case parts == nil:
			return c.entry(rank, peer)
		case circulant:
			return parts[(peer-rank+c.World)%c.World]
		}
		return parts[peer]
	})
}

// Receives is how many elements a rank receives from each rank in an alltoallv.
func (c Case) Receives(rank int) []int64 {
	parts, circulant := c.parts()
	return c.each(func(peer int) int64 {
		switch {
		case parts == nil:
			return c.entry(peer, rank)
		case circulant:
			return parts[(rank-peer+c.World)%c.World]
		}
		return parts[rank]
	})
}

// SendOffset is where the elements from one rank to another begin in the sender's input.
func (c Case) SendOffset(from, to int) int64 { return total(c.Sends(from)[:to]) }

func (c Case) each(count func(peer int) int64) []int64 {
	counts := make([]int64, c.World)
	for peer := range counts {
		counts[peer] = count(peer)
	}
	return counts
}

// parts are the elements of the shares where Count elements are what the busiest rank sends or receives; nil for a
// matrix.
func (c Case) parts() (parts []int64, circulant bool) {
	if strings.HasPrefix(string(c.Imbalance), "matrix:") {
		return nil, false
	}
	shares, circulant := c.Imbalance.shares(c.World)
	busiest := 1.0 // in units of what a rank sends
	if !circulant {
		for _, s := range shares {
			busiest = max(busiest, s*float64(c.World))
		}
	}
	parts = make([]int64, len(shares))
	for k, s := range shares {
		parts[k] = c.trim(float64(c.Count) * s / busiest)
	}
	return parts, circulant
}

// entry is an entry of the matrix, scaled so that Count elements are what its busiest rank sends or receives.
func (c Case) entry(from, to int) int64 {
	m := c.Imbalance.matrix()
	if from >= len(m) || to >= len(m) {
		return 0
	}
	most := float64(c.Imbalance.Bytes())
	return c.trim(float64(c.Count) * float64(m[from][to]) / max(1, most))
}

// trim rounds a number of elements down to 16 bytes, as nccl-tests does. The tolerance is for shares such as 1/3.
func (c Case) trim(elements float64) int64 {
	return int64(elements*(1+1e-12)) &^ (16/int64(c.Type.Size()) - 1)
}

// withSplits sets SizeBytes of an alltoallv, and Count to 0 where nothing is left of the parts.
func (c Case) withSplits(asked int64) Case {
	most := int64(0)
	for rank := range c.World {
		most = max(most, total(c.Sends(rank)), total(c.Receives(rank)))
		if parts, circulant := c.parts(); parts != nil && (circulant || rank == 1) {
			break // ranks 0 and 1 are the busiest
		}
	}
	c.SizeBytes = most * int64(c.Type.Size())
	if most == 0 {
		c.Count, c.SizeBytes = 0, asked
	}
	return c
}

// EvenVolume is the alltoallv of equal parts that moves as many bytes in all, and whether c is an uneven one.
func (c Case) EvenVolume() (even Case, uneven bool) {
	if c.Collective != AllToAllV || c.Count == 0 || c.Imbalance == Even || c.Imbalance == "" {
		return c, false
	}
	sum := int64(0)
	for rank := range c.World {
		sum += total(c.Sends(rank))
	}
	even = c
	even.Imbalance = Even
	return even.WithSize(sum / int64(c.World) * int64(c.Type.Size())), true
}

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
