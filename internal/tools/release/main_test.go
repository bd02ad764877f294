package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const date = "1700000000" // 2023-11-14T22:13:20Z

func write(t *testing.T, path, text string) string {
	t.Helper()
	must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Two wheels of the same contents are equal, whatever the times and modes of the files.
func TestWheel(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", date)
	var made [][]byte
	for range 2 {
		dir := t.TempDir()
		program := write(t, filepath.Join(dir, "post"), "program")
		write(t, filepath.Join(dir, "licenses", "go", "go"), "BSD")
		write(t, filepath.Join(dir, "licenses", "LICENSE"), "BSD")
		out := filepath.Join(dir, "out.whl")
		err := run([]string{"wheel", "1.2.0", "linux_a.linux_b", program, filepath.Join(dir, "licenses"), out})
		must.NoError(t, err)
		data, err := os.ReadFile(out)
		must.NoError(t, err)
		made = append(made, data)
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two wheels of the same files differ")
	}
	z, err := zip.NewReader(bytes.NewReader(made[0]), int64(len(made[0])))
	must.NoError(t, err)
	contents := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		must.NoError(t, err)
		text, err := io.ReadAll(r)
		must.NoError(t, err)
		contents[f.Name] = string(text)
		executable := f.Mode()&0o111 != 0
		if executable != strings.HasSuffix(f.Name, "/busbar") || f.Modified.Unix() != 1700000000 {
			t.Errorf("%s has mode %v and time %v", f.Name, f.Mode(), f.Modified)
		}
	}
	const info = "busbar-1.2.0.dist-info/"
	for name, part := range map[string]string{
		"busbar-1.2.0.data/scripts/busbar": "program",
		info + "METADATA":                  "Version: 1.2.0\n",
		info + "WHEEL":                     "Tag: py3-none-linux_a\nTag: py3-none-linux_b\n",
		info + "licenses/LICENSE":          "BSD",
		info + "licenses/go/go":            "BSD",
	} {
		test.StrContains(t, contents[name], part, test.Sprint(name))
		test.StrContains(t, contents[info+"RECORD"], name+",sha256=", test.Sprint(name))
	}
}

// The test program has modules of its own.
func TestSBOM(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", date)
	program, err := os.Executable()
	must.NoError(t, err)
	dir := t.TempDir()
	list := write(t, filepath.Join(dir, "VERSIONS"), "libopenmpi3 4.1.4-3+b1, source package openmpi 4.1.4-3\n")
	out := filepath.Join(dir, "sbom.json")
	must.NoError(t, run([]string{"sbom", "1.2.0", out, "post-linux=" + program, "bundle:arm64=" + list}))
	text, err := os.ReadFile(out)
	must.NoError(t, err)
	var d sbom
	must.NoError(t, json.Unmarshal(text, &d))
	if d.Metadata.Timestamp != "2023-11-14T22:13:20Z" || d.Metadata.Component.Version != "1.2.0" {
		t.Errorf("metadata: %+v", d.Metadata)
	}
	const deb = "pkg:deb/debian/libopenmpi3@4.1.4-3%2Bb1?arch=arm64"
	uses := map[string][]string{}
	for _, dep := range d.Dependencies {
		uses[dep.Ref] = dep.Uses
	}
	if !slices.Equal(uses["busbar"], []string{"post-linux", "bundle"}) || !slices.Equal(uses["bundle"], []string{deb}) {
		t.Errorf("dependencies: %v", uses)
	}
	for _, ref := range append(uses["post-linux"], deb) {
		if !slices.ContainsFunc(d.Components, func(c component) bool { return c.Ref == ref && c.Version != "" }) {
			t.Errorf("no component %s", ref)
		}
	}
	test.StrContains(t, strings.Join(uses["post-linux"], " "), "pkg:golang/std@")
}

func TestRefusesOtherArguments(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", date)
	for _, args := range [][]string{nil, {"wheel", "1.2.0"}, {"sbom", "1.2.0", "out"},
		{"sbom", "1.2.0", filepath.Join(t.TempDir(), "out"), "post=/nowhere"}} {
		if run(args) == nil {
			t.Errorf("%v is no error", args)
		}
	}
}
