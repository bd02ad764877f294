package foreign

import (
	"math"
	"path"
	"strconv"
	"strings"

	"busbar/internal/coll"
)

// dataType is the type that another tool calls so; 0 where the name is not known. MPI_BYTE is eight bits without a
// meaning, for which uint8 stands.
func dataType(name string) coll.DataType {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "torch."), "mpi_")
	switch name {
	case "byte", "unsigned_char":
		return coll.UInt8
	case "long", "long_long":
		return coll.Int64
	case "unsigned":
		return coll.UInt32
	case "fp8_e4m3":
		return coll.Float8E4M3
	case "fp8_e5m2":
		return coll.Float8E5M2
	}
	t, err := coll.ParseDataType(name)
	if err != nil {
		return 0
	}
	return t
}

// perfProgram is the collective that a program of nccl-tests measures, by its name: build/all_reduce_perf_mpi. What is
// none of coll's has a name in operation.
func perfProgram(program string) (c coll.Collective, operation string) {
	name, _, _ := strings.Cut(path.Base(strings.ReplaceAll(program, `\`, "/")), "_perf")
	return operationOf(name)
}

// operationOf is a collective by any of its spellings, or coll.Other and the name.
func operationOf(name string) (c coll.Collective, operation string) {
	c, err := coll.ParseCollective(name)
	if err != nil {
		return coll.Other, name
	}
	return c, ""
}

// number reads a figure; ok is false for what is none, and for infinity and NaN.
func number(s string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// count reads a whole number that is not negative.
func count(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

// amount reads how many there are of what nobody has billions of, such as ranks: products of two of them are numbers
// too.
func amount(s string) (n int, ok bool) {
	many, ok := count(s)
	if !ok || many > 1<<30 {
		return 0, false
	}
	return int(many), true
}

// product is how many there are of n of m of …; 0 where that is no number of anything.
func product(factors ...int) int {
	p := 1
	for _, n := range factors {
		if n <= 0 || n > 1<<30/p {
			return 0
		}
		p *= n
	}
	return p
}

// integer is a figure as a whole number; false where it is negative, or beyond all that is counted.
func integer(v float64) (n int64, ok bool) {
	if !(v >= 0 && v <= 1<<60) {
		return 0, false
	}
	return int64(v), true
}

// wrongElements is how many wrong elements a source counts, as far as such a number can be.
func wrongElements(v float64) int64 { return int64(min(max(v, 0), 1<<60)) }

// seconds is a time in another unit, rounded to a picosecond, so that it is written as it was printed.
func seconds(v, unit float64) float64 {
	s, _ := strconv.ParseFloat(strconv.FormatFloat(v*unit, 'g', 12, 64), 64)
	return s
}

// sized fills in size and count from what one rank sends or holds, in bytes: for collectives whose data is made of
// shares, that is the share, so that the world decides the size.
func sized(c *coll.Case, perRank int64) {
	c.SizeBytes, c.Count = perRank, -1
	if t := int64(c.Type.Size()); t > 0 && perRank%t == 0 {
		c.Count = perRank / t
	}
	if c.Collective != coll.Other && c.Collective.Shared() {
		if c.SizeBytes = -1; c.World > 0 && perRank <= math.MaxInt64/int64(c.World) {
			c.SizeBytes = perRank * int64(c.World)
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
