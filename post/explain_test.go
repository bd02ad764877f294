package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/notice"
)

// The page of all codes is made from the catalogue; -update writes it anew.
func TestNoticesPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Notices

Each warning, finding and problem has a code that never changes; its wording may. ` + "`post explain CODE`" + ` prints the same as this
page, which is made from the catalogue (internal/notice). Parameters are in base units: bytes, seconds, bytes per second, and
shares and ratios as numbers.
`)
	for _, e := range notice.Entries() {
		fmt.Fprintf(&b, "\n## `%s`\n\n%s. %s\n\n", e.Code(), severities[e.Severity], e.Meaning())
		sentences := append([]string{notice.Message(e.Example) + "."}, notice.Details(e.Example)...)
		fmt.Fprintf(&b, "> %s\n", strings.Join(sentences, " "))
		if todo := notice.ToDo(e.Example); todo != "" {
			fmt.Fprintf(&b, "\nAdvice: %s\n", todo)
		}
		if names := parameters(e.Example); names != nil {
			fmt.Fprintf(&b, "\nParameters: `%s`.\n", strings.Join(names, "`, `"))
		}
		if e.Source != "" {
			fmt.Fprintf(&b, "\nSource: %s.\n", e.Source)
		}
	}
	path := filepath.Join("..", "docs", "reference", "notices.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	golden.Text(t, path, b.String())
}

var severities = map[notice.Severity]string{notice.Info: "Info", notice.Warning: "Warning", notice.Error: "Error"}
