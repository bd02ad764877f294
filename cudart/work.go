//go:build cgo

package cudart

/*
#include "call.h"
#include "program.h"

static int start_work(busbar_step start, void *context, uint64_t amount) { return start(context, amount); }
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"busbar/internal/loop"
)

// Work is computing of which a stream can be given any amount.
type Work struct {
	// puts an amount, in the place of the operation's number, onto its stream
	Start   loop.Step
	Context unsafe.Pointer // of Start
	Error   func(code int) error
}

func (w Work) start(amount uint64) error {
	if rc := C.start_work(C.busbar_step(w.Start), w.Context, C.uint64_t(amount)); rc != 0 {
		return w.Error(int(rc))
	}
	return nil
}

// Rate is how long work takes.
type Rate struct {
	Each  float64 // s of one unit
	Fixed float64 // s of a start beside its units
}

// Seconds is how long one start of that amount takes.
func (r Rate) Seconds(amount uint64) float64 {
	if amount == 0 {
		return 0
	}
	return r.Fixed + r.Each*float64(amount)
}

// Amounts turns the seconds of pieces into amounts. The next piece compensates the rounding of the one
// before, so sums over many pieces hold even if a unit is longer than a piece.
func (r Rate) Amounts(segments [][]float64) [][]uint64 {
	all := make([][]uint64, len(segments))
	owed := 0.0
	for i, pieces := range segments {
		all[i] = make([]uint64, len(pieces))
		for k, seconds := range pieces {
			owed += seconds
			all[i][k] = uint64(max(0, math.Round((owed-r.Fixed)/r.Each)))
			owed -= r.Seconds(all[i][k])
		}
	}
	return all
}

// What a calibration takes, in seconds.
const (
	calibrationSample = 0.02
	calibrationWarm   = 0.2 // the clocks of a GPU settle under load
)

const (
	calibrationSamples = 9
	calibrationStarts  = 64 // of which one each is long
)

// Calibrate measures how long work takes on a stream, by the device's clock: after as long under load as the clocks
// need to settle, the median of samples. It takes about half a second. Ranks that will compute together calibrate
// together.
func (s *Stream) Calibrate(w Work) (r Rate, err error) {
	t, err := newTimer(s)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	amount := uint64(1)
	if _, err = t.time(w, amount, 1); err != nil { // the first start may load or compile
		return r, err
	}
	seconds := 0.0
	for begun := time.Now(); seconds < calibrationSample || time.Since(begun).Seconds() < calibrationWarm; {
		if seconds, err = t.time(w, amount, 1); err != nil {
			return r, err
		}
		if seconds < calibrationSample {
			if amount > math.MaxUint64/4 {
				return r, fmt.Errorf("%d units of work take %.3g s by the device's clock: the GPU or its "+
					"clock does not work", amount, seconds)
			}
			amount *= 2
		}
	}
	samples := make([]float64, calibrationSamples)
	for i := range samples {
		if samples[i], err = t.time(w, amount, 1); err != nil {
			return r, err
		}
	}
	slices.Sort(samples)
	whole := samples[calibrationSamples/2]
	short := math.Inf(1)
	for range calibrationSamples {
		seconds, err := t.time(w, 1, calibrationStarts)
		if err != nil {
			return r, err
		}
		short = min(short, seconds/calibrationStarts)
	}
	r.Each = whole / float64(amount)
	if fixed := short - r.Each; fixed > r.Each { // else a start is one unit, as a matrix product is
		r.Fixed = fixed
		r.Each = (whole - fixed) / float64(amount)
	}
	return r, nil
}

// timer measures the device time of work on a stream.
type timer struct {
	s             *Stream
	before, after *Event
}

func newTimer(s *Stream) (t *timer, err error) {
	t = &timer{s: s}
	if t.before, err = s.c.NewEvent(true); err == nil {
		t.after, err = s.c.NewEvent(true)
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *timer) close() error { return errors.Join(t.before.Close(), t.after.Close()) }

// time returns the time of n starts of an amount.
func (t *timer) time(w Work, amount uint64, starts int) (float64, error) {
	err := t.before.Record(t.s)
	for i := 0; i < starts && err == nil; i++ {
		err = w.start(amount)
	}
	if err == nil {
		err = t.after.Record(t.s)
	}
	if late := t.s.Synchronize(); err == nil { // nothing is left on the stream, also where starting failed
		err = late
	}
	if err != nil {
		return 0, err
	}
	return t.after.Elapsed(t.before)
}
