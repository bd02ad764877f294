//go:build cgo

package cudart

import (
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestNVTX(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "tool.so")
	must.NoError(t, compile(tool, "testdata/fake/nvtx.c"))
	t.Setenv("NVTX_INJECTION64_PATH", tool)
	n, err := LoadNVTX()
	must.NoError(t, err)
	n.Push("all_reduce 8 B")
	n.Push("warm-up")
	n.Pop()
	n.Pop()
	p := symbol(t, tool, "fake_nvtx_log")
	log, _, _ := strings.Cut(string(unsafe.Slice((*byte)(p), 256)), "\x00")
	test.EqOp(t, "all_reduce 8 B(warm-up())", log)
}

func TestNoNVTX(t *testing.T) {
	declines := filepath.Join(t.TempDir(), "declines.so")
	write(t, declines+".c", "int InitializeInjectionNvtx2(void *f) { return f == 0; }")
	must.NoError(t, compile(declines, declines+".c"))
	for tool, want := range map[string]string{declines: "declined", fakeDriver: "InitializeInjectionNvtx2",
		"/nowhere/tool.so": "NVTX_INJECTION64_PATH"} {
		t.Setenv("NVTX_INJECTION64_PATH", tool)
		if _, err := LoadNVTX(); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), tool) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	t.Setenv("NVTX_INJECTION64_PATH", "")
	n, err := LoadNVTX()
	if n != nil || err != nil {
		t.Errorf("without a tool: %v, %v", n, err)
	}
	n.Push("nothing")
	n.Pop()
}
