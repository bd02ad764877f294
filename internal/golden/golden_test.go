package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// A spy is a test whose failure is looked at.
type spy struct {
	testing.TB
	failed string
}

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) { s.failed = fmt.Sprintf(format, args...) }

func TestText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	must.NoError(t, os.WriteFile(path, []byte("as it was\n"), 0o644))
	fails := func(got string) string {
		s := &spy{TB: t}
		Text(s, path, got)
		return s.failed
	}
	test.EqOp(t, "", fails("as it was\n"))
	test.EqOp(t, path+" differs (-update writes it anew); got\nas it is\n", fails("as it is\n"))
	defer func(before bool) { *update = before }(*update)
	*update = true
	test.EqOp(t, "", fails("as it is\n"))
	*update = false
	test.EqOp(t, "", fails("as it is\n"))
}

func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	must.NoError(t, os.WriteFile(path, []byte("a | old\nb | 1 0.5\nb | 2\n"), 0o644))
	fails := func(what string, got ...string) bool {
		s := &spy{TB: t}
		Lines(s, path, what, got)
		return s.failed != ""
	}
	test.False(t, fails("b", "1 0.5", "2") || fails("c"))
	test.True(t, fails("b", "2", "1 0.5") && fails("b", "2") && fails("a") && fails("a", "new"))
	defer func(before bool) { *update = before }(*update)
	*update = true
	test.False(t, fails("a", "new", "1.1234567899"))
	test.FileContains(t, path, "a | new\na | 1.123456789\nb | 1 0.5\nb | 2\n")
}
