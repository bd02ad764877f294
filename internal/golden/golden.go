// Package golden is for tests that compare what they got with a file in testdata. With -update they write it anew, to
// be looked at in the diff.
package golden

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Update reports whether -update is set.
func Update() bool { return *update }

// Text compares got with the file at path.
func Text(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatalf("%v", err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew); got\n%s", path, got)
	}
}
