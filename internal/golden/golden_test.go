package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
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
	if err := os.WriteFile(path, []byte("as it was\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fails := func(got string) string {
		s := &spy{TB: t}
		Text(s, path, got)
		return s.failed
	}
	if said := fails("as it was\n"); said != "" {
		t.Error(said)
	}
	if said, want := fails("as it is\n"), path+" differs (-update writes it anew); got\nas it is\n"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
	defer func(before bool) { *update = before }(*update)
	*update = true
	if said := fails("as it is\n"); said != "" {
		t.Error(said)
	}
	*update = false
	if said := fails("as it is\n"); said != "" {
		t.Error("-update has not written it:", said)
	}
}
