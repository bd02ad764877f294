package launch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

func TestBuildIdentity(t *testing.T) {
	own := BuildIdentity()
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(own) || own != BuildIdentity() {
		t.Errorf("identity %q, then %q", own, BuildIdentity())
	}
	// A copy is the same build wherever it lies.
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"copy": exe, "longer": append(slices.Clone(exe), "x"...),
		"a": []byte("a"), "b": []byte("b"), "empty": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]string{own: "this program"}
	for _, name := range []string{"copy", "longer"} { // the linker's note counts, the file is not read to its end
		if got := identityOf(filepath.Join(dir, name)); got != own {
			t.Errorf("%s is %s, the original %s", name, got, own)
		}
	}
	for _, name := range []string{"a", "b", "empty"} {
		got := identityOf(filepath.Join(dir, name))
		if seen[got] != "" {
			t.Errorf("%s has the identity of %s", name, seen[got])
		}
		seen[got] = name
	}
	if got := identityOf(filepath.Join(dir, "none")); got != "unknown" {
		t.Errorf("a missing file is %q", got)
	}
}
