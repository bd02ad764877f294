package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shoenig/test"
)

// An unreadable file may not be a report, and is kept.
func TestUnreadableNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.md")
	test.NoError(t, mayReplace(path, "post, busbar"))
	if err := os.Symlink("report.md", path); err != nil { // a link to itself, which not even root can open
		t.Fatal(err)
	}
	if err := mayReplace(path, "post, busbar"); err == nil {
		t.Error("an unreadable file may be replaced")
	}
}
