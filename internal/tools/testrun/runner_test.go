package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What go test -json writes for failures of each kind, and what is printed of them.
func TestFailuresArePrinted(t *testing.T) {
	const run, output, fail, pass = "run", "output", "fail", "pass"
	for name, k := range map[string]struct {
		events []event
		want   []string // in the output, once each
		not    string
		log    string
	}{
		"a test": {[]event{{Action: run, Test: "TestA"},
			{Action: output, Test: "TestA", Output: "    a_test.go:1: bad\n"},
			{Action: fail, Test: "TestA"}, {Action: output, Output: "FAIL\n"}, {Action: fail}},
			[]string{"FAIL  busbar/a TestA", "bad", "go test -race -count=1 -v -run '^TestA$' ./a"}, "FAIL  busbar/a\n",
			"busbar.a.TestA.log"},
		"a test that wrote much after its message": {[]event{{Action: run, Test: "TestA"},
			{Action: output, Test: "TestA", Output: "    a_test.go:1: bad\n"},
			{Action: output, Test: "TestA", Output: strings.Repeat("a log\n", tail)}, {Action: fail, Test: "TestA"},
			{Action: fail}},
			[]string{"first: a_test.go:1: bad"}, "FAIL  busbar/a\n", "busbar.a.TestA.log"},
		"a test without output": {[]event{{Action: run, Test: "TestA"},
			{Action: output, Test: "TestA", Output: "--- FAIL: TestA\n"},
			{Action: fail, Test: "TestA"}, {Action: fail}}, []string{"FAIL  busbar/a TestA"}, "FAIL  busbar/a\n",
			"busbar.a.TestA.log"},
		"a subtest": {[]event{{Action: run, Test: "TestA"}, {Action: run, Test: "TestA/x_(1)"},
			{Action: output, Test: "TestA/x_(1)", Output: "bad\n"}, {Action: fail, Test: "TestA/x_(1)"},
			{Action: output, Test: "TestA", Output: "--- FAIL: TestA\n"}, {Action: fail, Test: "TestA"},
			{Action: fail}},
			[]string{"FAIL  busbar/a TestA/x_(1)", `'^TestA$/^x_\(1\)$'`}, "FAIL  busbar/a TestA\n",
			"busbar.a.TestA.x_(1).log"},
		"a crash": {[]event{{Action: run, Test: "TestA"}, {Action: output, Test: "TestA", Output: "panic: boom\n"},
			{Action: output, Output: "FAIL\tbusbar/a\t1s\n"}, {Action: fail}},
			[]string{"FAIL  busbar/a TestA", "panic: boom"}, "FAIL  busbar/a\n", "busbar.a.TestA.log"},
		"a crash after a test that passed": {[]event{{Action: run, Test: "TestA"}, {Action: pass, Test: "TestA"},
			{Action: output, Test: "TestA", Output: "SIGSEGV: segmentation violation\n"}, {Action: fail}},
			[]string{"FAIL  busbar/a TestA", "SIGSEGV"}, "FAIL  busbar/a\n", "busbar.a.TestA.log"},
		"a package": {[]event{{Action: output, Output: "no cluster\n"}, {Action: fail}},
			[]string{"FAIL  busbar/a\n", "no cluster", "go test -race -count=1 -v ./a"}, "-run", "busbar.a.log"},
		"a build": {[]event{{Action: "build-output", ImportPath: "busbar/a.test", Output: "a.go:2:9: expected\n"},
			{Action: "build-fail", ImportPath: "busbar/a.test"},
			{Action: output, Output: "FAIL\tbusbar/a [build failed]\n"},
			{Action: fail}},
			[]string{"FAIL  busbar/a\n", "a.go:2:9: expected"}, "a.test", "busbar.a.log"},
	} {
		var out strings.Builder
		r := newRunner(&out, filepath.Join(t.TempDir(), "events.json"))
		r.again = "go test -race"
		for _, e := range k.events {
			if e.ImportPath == "" {
				e.Package = "busbar/a"
			}
			r.take(e)
		}
		for _, want := range k.want {
			if strings.Count(out.String(), want) != 1 {
				t.Errorf("%s: want %q once:\n%s", name, want, &out)
			}
		}
		if strings.Contains(out.String(), k.not) {
			t.Errorf("%s: %q is printed:\n%s", name, k.not, &out)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(r.path), k.log)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The rest is what skipped itself, and no other test of its name.
func TestLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.json")
	var lines []string
	for _, e := range []event{{Action: "output", Package: "busbar/a", Test: "TestA/x_y",
		Output: "    a_test.go:1: left to make test-all\n"},
		{Action: "output", Package: "busbar/b", Test: "TestB", Output: "    b_test.go:1: no root\n"}} {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := leftOut(path)
	if fmt.Sprint(got) != "{^TestA$/^x_y$ [busbar/a]}" || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
