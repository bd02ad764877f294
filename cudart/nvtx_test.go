//go:build cgo

package cudart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/dl"
)

func TestNVTX(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "tool.so")
	if err := compile(tool, "testdata/fake/nvtx.c"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NVTX_INJECTION64_PATH", tool)
	n, err := LoadNVTX()
	if err != nil {
		t.Fatal(err)
	}
	n.Push("all_reduce 8 B")
	n.Push("warm-up")
	n.Pop()
	n.Pop()
	lib, err := dl.Open(dl.Spec{Name: "tool", Candidates: []string{tool}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := lib.Symbol("fake_nvtx_log")
	if err != nil {
		t.Fatal(err)
	}
	log, _, _ := strings.Cut(string(unsafe.Slice((*byte)(p), 256)), "\x00")
	if want := "all_reduce 8 B(warm-up())"; log != want {
		t.Errorf("the tool got %q, want %q", log, want)
	}
}

func TestNoNVTX(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"int x;", "InitializeInjectionNvtx2"},
		{"int InitializeInjectionNvtx2(void *f) { return f == 0; }", "declined"},
	} {
		dir := t.TempDir()
		source, tool := filepath.Join(dir, "tool.c"), filepath.Join(dir, "tool.so")
		if err := os.WriteFile(source, []byte(c.source), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := compile(tool, source); err != nil {
			t.Fatal(err)
		}
		t.Setenv("NVTX_INJECTION64_PATH", tool)
		if _, err := LoadNVTX(); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), tool) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	t.Setenv("NVTX_INJECTION64_PATH", "/nowhere/tool.so")
	if _, err := LoadNVTX(); err == nil || !strings.Contains(err.Error(), "NVTX_INJECTION64_PATH") ||
		!strings.Contains(err.Error(), "/nowhere/tool.so") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	t.Setenv("NVTX_INJECTION64_PATH", "")
	n, err := LoadNVTX()
	if n != nil || err != nil {
		t.Errorf("without a tool: %v, %v", n, err)
	}
	n.Push("nothing")
	n.Pop()
}
