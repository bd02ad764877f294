//go:build cgo

package nccl

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/dl"
	"busbar/internal/operation"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestInfo(t *testing.T) {
	for _, k := range []struct {
		name, version string
		flags         []string
	}{
		{NameNCCL, "2.27.7", nil},
		{NameNCCL, "2.8.4", []string{"-UVERSION", "-DVERSION=2804"}},
		{NameNCCLX, "2.27.7", []string{"-DNCCLX"}},
		{NameMSCCLPP, "0.9.0", []string{"-UVERSION", "-DVERSION=900", "-DMSCCLPP"}},
		{NameRehearsal, "2.27.7", []string{"-DREHEARSAL", "-DNCCLX"}},
	} {
		f := load(t, append(k.flags, "-Wl,--build-id=0xabcdef")...)
		i := f.Info()
		if i.Name != k.name || i.Version != k.version || i.BuildID != "abcdef" || filepath.Base(i.Path) != library ||
			i.Missing != nil {
			t.Errorf("%+v, wanted %s %s", i, k.name, k.version)
		}
		test.EqOp(t, k.name == NameRehearsal, i.Rehearsed, test.Sprint(i.Name))
		f.Phase("init")
		if i.Rehearsed {
			f.wants("phase init")
		}
	}
}

func TestParameters(t *testing.T) {
	if got := load(t).Parameters(); !maps.Equal(got, map[string]string{"NCCL_DEBUG": "WARN", "NCCL_ALGO": ""}) {
		t.Errorf("parameters %v", got)
	}
	if got := load(t, "-DMINIMAL").Parameters(); got != nil {
		t.Errorf("parameters %v of a library that does not report them", got)
	}
}

// A library with only the required symbols reports operations that need others as unsupported.
func TestMinimalLibrary(t *testing.T) {
	f := load(t, "-DMINIMAL")
	for _, name := range []string{"ncclSend", "ncclAlltoAll", "ncclParamGetParameter"} {
		test.SliceContainsOp(t, f.Info().Missing, name)
	}
	for _, name := range []string{"ncclAllReduce", "ncclAllToAll", "busbar_rehearsal_version"} {
		if slices.Contains(f.Info().Missing, name) {
			t.Errorf("%s is in %v", name, f.Info().Missing)
		}
	}
	c := f.comm(0, 2, Config{})
	lacks := func(function string, err error) {
		t.Helper()
		var e *operation.UnsupportedError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), function) ||
			!strings.Contains(err.Error(), f.Info().Path) {
			t.Errorf("%s: %v", function, err)
		}
	}
	_, err := f.Init(2, 0, ID{}, Config{MinCTAs: 1})
	lacks("ncclCommInitRankConfig", err)
	_, err = f.MemAlloc(1)
	lacks("ncclMemAlloc", err)
	_, err = c.Register(1, 1, false)
	lacks("ncclCommRegister", err)
	_, err = c.Register(1, 1, true)
	lacks("ncclCommWindowRegister", err)
	lacks("ncclCommAbort", c.Abort())
	for _, collective := range coll.Collectives()[1:] {
		_, err := c.Prepare(f.placed(of(collective)))
		lacks(functions[collective], err)
	}
	spec := f.allReduce()
	spec.Op = coll.MulSum
	_, err = c.Prepare(spec)
	lacks("ncclRedOpCreatePreMulSum", err)
	o, err := c.Prepare(f.allReduce())
	must.NoError(t, err)
	test.NoError(t, errors.Join(once(t, o), c.AsyncError(), o.Close(), c.Close()))
}

func TestNotUsable(t *testing.T) {
	for want, k := range map[string]struct {
		flag  string
		ncclx bool
	}{
		"lacks ncclGetVersion":      {"-DNO_VERSION", false},
		"is NCCL 2.27.7, not NCCLX": {"-DPLAIN", true},
		"":                          {"-DNCCLX", true},
	} {
		_, err := Load(Options{Dirs: []string{build(t, k.flag)}, NCCLX: k.ncclx})
		var failed *dl.LoadError
		if (want != "") != errors.As(err, &failed) || want != "" && !strings.Contains(failed.Problem, want) {
			t.Errorf("%q: error %v", want, err)
		}
	}
}

func TestPath(t *testing.T) {
	dir := build(t)
	t.Chdir(dir)
	// Copies, not links: to the loader a file with two names is one library.
	bytes, err := os.ReadFile(library)
	must.NoError(t, err)
	for _, file := range []string{"package/lib/" + library, "old/libnccl.so", "other-name.so"} {
		must.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, bytes, 0o777)))
	}
	for path, want := range map[string]string{
		library: library, dir: library, ".": library, "./" + library: library, "other-name.so": "other-name.so",
		"package": "package/lib/" + library, "old": "old/libnccl.so",
	} {
		l, err := Load(Options{Path: path})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if got, _ := filepath.Rel(dir, l.Info().Path); got != want {
			t.Errorf("%s: opened %s", path, l.Info().Path)
		}
	}
	_, err = Load(Options{Path: "/no/such/libnccl.so.2"})
	if err == nil || strings.Count(err.Error(), "/no/such/libnccl.so.2: ") != 1 ||
		!strings.Contains(err.Error(), "(--nccl /no/such/libnccl.so.2)") {
		t.Errorf("error %v", err)
	}
}

// Pip installs NCCL outside the loader's path.
func TestSearch(t *testing.T) {
	env := t.TempDir()
	t.Setenv("HOME", env+"/home")
	t.Setenv("PATH", env+"/bin")
	var files []string
	for _, file := range []string{"bin/python3", "venv/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2",
		"conda/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2", "conda/lib/libnccl.so.2",
		"lib64/python3.9/dist-packages/nvidia/nccl/lib/libnccl.so.2",
		"home/.local/lib/python3.13/site-packages/nvidia/nccl/lib/libnccl.so.2"} {
		files = append(files, filepath.Join(env, file))
		must.NoError(t, os.MkdirAll(filepath.Dir(files[len(files)-1]), 0o777))
		must.NoError(t, os.WriteFile(files[len(files)-1], []byte("#!"), 0o777))
	}
	for _, k := range []struct {
		venv, conda string
		want        []string
	}{{env + "/venv", env + "/conda", files[1:]}, {"", env + "/conda", files[2:]}, {"", "", files[4:]}} {
		t.Setenv("VIRTUAL_ENV", k.venv)
		t.Setenv("CONDA_PREFIX", k.conda)
		candidates, none := Options{}.find()
		if want := append([]string{library}, k.want...); len(candidates) < len(want) ||
			!slices.Equal(candidates[:len(want)], want) {
			t.Errorf("tries %q, wanted %q first", candidates, want)
		}
		for _, want := range []string{env + "/lib/python3*/site-packages/nvidia/nccl/lib/", "/opt/nvidia/nccl/lib/"} {
			test.SliceContainsOp(t, none, dl.Attempt{Candidate: want + library, Why: "no such file"}, test.Sprint(want))
		}
	}
	t.Setenv("VIRTUAL_ENV", "/no[such")
	if _, none := (Options{}).find(); len(none) == 0 || !strings.Contains(none[0].Why, "syntax error") {
		t.Errorf("a folder with a bracket: %v", none)
	}
}
