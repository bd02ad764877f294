package launch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestBuildIdentity(t *testing.T) {
	own := BuildIdentity()
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(own) || own != BuildIdentity() {
		t.Errorf("identity %q, then %q", own, BuildIdentity())
	}
	// A copy is the same build wherever it lies.
	exe, err := os.ReadFile("/proc/self/exe")
	must.NoError(t, err)
	dir := t.TempDir()
	for name, content := range map[string][]byte{"copy": exe, "longer": append(slices.Clone(exe), "x"...),
		"a": []byte("a"), "b": []byte("b"), "empty": nil} {
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o755))
	}
	seen := map[string]string{own: "this program"}
	for _, name := range []string{"copy", "longer"} { // the linker's note counts, the file is not read to its end
		test.EqOp(t, own, identityOf(filepath.Join(dir, name)), test.Sprint(name))
	}
	for _, name := range []string{"a", "b", "empty"} {
		got := identityOf(filepath.Join(dir, name))
		if seen[got] != "" {
			t.Errorf("%s has the identity of %s", name, seen[got])
		}
		seen[got] = name
	}
	test.EqOp(t, "unknown", identityOf(filepath.Join(dir, "none")))
}
