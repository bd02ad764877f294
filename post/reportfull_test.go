package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What cannot be read is not known to be a report, and stays.
func TestUnreadableIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), textName)
	if err := mayReplace(path); err != nil {
		t.Errorf("nothing is there: %v", err)
	}
	if err := os.Symlink(textName, path); err != nil { // a link to itself, which not even root can open
		t.Fatal(err)
	}
	if err := mayReplace(path); err == nil {
		t.Error("what cannot be opened may be replaced")
	}
}
