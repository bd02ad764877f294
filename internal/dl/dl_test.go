//go:build cgo

package dl

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestOpenUsesFirstLoadable(t *testing.T) {
	so := needs.SharedLibrary(t, "libx.so", "int answer = 42;", "-Wl,--build-id=0xabcdef0123")
	link := filepath.Join(filepath.Dir(so), "link.so")
	must.NoError(t, os.Symlink(so, link))
	l, err := Open(Spec{Name: "x", Candidates: []string{"", "/nowhere/libx.so", link}})
	must.NoError(t, err)
	test.EqOp(t, so, l.Path())
	test.EqOp(t, "abcdef0123", l.BuildID())
	p, err := l.Symbol("answer")
	if err != nil || *(*int32)(p) != 42 {
		t.Errorf("symbol answer: %v %v", p, err)
	}
	_, err = l.Symbol("question")
	var missing *SymbolError
	if !errors.As(err, &missing) || missing.Symbol != "question" || missing.Library != so ||
		!strings.Contains(missing.Text, "undefined symbol") {
		t.Errorf("missing symbol: %v", err)
	}
}

func TestOpenByName(t *testing.T) {
	l, err := Open(Spec{Name: "the maths library", Candidates: []string{"libm.so.6"}})
	must.NoError(t, err)
	if !filepath.IsAbs(l.Path()) {
		t.Errorf("path %q is not absolute", l.Path())
	}
}

func TestOpenErrorListsPaths(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	must.NoError(t, os.WriteFile(text, []byte("no library"), 0o644))
	undefined := needs.SharedLibrary(t, "libx.so",
		"int missing_function(void); int f(void) { return missing_function(); }")
	t.Chdir(dir)
	_, err := Open(Spec{Name: "the widget", Candidates: []string{"/nowhere/liba.so", "libno-such.so.9", "./text.so",
		undefined}})
	var missing *LoadError
	if !errors.As(err, &missing) || len(missing.Tried) != 4 {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"the widget", "/nowhere/liba.so: cannot open shared object file",
		"libno-such.so.9: cannot open", text + ": ", "missing_function"} {
		test.ErrorContains(t, err, want)
	}
	if strings.Count(err.Error(), "/nowhere/liba.so") != 1 {
		t.Errorf("a place is named twice:\n%s", err)
	}
}

func TestGlobal(t *testing.T) {
	user := needs.SharedLibrary(t, "libx.so",
		"extern int shared_by_busbar_test; int f(void) { return shared_by_busbar_test; }")
	owner := needs.SharedLibrary(t, "libx.so", "int shared_by_busbar_test = 1;")
	_, err := Open(Spec{Name: "owner", Candidates: []string{owner}})
	must.NoError(t, err)
	_, err = Open(Spec{Name: "user", Candidates: []string{user}})
	must.Error(t, err)
	_, err = Open(Spec{Name: "owner", Candidates: []string{owner}, Global: true})
	must.NoError(t, err)
	_, err = Open(Spec{Name: "user", Candidates: []string{user}})
	test.NoError(t, err)
}

func TestBuildID(t *testing.T) {
	without := needs.SharedLibrary(t, "libx.so", "int x;", "-Wl,--build-id=none")
	for _, path := range []string{without, "/nowhere", os.DevNull, "/proc/self/maps"} {
		test.EqOp(t, "", BuildID(path), test.Sprint(path))
	}
}

func TestBuildIDInvalidNotes(t *testing.T) {
	f := &elf.File{FileHeader: elf.FileHeader{ByteOrder: binary.LittleEndian}}
	note := func(nameSize, size, kind uint32, rest string) []byte {
		b := binary.LittleEndian.AppendUint32(nil, nameSize)
		b = binary.LittleEndian.AppendUint32(b, size)
		return append(binary.LittleEndian.AppendUint32(b, kind), rest...)
	}
	other := note(4, 2, 1, "GNU\x00ab\x00\x00")
	for _, c := range []struct {
		notes []byte
		want  string
	}{
		{nil, ""},
		{note(4, 2, 3, "GNU\x00\x01\xff\x00\x00"), "01ff"},
		{append(other, note(4, 2, 3, "GNU\x00\x01\xff\x00\x00")...), "01ff"},
		{note(4, 200, 3, "GNU\x00\x01\xff"), ""},
		{note(0xffffffff, 2, 3, "GNU\x00"), ""},
		{note(4, 2, 3, "GNX\x00\x01\xff\x00\x00"), ""},
	} {
		test.EqOp(t, c.want, gnuBuildID(c.notes, f), test.Sprint(c.notes))
	}
}
