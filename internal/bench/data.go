package bench

import (
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// Data fills and checks the buffers of operations on one rank, and keeps what it found and how long that took.
type Data struct {
	w       World
	found   mismatch
	of      string // the operation that had the first wrong element
	way     Way
	seconds float64
}

// NewData is for the operations of one point.
func NewData(w World) *Data { return &Data{w: w, found: mismatch{index: -1}} }

// Load poisons the output of an operation and fills its input with the pattern.
func (d *Data) Load(c coll.Case, b Buffers) error {
	defer d.timed()()
	return load(c, d.w.Rank, []Buffers{b})
}

// Verify compares every element of an operation's output with what it must hold; name is the operation's among others.
func (d *Data) Verify(name string, c coll.Case, b Buffers) error {
	defer d.timed()()
	d.way = b.Send.Way()
	found, err := verify(c, d.w.Rank, []Buffers{b})
	if err != nil {
		return err
	}
	if d.found.wrong == 0 && found.wrong > 0 {
		d.of = name
		d.found.index, d.found.want, d.found.got = found.index, found.want, found.got
	}
	d.found.elements += found.elements
	d.found.wrong += found.wrong
	return nil
}

// Collect adds what all ranks have verified since the last time to the check of a point. On rank 0 the reason says what
// was wrong; check.Result says so on every rank. Collective.
func (d *Data) Collect(check *result.Check) (wrong notice.Fact, err error) {
	found, of := d.found, d.of
	d.found, d.of = mismatch{index: -1}, ""
	return d.w.collect(check, found, of, d.seconds, d.way)
}

// timed counts the time until the function that it returns is called.
func (d *Data) timed() func() {
	begun := time.Now()
	return func() { d.seconds += time.Since(begun).Seconds() }
}
