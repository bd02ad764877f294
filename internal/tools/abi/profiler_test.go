package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compile makes a shared library of a text in C.
func compile(t *testing.T, name, text string) string {
	t.Helper()
	source, library := filepath.Join(t.TempDir(), name+".c"), filepath.Join(t.TempDir(), name+".so")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return library
}

func TestProfilerInterfaces(t *testing.T) {
	old := compile(t, "old", `const char *a(void) { return "nothing of it"; }`)
	six := compile(t, "six",
		`const char *a(void) { return "ncclProfiler_v4"; } const char *b(void) { return "ncclProfiler_v6"; } const char *c(void) { return "ncclProfiler_version"; }`)
	next := compile(t, "next", `const char *a(void) { return "ncclProfiler_v6 ncclProfiler_v17"; }`)
	later := compile(t, "later", `const char *a(void) { return "ncclProfiler_v17"; }`)
	plugin := compile(t, "plugin",
		`int ncclProfiler_v1, ncclProfiler_v6; extern int ncclProfiler_v17; int *needs(void) { return &ncclProfiler_v17; }`)
	for _, k := range []struct {
		library, plugin string
		code            int
		row, wrong      string
	}{
		{old, plugin, 22203, "none", ""},
		{old, plugin, 22304, "none", "has had since 2.23"},
		{six, plugin, 22902, "v6", ""},
		{next, plugin, 23901, "v6 of v17", ""},
		{later, plugin, 23901, "none", "versions [17] of the profiler interface, and the plugin serves [1 6]"},
		{six, "/nowhere.so", 22902, "not read", "make nccl-profiler"},
		{"/nowhere.so", plugin, 22902, "not read", "nowhere.so"},
	} {
		row, err := profiler(k.library, k.plugin, k.code)
		if row != k.row || (err == nil) != (k.wrong == "") || err != nil && !strings.Contains(err.Error(), k.wrong) {
			t.Errorf("%s: %q, %v; wanted %q, %q", filepath.Base(k.library), row, err, k.row, k.wrong)
		}
	}
}
