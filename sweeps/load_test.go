package sweeps

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test/must"
)

// load calls Read and Parse.
func load(nameOrPath string) (*Sweep, error) {
	file, text, err := Read(nameOrPath)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"mine.yaml", "mine", "quick"} {
		must.NoError(t, os.WriteFile(name, []byte("sizes: 8\n"), 0o600))
	}
	for given, want := range map[string]string{"mine.yaml": "mine", "mine": "mine", "./quick": "quick"} {
		s, err := load(given)
		if err != nil || s.Name != want || s.Source != "sizes: 8\n" || s.Origins()["sizes"] != given+":1" {
			t.Errorf("%s: got %+v, %v", given, s, err)
		}
	}
	if s, err := load("quick"); err != nil || len(s.Parts) < 2 {
		t.Errorf("a file hides the sweep of its name: %+v, %v", s, err)
	}
	var word *coll.UnknownWordError
	if _, err := load("profil"); !errors.As(err, &word) || word.Nearest != "profile" {
		t.Errorf("profil: %v", err)
	}
	for _, name := range []string{"quick.yaml", "no/profile"} {
		if _, err := load(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
