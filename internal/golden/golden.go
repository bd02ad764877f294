// Package golden is for tests that compare what they got with a file in testdata. With -update they write it anew, to
// be looked at in the diff. It also reads tables of cases.
package golden

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Update reports whether -update is set.
func Update() bool { return *update }

// Text compares got with the file at path.
func Text(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatalf("%v", err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew); got\n%s", path, got)
	}
}

// decimals are more digits than every CPU computes alike.
var decimals = regexp.MustCompile(`(\.\d{9})\d+`)

// Lines compares lines, whose numbers have at most nine decimals, with those of the file at path that begin with what
// and " | ".
func Lines(t testing.TB, path, what string, got []string) {
	t.Helper()
	for i := range got {
		got[i] = decimals.ReplaceAllString(got[i], "$1")
	}
	text, _ := os.ReadFile(path) // none: no lines so far
	var want, all []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, rest, _ := strings.Cut(line, " | "); name == what {
			want = append(want, rest)
		} else if line != "" {
			all = append(all, line)
		}
	}
	if *update {
		for _, line := range got {
			all = append(all, what+" | "+line)
		}
		slices.SortStableFunc(all, func(a, b string) int {
			before, _, _ := strings.Cut(a, " | ")
			after, _, _ := strings.Cut(b, " | ")
			return strings.Compare(before, after)
		})
		if err := os.WriteFile(path, []byte(strings.Join(all, "\n")+"\n"), 0o666); err != nil {
			t.Fatalf("%v", err)
		}
	} else if !slices.Equal(got, want) {
		t.Errorf("%s: %s differs (-update writes it anew); got\n%s\nexpected\n%s", path, what, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}
