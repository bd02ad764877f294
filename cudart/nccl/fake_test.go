//go:build cgo

package nccl

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/dl"
	"busbar/internal/loop"
	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// The switches of testdata/fake.c.
const (
	result   = iota // what calls return
	polls           // how often the communicator reports that it is in progress
	state           // the communicator's state afterwards
	notReady        // how often the stream reports that it is not ready; -1: forever
	query           // the stream's state afterwards
	capture         // result of beginning a capture
	noHandle        // registration succeeds without effect
	inGroup         // the end of a group is not the one that reports
	looks           // the mark of a configuration is looked at
	refuses         // the length of a configuration that is refused
)

// build compiles the fake library into a new folder, which it returns.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	return filepath.Dir(needs.SharedLibrary(t, library, "", append([]string{"-Wno-stringop-truncation",
		"-DVERSION=22707", "-I..", "testdata/fake.c"}, flags...)...))
}

// fake is a loaded fake library.
type fake struct {
	*Library
	t      *testing.T
	opened *dl.Library
}

func load(t *testing.T, flags ...string) *fake {
	t.Helper()
	dir := build(t, flags...)
	l, err := Load(Options{Dirs: []string{dir}})
	must.NoError(t, err)
	opened, err := dl.Open(dl.Spec{Candidates: []string{l.Info().Path}})
	must.NoError(t, err)
	return &fake{l, t, opened}
}

func (f *fake) symbol(name string) unsafe.Pointer {
	f.t.Helper()
	p, err := f.opened.Symbol(name)
	must.NoError(f.t, err)
	return p
}

func (f *fake) left(which int) int32 { return (*[16]int32)(f.symbol("fake_set"))[which] }

func (f *fake) set(which int, value int32) {
	(*[16]int32)(f.symbol("fake_set"))[which] = value
}

// calls are those since it was last asked.
func (f *fake) calls() string {
	text := (*[1 << 16]byte)(f.symbol("fake_log"))
	s := string(text[:strings.IndexByte(string(text[:]), 0)])
	text[0] = 0
	return strings.TrimSuffix(s, "\n")
}

func (f *fake) wants(want ...string) {
	f.t.Helper()
	test.EqOp(f.t, strings.Join(want, "\n"), f.calls())
}

// comm returns a rank of a communicator, and clears the log of its creation.
func (f *fake) comm(rank, size int, cfg Config) *Comm {
	f.t.Helper()
	id, err := f.NewID()
	must.NoError(f.t, err)
	c, err := f.Init(size, rank, id, cfg)
	must.NoError(f.t, err)
	f.calls()
	return c
}

// pair is the first of two ranks with a library.
func pair(t *testing.T) (*fake, *Comm) {
	f := load(t)
	return f, f.comm(0, 2, Config{})
}

// placed sets the objects that the fake's operation uses.
func (f *fake) placed(s OpSpec) OpSpec {
	s.Cuda, s.Stream = f.symbol("fake_cuda"), f.symbol("fake_sync_context")
	s.Send, s.Recv = 0x10000, 0x20000
	if s.Type == 0 {
		s.Type = coll.Float32
	}
	if s.Collective.Reduces() && s.Op == 0 {
		s.Op = coll.Sum
	}
	return s
}

// allReduce is a sum of one element.
func (f *fake) allReduce() OpSpec { return f.placed(of(coll.AllReduce)) }

// of is an operation of a collective on one element.
func of(c coll.Collective) (s OpSpec) {
	s.Collective, s.Count = c, 1
	return s
}

// streamless removes the stream's address from a log.
func (f *fake) streamless(log string) string {
	at := fmt.Sprintf(", stream %x", uint32(uintptr(f.symbol("fake_sync_context"))))
	if strings.Count(log, ", stream ") != strings.Count(log, at) {
		f.t.Errorf("another stream in:\n%s", log)
	}
	return strings.ReplaceAll(log, at, "")
}

// once issues one operation and waits for it.
func once(t *testing.T, o *Operation) error { return run(t, o, 1, 1) }

// run issues operations in batches and waits for each; the error is the operation's.
func run(t *testing.T, o *Operation, batches, n int) error {
	t.Helper()
	_, err := stage(t, o, batches, n)
	return err
}

// stage is run, and returns the stage of the error.
func stage(t *testing.T, o *Operation, batches, n int) (loop.Stage, error) {
	t.Helper()
	l, err := loop.New(o.Steps(), batches)
	must.NoError(t, err)
	defer l.Close()
	_, err = l.Run(batches, n)
	var step *loop.StepError
	if errors.As(err, &step) {
		return step.Stage, o.Error(step.Code)
	}
	return loop.Idle, err
}
