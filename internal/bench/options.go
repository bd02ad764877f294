package bench

import (
	"fmt"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// Average selects the ranks whose time a throughput value uses; the numbers are those of nccl-tests' -a.
type Average int

// The averages. Max is the default: an operation is over when its last rank is done.
const (
	Rank0 Average = iota
	Mean
	Min
	Max
)

func (a Average) String() string {
	return [...]string{"rank 0", "mean over ranks", "min over ranks", "max over ranks"}[a]
}

// Clock describes the clock of the time stamps, in seconds.
type Clock struct {
	Resolution float64 // smallest step seen
	Cost       float64 // one reading
	Empty      float64 // one iteration of the loop around an operation that does nothing
	Offset     float64 // this rank's clock minus rank 0's, when the case begins
	// of offsets between any two ranks; on one host, the resolution of readings and synchronisation
	Uncertainty float64
	Common      bool // offsets are known
}

// Options are the settings of a measurement.
type Options struct {
	Precision  float64       // wanted half width of the 95 % interval of the median, relative
	Budget     time.Duration // measuring time of one case
	Iterations int           // fixed number of timed operations; 0: as many as the figure needs
	// with Iterations: where the warm-up shows that they take longer, the case is skipped; 0: none
	Limit      time.Duration
	Warmup     int           // operations before timing
	WarmupTime time.Duration // after which one warm-up is enough; 0: all of them, however long they take
	Check      int           // rounds of checking; 0: off
	Aggregate  int           // operations issued as one (-m); at least 1
	Average    Average       // throughput mode
	Clock      Clock
	// the first case of its collective in this world: how long its first operation takes is kept (with Check)
	FirstUse bool
	Watch    Watch    // may be nil
	Together Together // nil: no other world measures at the same time

	// Compare measures Clock's Offset and Uncertainty anew. It is collective, and nil where all ranks share a clock.
	Compare func() (offset, uncertainty float64, err error)
}

// Together lets several worlds measure at the same time. Its methods are collective over all of them.
type Together interface {
	// Start returns when all worlds are ready to measure.
	Start() error
	// Finish runs batches until all worlds have measured, so that none measures while another one is idle. It returns
	// the error of a batch.
	Finish(batch func() error) error
}

// Watch receives the next phase of this rank and its expected duration, for a watchdog.
type Watch interface {
	Phase(name string, expected time.Duration)
}

// Fatal wraps an error after which this world cannot go on: the library or the world's own communication failed.
type Fatal struct {
	Phase string
	Err   error
}

func (e *Fatal) Error() string { return fmt.Sprintf("%s: %v", e.Phase, e.Err) }

func (e *Fatal) Unwrap() error { return e.Err }

// NotMeasured is the record of a point that is not measured, by plan or because the library lacks it.
func NotMeasured(r result.Record, status result.Status, cause notice.Fact) *result.Record {
	r.Kind, r.Status, r.Why = result.KindCase, status, result.Because(cause)
	r.Check.Result = "none"
	return &r
}
