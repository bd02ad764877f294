package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Measure measures and verifies one case. It is collective over the world; rank 0 gets the record, other ranks nil. A
// case that the library or the memory does not support gives a record with the reason; the error is a *Fatal.
//
// The order: prepare and agree on every rank; check rounds (poison the output, fill the input, run once, compare every
// element on every rank); record the algorithm of the library; fill for timing and warm up the same operations; run
// batches until the value is precise enough; compare the output of the last timed operation; summarise over ranks.
func Measure(w World, b Backend, c coll.Case, o Options) (*result.Record, error) {
	m := &measurement{timings: timings{w: w, c: c, o: o}, data: NewData(w),
		record: &result.Record{Kind: result.KindCase, Case: c}}
	m.o.Aggregate = max(1, o.Aggregate)
	if even, exists := c.EvenVolume(); exists && w.Rank == 0 {
		m.record.EvenBytes = even.SizeBytes
	}
	if c.Count == 0 {
		return m.onRoot(NotMeasured(*m.record, result.Skipped, notice.TooSmall{Ranks: c.World})), nil
	}
	m.phase("prepare", 0)
	operation, err := b.Prepare(c)
	if operation != nil {
		defer operation.Close()
	}
	if stop, err := m.agree(err); stop || err != nil {
		return m.onRoot(m.record), err
	}
	m.op = operation
	if n, ok := operation.(Noter); ok {
		m.record.Notes = n.Notes()
	}
	m.recoverer, _ = b.(Recoverer)
	if err := m.run(); errors.Is(err, errLost) {
		lost := m.record.Reason
		err := operation.Close()
		if err == nil {
			err = m.recover()
		}
		if err != nil { // what went wrong first is what matters
			return nil, fmt.Errorf("%w; that was after: %s", err, lost)
		}
		return m.onRoot(m.record), nil
	} else if err != nil {
		return nil, err
	}
	return m.onRoot(m.record), nil
}

// measurement is one case in hand: its preparation, its checks and its batches.
type measurement struct {
	timings
	op     Operation
	record *result.Record
	data   *Data

	recoverer Recoverer // nil where a failed operation ends the run

	estimate float64 // of one operation, in seconds, equal on all ranks; 0 before anything was run
	before   int     // operations beyond whole turns of the slots before these were filled for timing
}

func (m *measurement) onRoot(r *result.Record) *result.Record {
	if m.w.Rank != 0 {
		return nil
	}
	return r
}

// phase announces the next n single operations to the watchdog.
func (m *measurement) phase(name string, n int) {
	if m.o.Watch == nil {
		return
	}
	each := m.estimate
	if each == 0 { // nothing known yet: a slow network's speed
		each = 1e-3 + float64(m.c.SizeBytes)*float64(m.w.Size)/100e6
	}
	memory := float64(m.c.MemoryBytes(m.w.Rank)) / slowMemory
	m.o.Watch.Phase(name, time.Duration((each*float64(n)+memory)*1e9))
}

// slowMemory is the minimum speed of touching, filling and comparing buffers, in bytes per second.
const slowMemory = 200e6

// agree compares the outcome of Prepare over the ranks; stop reports that the case ends here, with its record filled.
func (m *measurement) agree(err error) (stop bool, fatal error) {
	v, err := m.w.Prepared(err)
	if err != nil {
		return true, &Fatal{"prepare", err}
	}
	if v.Over() {
		m.record = NotMeasured(*m.record, v.Status, v.Cause)
		m.record.Needed = v.Needed
	}
	return v.Over(), nil
}

// run does what comes after a successful Prepare.
func (m *measurement) run() error {
	slots := m.op.Buffers()
	m.record.Check = result.Check{Result: "off"}
	if m.o.Check > 0 {
		m.phase("check", len(slots)*m.o.Check)
		if err := m.checkRounds(slots); err != nil {
			return err
		}
		if m.record.Check.Result == "wrong" {
			m.record.Status = result.Wrong
			return nil
		}
	}
	if err := m.findPath(); err != nil {
		return err
	}
	m.record.Time = &result.Time{}
	m.phase("fill", 0)
	checkable, err := m.loadTimed(slots)
	if err != nil {
		return &Fatal{"fill", err}
	}
	if err := m.warm(); err != nil {
		return err
	}
	if m.tooLong() {
		return nil
	}
	if err := profiled(m.op, m.measure); err != nil {
		return err
	}
	if m.o.Check > 0 && checkable {
		m.phase("check", 1)
		if err := m.verify(m.written(slots)); err != nil {
			return err
		}
	}
	m.record.Status = result.OK
	if m.record.Check.Result == "wrong" {
		m.record.Status = result.Wrong
	}
	m.phase("summarise", 0)
	return m.summarise(m.record)
}

// written are the slots that hold results of timed operations. With rotating buffers a short run leaves some that no
// operation has written since they were filled.
func (m *measurement) written(slots []Buffers) []Buffers {
	first := m.before % len(slots)
	return slices.Concat(slots[first:], slots[:first])[:min(len(slots), m.ops*m.o.Aggregate)]
}

// tooLong reports whether the timed operations would exceed the remaining time, and writes that to the record. The
// estimate is equal on all ranks, and so is the result. Without a warm-up there is no estimate: the first operation
// connects.
func (m *measurement) tooLong() bool {
	n := m.o.Iterations * m.o.Aggregate
	takes := time.Duration(m.estimate * float64(n) * 1e9)
	if m.o.Limit == 0 || m.o.Warmup == 0 || takes <= m.o.Limit {
		return false
	}
	m.record.Time, m.record.Check = nil, result.Check{}
	m.record = NotMeasured(*m.record, result.Skipped, notice.TakesTooLong{
		Operations: n, Takes: units.Seconds(takes.Seconds()), Left: units.Seconds(m.o.Limit.Seconds()),
	})
	return true
}

// profiled marks f for a profiler, where the operation supports it.
func profiled(op Operation, f func() error) error {
	p, ok := op.(Profiler)
	if !ok {
		return f()
	}
	if err := p.Profile(true); err != nil {
		return &Fatal{"profile", err}
	}
	err := f()
	if e := p.Profile(false); err == nil && e != nil {
		err = &Fatal{"profile", e}
	}
	return err
}

// checkRounds runs and verifies until a round is wrong or all are done.
func (m *measurement) checkRounds(slots []Buffers) error {
	single := m.op
	if a, ok := m.op.(Aggregator); ok {
		single = a.Single()
	}
	for range m.o.Check {
		for _, b := range slots {
			if err := m.data.Load(m.c, b); err != nil {
				return &Fatal{"fill", err}
			}
		}
		for range slots { // each operation takes the next slot
			s, err := m.runOperation(single, 1, 1)
			if err != nil {
				return &Fatal{"check", err}
			}
			if err := m.learn(s); err != nil {
				return &Fatal{"check", err}
			}
		}
		m.record.Check.Rounds++
		if err := m.verify(slots); err != nil {
			return err
		}
		if m.record.Check.Result == "wrong" {
			return nil
		}
	}
	return nil
}

// learn keeps how long a single operation took, connections and all where it was the first: for the watchdog, and in
// the record where that is asked for.
func (m *measurement) learn(s Stamps) error {
	took := []float64{seconds(s.End[0] - s.Start[0])}
	err := m.w.Max(took)
	m.estimate = took[0]
	if m.o.FirstUse && m.record.FirstUse == 0 {
		m.record.FirstUse = took[0]
	}
	return err
}

// loadTimed fills the slots for the timed part, and reports whether they can be checked afterwards.
func (m *measurement) loadTimed(slots []Buffers) (checkable bool, err error) {
	defer m.data.timed()()
	checkable = true
	for _, b := range slots {
		err = b.each(m.c, m.w.Rank, func(p Part, b Buffers) error {
			ready, err := loadTimed(p.Case, p.Rank, b, m.record.Check.Rounds > 0)
			checkable = checkable && ready
			return err
		})
		if err != nil {
			break
		}
	}
	return checkable, err
}

// verify compares the outputs on this rank and adds what all ranks found to the record; every rank learns whether
// something was wrong.
func (m *measurement) verify(slots []Buffers) error {
	for _, b := range slots {
		if err := m.data.Verify("", m.c, b); err != nil {
			return &Fatal{"check", err}
		}
	}
	wrong, err := m.data.Collect(&m.record.Check)
	if err != nil {
		return &Fatal{"check", err}
	}
	if wrong != nil {
		m.record.Why = result.Because(wrong)
	}
	return nil
}
