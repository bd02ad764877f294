package sweeps

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"busbar/internal/coll"
)

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"mine.yaml", "mine", "quick"} {
		if err := os.WriteFile(name, []byte("sizes: 8\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for given, want := range map[string]string{"mine.yaml": "mine", "mine": "mine", "./quick": "quick"} {
		s, err := Load(given)
		if err != nil || s.Name != want || s.Source != "sizes: 8\n" || s.Origins()["sizes"] != given+":1" {
			t.Errorf("%s: got %+v, %v", given, s, err)
		}
	}
	if s, err := Load("quick"); err != nil || len(s.Parts) < 2 {
		t.Errorf("a file hides the sweep of its name: %+v, %v", s, err)
	}
}

func TestReadErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	var word *coll.UnknownWordError
	if _, err := Load("profil"); !errors.As(err, &word) || word.Nearest != "profile" ||
		!strings.Contains(err.Error(), "./my.yaml") {
		t.Errorf("profil: %v", err)
	}
	for name, want := range map[string]string{"quick.yaml": `is called "quick"`, "no/profile": `is called "profile"`,
		"no.yaml": "no.yaml", "no/such": "no/such"} {
		if _, err := Load(name); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load("."); err == nil {
		t.Error("a folder was read")
	}
}
