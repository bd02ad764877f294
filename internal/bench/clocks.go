package bench

import (
	"math"

	"busbar/internal/coll"
)

// clocks turns stamps of this rank into seconds on rank 0's clock. Where hosts have clocks of their own, which drift
// apart by tens of microseconds a second, the offset is measured before and after each batch of latency mode and taken
// to change evenly in between; in throughput mode it is measured before each round of batches and the drift since
// then counts as uncertain.
type clocks struct {
	base          int64 // rank 0's stamp from which seconds are counted, so that a float64 keeps nanoseconds
	before, after reading
	uncertainty   float64 // the largest so far, in seconds
}

// drift is by how much two hosts' clocks may run apart.
const drift = 50e-6

// reading is one comparison of this rank's clock with rank 0's.
type reading struct {
	at     int64   // stamp of this rank, about when it was made
	offset float64 // this rank's clock minus rank 0's, in seconds
}

// compareClocks is called before a batch; at is a stamp of about now, 0 where none is known yet.
func (t *timings) compareClocks(at int64) error {
	offset, uncertainty := t.o.Clock.Offset, t.o.Clock.Uncertainty
	if t.o.Compare != nil {
		var err error
		if offset, uncertainty, err = t.o.Compare(); err != nil {
			return err
		}
	}
	t.clocks.before = t.clocks.after
	t.clocks.after = reading{at, offset}
	t.clocks.uncertainty = max(t.clocks.uncertainty, uncertainty)
	return nil
}

// drifted adds the possible drift of clocks between two stamps without a comparison to the uncertainty.
func (t *timings) drifted(from, to int64) {
	if t.o.Compare != nil {
		t.clocks.uncertainty = max(t.clocks.uncertainty, t.o.Clock.Uncertainty+drift*seconds(to-from))
	}
}

// reference makes rank 0's stamp the one from which all ranks count.
func (t *timings) reference(stamp int64) error {
	// In two halves: nanoseconds of a long uptime do not fit the mantissa.
	b := []float64{float64(stamp >> 32), float64(stamp & math.MaxUint32)}
	err := t.w.Bcast(b)
	t.clocks.base = int64(b[0])<<32 | int64(b[1])
	return err
}

// common is a stamp of this rank in seconds after the reference, on rank 0's clock.
func (t *timings) common(stamp int64) float64 {
	c := &t.clocks
	offset := c.after.offset
	if span := c.after.at - c.before.at; t.c.Mode == coll.Latency && c.before.at != 0 && span > 0 {
		share := float64(stamp-c.before.at) / float64(span)
		offset = c.before.offset + share*(c.after.offset-c.before.offset)
	}
	return seconds(stamp-c.base) - offset
}
