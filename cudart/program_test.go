//go:build cgo

package cudart

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"busbar/internal/loop"
	"busbar/internal/program"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// rehearsalDriver compiles the simulated driver beside the fake one, once.
var rehearsalDriver = sync.OnceValues(func() (so string, err error) {
	files, err := filepath.Glob("rehearsal/cuda/*.c")
	if err == nil && len(files) == 0 {
		err = errors.New("the source of the simulated driver is missing")
	}
	so = filepath.Join(filepath.Dir(fakeDriver), "rehearsal-"+library)
	if err == nil {
		err = compile(so, append(files, "-pthread")...)
	}
	return so, err
})

// openRehearsal returns a context of the simulated driver, whose streams are threads: without a wait, work runs at
// once.
func openRehearsal(t *testing.T) *Context {
	t.Helper()
	so, err := rehearsalDriver()
	must.NoError(t, err)
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	c, err := load(t, so).Open(0)
	must.NoError(t, err)
	atEnd(t, c.Close)
	return c
}

// testOp is an entry of the table in testdata/program/ops.c.
type testOp struct {
	start, context unsafe.Pointer
	amount         uint64
	code           int64
}

// testOps loads the table, and the function that issues its entries.
func testOps(t *testing.T) (ops []testOp, issue loop.Step) {
	t.Helper()
	so := filepath.Join(t.TempDir(), "ops.so")
	must.NoError(t, compile(so, "testdata/program/ops.c"))
	return unsafe.Slice((*testOp)(symbol(t, so, "ops")), 16), loop.Step(symbol(t, so, "issue"))
}

func newStream(t *testing.T, c *Context) *Stream {
	t.Helper()
	s, err := c.NewStream()
	must.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func newFMA(t *testing.T, s *Stream) *FMA {
	t.Helper()
	f, err := s.NewFMA()
	must.NoError(t, err)
	atEnd(t, f.Close)
	return f
}

// testProgram computes with the kernel on one stream and uses it as communication on another.
func testProgram(t *testing.T, c *Context, segments []Segment, links []program.Link, amounts []uint64) (*Program,
	[]testOp) {
	t.Helper()
	s := ProgramSpec{Compute: newStream(t, c), Comm: newStream(t, c), Segments: segments}
	s.Work = newFMA(t, s.Compute).Work()
	w := newFMA(t, s.Comm).Work()
	table, issue := testOps(t)
	for i, l := range links {
		table[i] = testOp{unsafe.Pointer(w.Start), w.Context, amounts[i], 0}
		s.Ops = append(s.Ops, Op{Link: l, Name: fmt.Sprint("bucket ", i), Issue: issue,
			Context: unsafe.Pointer(&table[i]),
			Error:   func(code int) error { return fmt.Errorf("the library reports %d", code) }})
	}
	p, err := c.NewProgram(s)
	must.NoError(t, err)
	atEnd(t, func() error { return errors.Join(s.Compute.Synchronize(), s.Comm.Synchronize(), p.Close()) })
	return p, table
}

// run is one step in a mode.
func run(p *Program, m program.Mode) error {
	p.SetMode(m)
	l, err := loop.New(p.Steps(), 1)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.Run(1, 1)
	return err
}

const millisecond = 20000 // iterations of the simulated kernel

func TestProgramModes(t *testing.T) {
	c := openRehearsal(t)
	for _, k := range []struct {
		segments []Segment
		links    []program.Link
		amounts  []uint64
	}{
		{[]Segment{{"forward", []uint64{1}}}, nil, nil},
		{nil, []program.Link{{After: -1, Before: 0}}, []uint64{1}},
		{[]Segment{{"forward 1", []uint64{millisecond, millisecond}}, {"forward 2", []uint64{0, 2 * millisecond}},
			{"backward 2", []uint64{millisecond}}, {"backward 1", []uint64{millisecond}}},
			[]program.Link{{After: -1, Before: 1}, {After: 0, Before: 2}, {After: 2, Before: 4}, {After: 3, Before: 4}},
			[]uint64{4 * millisecond, millisecond, 5 * millisecond, millisecond}},
	} {
		p, _ := testProgram(t, c, k.segments, k.links, k.amounts)
		for range 2 { // runs do not affect each other
			for _, m := range program.Modes {
				must.NoError(t, run(p, m))
				s, err := p.Spans()
				if err != nil || p.Reached().Running {
					t.Fatalf("%s: %v, or the step is over, and runs", m, err)
				}
				checkLengths(t, m, s, k.segments, k.amounts)
				if len(s.Segments) > 1 {
					checkOrder(t, m, s, k.links)
				}
			}
		}
	}
}

// checkLengths checks what ran and how long.
func checkLengths(t *testing.T, m program.Mode, s program.Spans, segments []Segment, amounts []uint64) {
	t.Helper()
	took := func(what string, runs bool, got program.Span, amount uint64) {
		t.Helper()
		if least := int64(amount) * 50; runs && got.End-got.Start < least || !runs && got != (program.Span{}) {
			t.Errorf("%s: %s took %v, wanted %d ns or more: %v", m, what, got, least, runs)
		}
		if got.Start < s.Step.Start || got.End > s.Step.End {
			t.Errorf("%s: %s at %v is outside of the step, %v", m, what, got, s.Step)
		}
	}
	for i, g := range segments {
		amount := uint64(0)
		for _, n := range g.Pieces {
			amount += n
		}
		took(g.Name, m.Computes(), s.Segments[i], amount)
	}
	for i, n := range amounts {
		took(fmt.Sprint("operation ", i), m.Communicates(), s.Ops[i], n)
	}
}

// checkOrder checks the dependencies, and that nothing else waited.
func checkOrder(t *testing.T, m program.Mode, s program.Spans, links []program.Link) {
	t.Helper()
	before := func(what string, a, b int64) {
		t.Helper()
		if a > b {
			t.Errorf("%s: %s: %d ns is after %d ns", m, what, a, b)
		}
	}
	for _, row := range [][]program.Span{s.Segments, s.Ops} {
		for i := 1; i < len(row); i++ {
			before(fmt.Sprint("part ", i, " behind the one before it"), row[i-1].End, row[i].Start)
		}
	}
	switch m {
	case program.Sequential:
		before("communication behind computing", s.Segments[len(s.Segments)-1].End, s.Ops[0].Start)
	case program.Overlapped:
		for i, l := range links {
			if l.After >= 0 {
				before(fmt.Sprint("operation ", i, " behind its segment"), s.Segments[l.After].End, s.Ops[i].Start)
			}
			if l.Before < len(s.Segments) {
				before(fmt.Sprint("the segment behind operation ", i), s.Ops[i].End, s.Segments[l.Before].Start)
			}
		}
		// A segment without dependencies begins at the end of the previous one, even during an operation.
		before("the last segment beside operation 2", s.Segments[3].Start, s.Segments[2].End)
		before("the first segment beside operation 0", s.Segments[0].Start, s.Ops[0].Start)
	}
}

func TestProgramErrors(t *testing.T) {
	segments := []Segment{{"forward", []uint64{1}}, {"backward", []uint64{1}}}
	p, ops := testProgram(t, openRehearsal(t), segments, []program.Link{{After: 0, Before: 2}, {After: 1, Before: 2}},
		[]uint64{1, 1})
	wanted := func(what string) {
		t.Helper()
		var step *loop.StepError
		if err := run(p, program.Overlapped); !errors.As(err, &step) {
			t.Fatalf("the run ends with %v", err)
		}
		if err := p.Error(step.Code); err == nil || err.Error() != what {
			t.Errorf("the error is %v, wanted %s", err, what)
		}
	}
	ops[1].code = 5
	wanted("operation bucket 1: the library reports 5")
	if !p.Issued() {
		t.Error("it is not known that the operation was not issued")
	}
	ops[1].code = 0
	if r := p.Reached(); !r.Running || r.Segments != 0 || r.Putting != -1 {
		t.Errorf("a step that failed has come to %+v", r)
	}
	ops[2] = testOp{code: 9}
	p.spec.Work.Error = func(code int) error { return fmt.Errorf("no work: %d", code) }
	p.p.work, p.p.work_context = p.p.ops.issue, unsafe.Pointer(&ops[2])
	wanted("segment forward: no work: 9")
	if p.Issued() {
		t.Error("failed work counts as an operation")
	}
}

// TestProgramDriverErrors lets the driver fail at every call of a step.
func TestProgramDriverErrors(t *testing.T) {
	c := open(t)
	s := ProgramSpec{Compute: newStream(t, c), Comm: newStream(t, c), Segments: []Segment{{Name: "forward"}},
		Ops: []Op{{Link: program.Link{After: 0, Before: 1}}}}
	p, err := c.NewProgram(s)
	must.NoError(t, err)
	defer p.Close()
	for _, try := range []struct {
		fail   string
		mode   program.Mode
		wanted string
	}{
		{"cuEventRecord=400", program.Compute, "cuEventRecord at the beginning of the step: "},
		{"cuStreamQuery=1", program.Compute, "cuStreamQuery of the computing stream: CUDA_ERROR_INVALID_VALUE (1)"},
		// the fake driver has none
		{"", program.Comm, "cuStreamWaitEvent before the beginning of the step: CUDA_ERROR_NOT_SUPPORTED (801)"},
	} {
		t.Setenv("FAKE_CUDA_FAIL", try.fail)
		var step *loop.StepError
		if err := run(p, try.mode); !errors.As(err, &step) {
			t.Fatalf("%s: the run ends with %v", try.fail, err)
		}
		if err := p.Error(step.Code); err == nil || !strings.HasPrefix(err.Error(), try.wanted) {
			t.Errorf("%s: the error is %v", try.fail, err)
		}
	}
	t.Setenv("FAKE_CUDA_FAIL", "")
	test.NoError(t, errors.Join(s.Compute.Synchronize(), s.Comm.Synchronize()))
}

func TestCalibrate(t *testing.T) {
	s := newStream(t, openRehearsal(t))
	r, err := s.Calibrate(newFMA(t, s).Work())
	must.NoError(t, err)
	// The modelled time of an iteration; a busy machine makes it longer.
	if r.Each < 25e-9 || r.Fixed < 0 {
		t.Errorf("the rate is %+v", r)
	}
}

func TestAmounts(t *testing.T) {
	pieces := func(n int, seconds float64) (p []float64) {
		for range n {
			p = append(p, seconds)
		}
		return p
	}
	for _, r := range []Rate{{Each: 30e-6}, {Each: 50e-9, Fixed: 2e-6}, {Each: 1e-3}} {
		segments := [][]float64{pieces(161, 124e-6), pieces(3, 0), pieces(7, 10e-6), pieces(100, 248e-6)}
		asked, got := 0.0, 0.0
		for i, amounts := range r.Amounts(segments) {
			for k, n := range amounts {
				asked += segments[i][k]
				got += r.Seconds(n)
				if math.Abs(got-asked) > r.Each/2+r.Fixed+1e-12 {
					t.Fatalf("%+v: after piece %d of segment %d %g s are computed, %g s were asked for", r, k, i, got,
						asked)
				}
			}
		}
	}
	if got := (Rate{Each: 1e-3}).Amounts([][]float64{pieces(8, 0.25e-3)}); !slices.Equal(got[0],
		[]uint64{0, 1, 0, 0, 0, 1, 0, 0}) {
		t.Errorf("pieces of a quarter of a unit get %v", got[0])
	}
}
