//go:build cgo

package nccl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestBuiltFor(t *testing.T) {
	for _, k := range []struct{ text, want string }{
		{"NCCL version 2.27.7+cuda12.9", "12.9"},
		{"NCCL version %d\\0NCCL version 2.30.3+cuda13.0\\n", "13.0"},
		{"NCCL version 2.27.7", ""},
		{"nothing", ""},
	} {
		f := load(t, `-DTEXT="`+k.text+`"`)
		test.EqOp(t, k.want, f.Info().CUDA, test.Sprint(k.text))
	}
	text := filepath.Join(t.TempDir(), "text")
	must.NoError(t, os.WriteFile(text, []byte("NCCL version 2.27.7+cuda12.9"), 0o644))
	for _, path := range []string{text, "/nowhere"} {
		test.EqOp(t, "", builtFor(path), test.Sprint(path))
	}
}

func TestUnsupported(t *testing.T) {
	for _, k := range []struct {
		cuda         string
		major, minor int
		unserved     bool
	}{{"12.9", 7, 0, false}, {"13.0", 7, 0, true}, {"13.4", 6, 1, true}, {"13.0", 7, 5, false}, {"13.0", 9, 0, false},
		{"", 7, 0, false}, {"14.1", 7, 2, true}} {
		why := Info{Name: NameNCCL, Version: "2.32.3", Path: "/x/libnccl.so.2", CUDA: k.cuda}.Unserved(k.major, k.minor)
		if (why != "") != k.unserved || k.unserved &&
			(!strings.Contains(why, "CUDA "+k.cuda) || !strings.Contains(why, "nvidia-nccl-cu12")) {
			t.Errorf("%+v: %q", k, why)
		}
	}
}
