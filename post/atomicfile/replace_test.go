package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// An unreadable file may not be a report, and is kept.
func TestUnreadableNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.md")
	if err := mayReplace(path, "post, busbar"); err != nil {
		t.Errorf("missing file: %v", err)
	}
	if err := os.Symlink("report.md", path); err != nil { // a link to itself, which not even root can open
		t.Fatal(err)
	}
	if err := mayReplace(path, "post, busbar"); err == nil {
		t.Error("an unreadable file may be replaced")
	}
}
