package needs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/shoenig/test/must"
)

// A spy is a test whose end is looked at.
type spy struct {
	testing.TB
	skipped, failed string
}

func (s *spy) Helper() {}

func (s *spy) Skip(args ...any) {
	s.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}

func (s *spy) Fatalf(format string, args ...any) {
	s.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	must.NoError(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o755))
	const missing = "there is no thing on PATH: scripts ask with it"
	const whole = missing + " (BUSBAR_TEST_WHOLE is set: nothing may be missing here)"
	file := filepath.Join(dir, "*.so")
	beside := filepath.Join(dir, examplesFolder)
	must.NoError(t, os.MkdirAll(beside, 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(beside, "a.log"), nil, 0o644))
	none := filepath.Join(dir, "elsewhere", examplesFolder)
	for _, c := range []struct {
		what            string
		whole           string
		want            func(testing.TB)
		skipped, failed string
	}{
		{"program that is there", "1", func(t testing.TB) { Command(t, "tool", "") }, "", ""},
		{"program", "", func(t testing.TB) { Command(t, "thing", "scripts ask with it") }, missing, ""},
		{"program, whole", "1", func(t testing.TB) { Command(t, "thing", "scripts ask with it") }, "", whole},
		{"file that is there", "1", func(t testing.TB) { File(t, filepath.Join(dir, "to*"), "") }, "", ""},
		{"file", "", func(t testing.TB) { File(t, file, "make makes it") }, "there is no " + file + ": make makes it",
			""},
		{"example that is there", "1", func(t testing.TB) { Examples(t, filepath.Join(beside, "*.log")) }, "", ""},
		{"example without its folder", "1", func(t testing.TB) {
			Examples(t, filepath.Join(none, "*.log"))
		}, "files of other people are no part of this repository, and there is no folder of them: " + none, ""},
		{"example that is gone", "", func(t testing.TB) {
			Examples(t, filepath.Join(beside, "b.log"))
		}, "", "there is no " + filepath.Join(beside, "b.log")},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Setenv(Whole, c.whole)
			s, done := &spy{TB: t}, make(chan struct{})
			go func() {
				defer close(done)
				c.want(s)
			}()
			<-done
			if s.skipped != c.skipped || s.failed != c.failed {
				t.Errorf("skipped %q, failed %q; want %q, %q", s.skipped, s.failed, c.skipped, c.failed)
			}
		})
	}
}
