package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/needs"
)

// event is a line of `go test -json` (go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of a package that does not build
	Test       string
	Output     string
	Elapsed    float64 // seconds
}

// readEvents calls f with each event of a file.
func readEvents(path string, f func(event)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if len(line) > 0 && json.Unmarshal(line, &e) == nil {
			f(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}

// selection is what a `go test` command line names.
type selection struct {
	pattern  string
	packages []string
}

// leftOut returns the tests that a run left to make test-all.
func leftOut(path string) (selection, error) {
	packages, patterns := map[string]bool{}, map[string]bool{}
	err := readEvents(path, func(e event) {
		if e.Action == "output" && strings.Contains(e.Output, needs.LeftToAll) {
			packages[e.Package], patterns[pattern(e.Test)] = true, true
		}
	})
	sorted := func(set map[string]bool) (names []string) {
		for name := range set {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	return selection{strings.Join(sorted(patterns), "|"), sorted(packages)}, err
}

// pattern is what -run takes for one test or subtest.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// printSlowest prints the tests that took longest over all files; a file that is missing is that of a step that did not
// run.
func printSlowest(out io.Writer, n int, paths []string) error {
	type result struct {
		name    name
		seconds float64
	}
	var all []result
	for _, path := range paths {
		err := readEvents(path, func(e event) {
			if (e.Action == "pass" || e.Action == "fail") && e.Test != "" && !strings.Contains(e.Test, "/") {
				all = append(all, result{name{e.Package, e.Test}, e.Elapsed})
			}
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b result) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, r := range all[:min(n, len(all))] {
		fmt.Fprintf(out, "%7.1f s  %s\n", r.seconds, r.name)
	}
	return nil
}
