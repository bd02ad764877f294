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
