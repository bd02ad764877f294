package launch

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/shoenig/test/must"
)

func TestBuildIdentity(t *testing.T) {
	own := BuildIdentity()
	must.RegexMatch(t, regexp.MustCompile(`^[0-9a-f]{16}$`), own)
	exe, err := os.ReadFile("/proc/self/exe")
	must.NoError(t, err)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{"copy": {exe, own}, "no program": {[]byte("a"), "unknown"}} {
		path := filepath.Join(dir, name)
		must.NoError(t, os.WriteFile(path, c.content, 0o755))
		must.EqOp(t, c.want, identityOf(path))
	}
}
