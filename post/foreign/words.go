package foreign

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// Given is what a file does not state, as given by who imports it. It never takes the place of what a file does state.
type Given map[string]string

// ParseGiven reads words of the form KEY=VALUE. The error names what is known.
func ParseGiven(words []string) (Given, error) {
	g := Given{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not KEY=VALUE, such as world=16", w)
		}
		if err := setWord(&coll.Case{}, key, value); err != nil {
			return nil, err
		}
		g[key] = value
	}
	return g, nil
}

// setWord sets what a word of this key gives.
func setWord(c *coll.Case, key, value string) (err error) {
	switch key {
	case "world":
		if c.World, err = strconv.Atoi(value); err != nil || c.World < 1 {
			return fmt.Errorf("world %q must be a number of ranks, at least 1", value)
		}
	case "collective":
		c.Collective, err = coll.ParseCollective(value)
	case "type":
		c.Type, err = coll.ParseDataType(value)
	case "placement":
		c.Placement, err = coll.ParsePlacement(value)
	case "mode":
		c.Mode, err = coll.ParseMode(value)
	default:
		err = coll.Unknown("key", key, []string{"world", "collective", "type", "placement", "mode"})
	}
	return err
}

// world is the given number of ranks; 0 without one.
func (g Given) world() int {
	n, _ := amount(g["world"])
	return n
}

// fill gives a case what it lacks, and notes in used which words were needed. The collective is lacking only where the
// operation has no name.
func (g Given) fill(c *coll.Case, operation string, used map[string]string) {
	for key, lacks := range map[string]bool{
		"world": c.World == 0, "collective": c.Collective == coll.Other && operation == "", "type": c.Type == 0,
		"placement": c.Placement == 0, "mode": c.Mode == 0,
	} {
		if lacks {
			g.give(c, used, key)
		}
	}
}

// give gives a case one word, if it was given.
func (g Given) give(c *coll.Case, used map[string]string, key string) {
	if value, given := g[key]; given {
		used[key] = value
		_ = setWord(c, key, value) // it was read before
	}
}

// newRecord is a record of a row in line n, whose data was not checked.
func newRecord(n int, c coll.Collective, operation string) *result.Record {
	return &result.Record{
		Case:   coll.Case{Collective: c, Root: -1, SizeBytes: -1, Count: -1},
		Status: result.OK, Check: result.Check{Result: "off"},
		Imported: &result.Origin{Line: n, Operation: operation, Stated: map[string]string{}},
	}
}

// state keeps a value of the source, if there is one.
func state(r *result.Record, name, text string) {
	if text != "" {
		r.Imported.Stated[name] = text
	}
}

// timed gives a record the time of one operation, of so many of this unit in seconds.
func timed(r *result.Record, v, unit float64, sync, summary string) {
	r.Time = &result.Time{Seconds: seconds(v, unit), Outliers: -1, Sync: sync, Summary: summary}
}

const backToBack = "issued back to back"

// judge takes the number of wrong elements that a source counts.
func judge(r *result.Record, wrong float64) {
	if r.Check.Result = "ok"; wrong > 0 {
		r.Status, r.Check.Result, r.Check.Wrong = result.Wrong, "wrong", int64(min(wrong, 1<<60))
		r.Why = result.Because(notice.SourceCountsWrong{Elements: r.Check.Wrong})
	}
}

// typed gives a record its data type; the name of an unknown one is kept.
func typed(r *result.Record, name string) {
	if r.Type = dataType(name); r.Type == 0 {
		state(r, "type", name)
	}
}

// reduced gives a record its operation; the name of an unknown one is kept.
func reduced(r *result.Record, name string) {
	op, err := coll.ParseRedOp(name)
	if r.Op = op; err != nil {
		state(r, "redop", name)
	}
}

// dataTypes are names of other tools. MPI_BYTE is eight bits without a meaning, for which uint8 is used.
var dataTypes = map[string]coll.DataType{
	"byte": coll.UInt8, "unsigned_char": coll.UInt8, "unsigned": coll.UInt32,
	"long": coll.Int64, "long_long": coll.Int64, "fp8_e4m3": coll.Float8E4M3, "fp8_e5m2": coll.Float8E5M2,
}

// dataType is the type that another tool calls so; 0 where the name is not known.
func dataType(name string) coll.DataType {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "torch."), "mpi_")
	if t, known := dataTypes[name]; known {
		return t
	}
	t, err := coll.ParseDataType(name)
	if err != nil {
		return 0
	}
	return t
}

// perfProgram returns the collective that a program of nccl-tests measures, by its name: build/all_reduce_perf_mpi. What
// is none of coll's has a name in operation, but for a renamed program.
func perfProgram(program string) (c coll.Collective, operation string) {
	name, _, known := strings.Cut(path.Base(program), "_perf")
	if c, operation = operationOf(name); operation != "" && !known {
		operation = ""
	}
	return c, operation
}

// operationOf is a collective by any of its spellings, or coll.Other and the name.
func operationOf(name string) (c coll.Collective, operation string) {
	c, err := coll.ParseCollective(name)
	if err != nil {
		return coll.Other, name
	}
	return c, ""
}

// number reads a value; ok is false for what is none, and for infinity and NaN.
func number(s string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// positive reads a value that is not negative.
func positive(s string) (v float64, ok bool) {
	v, ok = number(s)
	return v, ok && v >= 0
}

// count reads a whole number that is not negative.
func count(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
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
	if c.Collective.Shared() {
		if c.SizeBytes = -1; c.World > 0 && perRank <= math.MaxInt64/int64(c.World) {
			c.SizeBytes = perRank * int64(c.World)
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
