//go:build cgo

package nccl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/operation"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// The passed structure is the shortest that contains the set fields, and nothing else.
func TestConfig(t *testing.T) {
	f := load(t)
	id, err := f.NewID()
	must.NoError(t, err)
	for _, k := range []struct {
		cfg           Config
		size, version int
		fields        string
	}{
		{Config{}, 0, 0, ""},
		{Config{MinCTAs: 2, MaxCTAs: 8}, 40, 21700, "minCTAs=2 maxCTAs=8"},
		{Config{MinCTAs: 4}, 40, 21700, "minCTAs=4 maxCTAs=1024"},
		{Config{MinCTAs: 2000}, 40, 21700, "minCTAs=2000 maxCTAs=2000"},
		{Config{CTAPolicy: 2}, 72, 22700, "CTAPolicy=2"},
	} {
		text, calls := "no ncclConfig_t: the library's defaults", "ncclCommInitRank(1 of 2)"
		if k.size != 0 {
			k.fields = "blocking=1 " + k.fields
			text = fmt.Sprintf("ncclConfig_t (%d bytes, version %d): %s", k.size, k.version, k.fields)
			calls = fmt.Sprintf("ncclCommInitRankConfig(1 of 2)\nconfig size %d magic cafebeef version %d\n  %s",
				k.size,
				k.version, strings.NewReplacer("=", " ", " ", "\n  ").Replace(k.fields))
		}
		test.EqOp(t, text, k.cfg.String())
		c, err := f.Init(2, 1, id, k.cfg)
		if err != nil {
			t.Fatalf("%s: %v", k.cfg, err)
		}
		f.wants(calls, "id whole")
		test.NoError(t, c.Close())
		f.calls()
	}
}

// A field that the library would ignore is an error; otherwise the record would be wrong.
func TestConfigRejectsIgnoredField(t *testing.T) {
	f := load(t, "-DMSCCLPP")
	var lacks *operation.UnsupportedError
	if _, err := f.Init(1, 0, ID{}, Config{MinCTAs: 1}); !errors.As(err, &lacks) ||
		!strings.Contains(err.Error(), "minCTAs=1") {
		t.Errorf("MSCCL++: %v", err)
	}
	f = load(t)
	for _, k := range []struct {
		without func()
		cfg     Config
	}{
		{func() { f.Library.t.window_register = nil }, Config{CTAPolicy: 1}},
		{func() { f.Library.t.split = nil }, Config{MaxCTAs: 1}},
	} {
		k.without()
		if _, err := f.Init(1, 0, ID{}, k.cfg); !errors.As(err, &lacks) ||
			!strings.Contains(err.Error(), "older than "+k.cfg.String()) {
			t.Errorf("%s: %v", k.cfg, err)
		}
	}
}

// A communicator is usable once it is no longer in progress (NCCL_COMM_BLOCKING=0).
func TestInitInProgress(t *testing.T) {
	f := load(t)
	f.set(polls, 5)
	c := f.comm(1, 3, Config{})
	test.EqOp(t, 0, f.left(polls))
	f.set(polls, 1)
	test.NoError(t, c.AsyncError())
	f.set(polls, 2)
	f.set(state, 6)
	var e *Error
	if _, err := f.Init(2, 0, ID{}, Config{}); !errors.As(err, &e) || e.Name != "ncclRemoteError" {
		t.Errorf("an error after a while: %v", err)
	}
	if calls := f.calls(); !strings.HasSuffix(calls, "ncclCommAbort") {
		t.Errorf("the rest of a communicator is not aborted:\n%s", calls)
	}
}

// The communicator reports its GPU, if the library has the function.
func TestDevice(t *testing.T) {
	f := load(t)
	c := f.comm(1, 2, Config{})
	if ordinal, err := c.Device(); ordinal != 11 || err != nil {
		t.Errorf("%d, %v", ordinal, err)
	}
	f.set(result, 4)
	var e *Error
	if _, err := c.Device(); !errors.As(err, &e) || e.Op != "ncclCommCuDevice" {
		t.Errorf("error %v", err)
	}
	f.Library.t.comm_device = nil
	var lacks *operation.UnsupportedError
	if _, err := c.Device(); !errors.As(err, &lacks) {
		t.Errorf("without the function: %v", err)
	}
}

func TestErrors(t *testing.T) {
	f := load(t)
	f.set(result, 1)
	_, err := f.Init(2, 0, ID{}, Config{})
	var e *Error
	if !errors.As(err, &e) || e.Op != "ncclCommInitRank" || e.Code != 1 || e.Name != "ncclUnhandledCudaError" ||
		e.Text != "unhandled cuda error" || e.Last != "the last words\nof a communicator" {
		t.Errorf("error %#v", err)
	}
	test.EqError(t, err, "ncclCommInitRank failed: unhandled cuda error (ncclUnhandledCudaError, result 1): "+
		"the last words; of a communicator")
	f.set(result, 77)
	if _, err := f.NewID(); !errors.As(err, &e) || e.Name != "(77)" || e.Last != "the last words" {
		t.Errorf("an unknown result: %v", err)
	}
	for flag, unsupported := range map[string][]int{"-DNCCLX": {4}, "-DMSCCLPP": {3, 4, 5}} {
		f := load(t, flag)
		for _, code := range []int{1, 3, 4, 5} {
			f.set(result, int32(code))
			if _, err := f.NewID(); !errors.As(err, &e) || e.Unsupported() != slices.Contains(unsupported, code) {
				t.Errorf("%s, result %d: unsupported %t", flag, code, e.Unsupported())
			}
		}
	}
}

func TestCallsAfterDestroy(t *testing.T) {
	f := load(t)
	for name, end := range map[string]func(*Comm) error{"closed": (*Comm).Close, "aborted": (*Comm).Abort} {
		c := f.comm(0, 1, Config{})
		registered, err := c.Register(0x1000, 64, false)
		must.NoError(t, err)
		spec := f.allReduce()
		spec.Op = coll.MulSum
		o, err := c.Prepare(spec)
		must.NoError(t, err)
		must.NoError(t, end(c))
		f.calls()
		_, prepare := c.Prepare(spec)
		_, register := c.Register(1, 1, true)
		for _, err := range []error{c.Abort(), c.AsyncError(), prepare, register} {
			test.ErrorIs(t, err, ErrClosed, test.Sprint(name))
		}
		c.Interrupt()
		test.NoError(t, errors.Join(c.Close(), o.Close(), o.Close(), registered.Close()), test.Sprint(name))
		f.wants() // a closed communicator is not called
	}
}
