package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"
)

// publicTraces are traces that lie beside the repository where it is developed; none of them is part of it.
const publicTraces = "../../shared/examples/traces"

// What is printed of public traces fits a terminal.
func TestPublicTimelinesFitATerminal(t *testing.T) {
	for _, path := range needs.Examples(t, filepath.Join(publicTraces, "*", "*.*z")) {
		if strings.Contains(path, "unavailable") || strings.HasSuffix(path, ".tar.gz") {
			continue // nothing ran on a GPU in it, or an archive, which is not read
		}
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{"timeline", path}, &stdout, &stderr); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, line := range strings.Split(stdout.String(), "\n") {
			if len([]rune(line)) > 100 && !strings.Contains(line, publicTraces) {
				t.Errorf("%s: %d columns: %s", path, len([]rune(line)), line)
			}
		}
	}
}
