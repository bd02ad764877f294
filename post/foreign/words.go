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

// Given holds values that the user supplies for a file. They never replace the file's own.
type Given map[string]string

// ParseGiven parses KEY=VALUE words. The error names the known keys.
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

// setWord sets the value of a key.
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
		err = coll.Unknown("key", key, strings.Fields("world collective type placement mode"))
	}
	return err
}

// world returns the given number of ranks; 0 without one.
func (g Given) world() int {
	n, _ := amount(g["world"])
	return n
}

// fill sets a case's missing values, and records in used which words were needed. The collective counts as missing
// only if the operation has no name.
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

// give sets one value of a case, if given.
func (g Given) give(c *coll.Case, used map[string]string, key string) {
	if value, given := g[key]; given {
		used[key] = value
		_ = setWord(c, key, value) // already parsed
	}
}

// newRecord returns a record of a row in line n, with unchecked data.
func newRecord(n int, c coll.Collective, operation string) *result.Record {
	return &result.Record{
		Case:   coll.Case{Collective: c, Root: -1, SizeBytes: -1, Count: -1},
		Status: result.OK, Check: result.Check{Result: "off"},
		Imported: &result.Origin{Line: n, Operation: operation, Stated: map[string]string{}},
	}
}

// state keeps a value of the source, if present.
func state(r *result.Record, name, text string) {
	if text != "" {
		r.Imported.Stated[name] = text
	}
}

// timed sets the time of one operation; unit is in seconds.
func timed(r *result.Record, v, unit float64, sync, summary string) {
	r.Time = &result.Time{Seconds: seconds(v, unit), Outliers: -1, Sync: sync, Summary: summary}
}

const backToBack = "issued back to back"

// judge sets the number of wrong elements.
func judge(r *result.Record, wrong float64) {
	if r.Check.Result = "ok"; wrong > 0 {
		r.Status, r.Check.Result, r.Check.Wrong = result.Wrong, "wrong", int64(min(wrong, 1<<60))
		r.Why = result.Because(notice.SourceCountsWrong{Elements: r.Check.Wrong})
	}
}

// typed sets the data type; an unknown name is kept.
func typed(r *result.Record, name string) {
	if r.Type = dataType(name); r.Type == 0 {
		state(r, "type", name)
	}
}

// reduced sets the operation; an unknown name is kept.
func reduced(r *result.Record, name string) {
	op, err := coll.ParseRedOp(name)
	if r.Op = op; err != nil {
		state(r, "redop", name)
	}
}

// dataTypes are other tools' names. MPI_BYTE has no numeric meaning; uint8 replaces it.
var dataTypes = map[string]coll.DataType{
	"byte": coll.UInt8, "unsigned_char": coll.UInt8, "unsigned": coll.UInt32,
	"long": coll.Int64, "long_long": coll.Int64, "fp8_e4m3": coll.Float8E4M3, "fp8_e5m2": coll.Float8E5M2,
}

// dataType returns the type by another tool's name; 0 if unknown.
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

// perfProgram returns the collective of an nccl-tests program name: build/all_reduce_perf_mpi. A name unknown to coll
// is kept in operation, except that of a renamed program.
func perfProgram(program string) (c coll.Collective, operation string) {
	name, _, known := strings.Cut(path.Base(program), "_perf")
	if c, operation = operationOf(name); operation != "" && !known {
		operation = ""
	}
	return c, operation
}

// operationOf returns a collective by any of its spellings, or coll.Other and the name.
func operationOf(name string) (c coll.Collective, operation string) {
	c, err := coll.ParseCollective(name)
	if err != nil {
		return coll.Other, name
	}
	return c, ""
}

// number parses a value; ok is false for invalid values, infinity and NaN.
func number(s string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// positive parses a value of at least 0.
func positive(s string) (v float64, ok bool) {
	v, ok = number(s)
	return v, ok && v >= 0
}

// count parses an integer of at least 0.
func count(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return n, err == nil && n >= 0
}

// amount parses a count that is never in the billions, such as ranks, so that products of two do not overflow.
func amount(s string) (n int, ok bool) {
	many, ok := count(s)
	if !ok || many > 1<<30 {
		return 0, false
	}
	return int(many), true
}

// product multiplies counts; 0 if the result is not a valid count.
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

// seconds converts a time, rounded to a picosecond, so that it is written as printed.
func seconds(v, unit float64) float64 {
	s, _ := strconv.ParseFloat(strconv.FormatFloat(v*unit, 'g', 12, 64), 64)
	return s
}

// sized sets size and count from the bytes that one rank sends or holds; for collectives of shares this is the share,
// so the total depends on the world size.
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
