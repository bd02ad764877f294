package foreign

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// ncclColumns are the columns of a table by its heading.
type ncclColumns struct {
	point  []string // size, count, type, and operation and root if they have columns
	block  []string // of one placement: time, algbw, busbw, #wrong, …
	blocks int
	stamp  bool    // a time stamp ends the row
	unit   float64 // of times, in seconds
	error  string  // name of the column of the data check
	era    string

	emptyOp bool // rows leave the operation empty
}

// op and root report whether the table has a column for the operation, and for the root.
func (c *ncclColumns) op() bool {
	return slices.Contains(c.point, "op") || slices.Contains(c.point, "redop")
}

func (c *ncclColumns) root() bool { return slices.Contains(c.point, "root") }

// ncclHeading parses a table's heading; nil for other lines.
func ncclHeading(body string) *ncclColumns {
	if !strings.HasPrefix(body, "size ") && !strings.HasPrefix(body, "bytes ") || !strings.Contains(body, " algbw ") {
		return nil
	}
	words := strings.Fields(body)
	isTime := func(w string) bool { return w == "time" || w == "cputime" }
	first := slices.IndexFunc(words, isTime)
	if first < 3 {
		return nil
	}
	c := &ncclColumns{point: words[:first], unit: 1e-6, era: "with #wrong (2022 and later)", error: "#wrong", blocks: 1}
	if words[0] == "bytes" {
		c.unit, c.era, c.error = 1e-3, "in ms with res (2017 to 2019)", "res"
	} else if slices.Contains(words, "error") {
		c.era, c.error = "with error (2019 to 2022)", "error"
	}
	c.block = words[first:]
	if last := len(c.block) - 1; c.block[last] == "timestamp" {
		c.stamp, c.block = true, c.block[:last]
	}
	if second := slices.IndexFunc(c.block[1:], isTime) + 1; second > 0 {
		if len(c.block) != 2*second {
			return nil
		}
		c.block, c.blocks = c.block[:second], 2
	}
	return c
}

// ncclRow is a row of a table.
type ncclRow struct {
	line   int
	point  map[string]string
	stamp  string
	values []string // of all placements
}

func (r *ncclRow) op() string { return r.point["op"] + r.point["redop"] }

// read splits a row into its columns; nil if they do not match. The operation may be empty.
func (c *ncclColumns) read(line int, text string) *ncclRow {
	words := strings.Fields(text)
	r := &ncclRow{line: line, point: map[string]string{}}
	if n := len(words); c.stamp && n > 2 {
		r.stamp, words = words[n-2]+" "+words[n-1], words[:n-2]
	}
	want := len(c.point) + c.blocks*len(c.block)
	if len(words) == want-1 && c.op() && ncclValue.MatchString(words[3]) {
		words, c.emptyOp = slices.Insert(words, 3, ""), true
	}
	if len(words) != want {
		return nil
	}
	for i, name := range c.point {
		r.point[name] = words[i]
	}
	r.values = words[len(c.point):]
	for i, w := range r.values {
		if name := c.block[i%len(c.block)]; !ncclValue.MatchString(w) && !strings.HasPrefix(name, "algo") &&
			!strings.HasPrefix(name, "proto") {
			return nil
		}
	}
	return r
}

var (
	ncclValue = regexp.MustCompile(`^([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\*?|N/A|[-+]?nan|[-+]?inf)$`)
	ncclPoint = regexp.MustCompile(`^\s*\d+\s+\d+\s+[A-Za-z]\w*(\s|$)`)
)

// row reads a row. After the footer, rows belong to another table whose heading is missing.
func (t *ncclTest) row(l line) (bool, error) {
	if !ncclPoint.MatchString(l.text) {
		return false, nil
	}
	if r := t.columns.read(l.n, l.text); r != nil && !t.closed {
		return true, t.emit(r)
	}
	return true, t.in.torn(l.n, l.text)
}

// emit adds a record for each placement.
func (t *ncclTest) emit(r *ncclRow) error {
	c := t.columns
	placements := []coll.Placement{coll.OutOfPlace, coll.InPlace}
	if c.blocks == 1 {
		placements[0] = t.only
	}
	var records []*result.Record
	for i := range c.blocks {
		values := r.values[i*len(c.block):][:len(c.block)]
		if !slices.ContainsFunc(values, func(f string) bool { return f != "N/A" }) {
			continue // this placement was not measured
		}
		rec := t.record(r, placements[i])
		for j, name := range c.block {
			t.put(rec, name, values[j])
		}
		records = append(records, rec)
	}
	return t.add(records...)
}

// record returns a record of a row for one placement, without its values.
func (t *ncclTest) record(r *ncclRow, p coll.Placement) *result.Record {
	rec := newRecord(r.line, t.collective, t.operation)
	if t.collective == 0 {
		rec.Collective = coll.Other // until it is decided
	}
	rec.Placement, rec.Mode, rec.World, rec.Cycle = p, t.mode, cmp.Or(t.run.World, t.world()), t.cycle
	rec.SizeBytes, _ = count(r.point[t.columns.point[0]])
	rec.Count, _ = count(r.point[t.columns.point[1]])
	typed(rec, r.point["type"])
	reduced(rec, r.op())
	if n, ok := amount(r.point["root"]); ok {
		rec.Root = n
	}
	state(rec, "timestamp", r.stamp)
	rec.Check.Result = "unknown"
	return rec
}

// put sets one value.
func (t *ncclTest) put(rec *result.Record, name, text string) {
	switch name {
	case "time":
		v, ok := positive(text)
		if !ok {
			state(rec, name, text)
			return
		}
		timed(rec, v, t.columns.unit, t.sync, t.summary)
		rec.Time.Samples, rec.Time.Iterations, rec.Time.Batch = 1, t.iterations, t.iterations
		if t.iterations > 0 {
			rec.Time.Stop = "fixed"
		}
	case "#wrong", "error", "res":
		ncclCheck(rec, name, text, t.run.Method.CheckRounds)
	case "algo", "algorithm", "proto", "protocol", "nchannels", "#channels":
		if rec.Path == nil {
			rec.Path = &result.Path{}
		}
		switch name[0] {
		case 'a':
			rec.Path.Algorithm = text
		case 'p':
			rec.Path.Protocol = text
		default:
			rec.Path.Channels, _ = amount(text)
		}
	default:
		state(rec, name, text)
	}
}

// ncclCheck reads the column of the data check: the number of wrong elements, in older layouts the maximum difference.
// rccl-tests appends an asterisk to a difference above its tolerance.
func ncclCheck(rec *result.Record, name, text string, rounds int) {
	text, starred := strings.CutSuffix(text, "*")
	v, ok := number(text)
	switch {
	case text == "N/A":
		rec.Check.Result = "off"
	case ok && v > 0 && name == "#wrong":
		judge(rec, v)
	case starred:
		rec.Status, rec.Check.Result = result.Wrong, "wrong"
		rec.Why = result.Because(notice.SourceErrorLarge{})
		state(rec, name, text)
	case ok && v == 0:
		rec.Check.Result, rec.Check.Rounds = "ok", max(rounds, 0)
	default: // the difference may be within the type's tolerance
		state(rec, name, text)
	}
}
