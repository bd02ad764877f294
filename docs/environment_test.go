package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// readsVariable finds the variables that a program reads, by the extension of its file: in Go every string that is the
// name of one, since reads go through functions and constants.
var readsVariable = map[string]*regexp.Regexp{
	".go": regexp.MustCompile(`"(BUSBAR_[A-Z0-9_]+)"`),
	".c":  regexp.MustCompile(`getenv\("(BUSBAR_[A-Z0-9_]+)"\)`),
	".sh": regexp.MustCompile(`\$\{?(BUSBAR_[A-Z0-9_]+)`),
}

// TestEnvironmentIsDocumented checks that docs/reference/environment.md has a row for each variable BUSBAR_* that the
// programs and scripts read, tests excepted, and no other.
func TestEnvironmentIsDocumented(t *testing.T) {
	variables, files := variablesRead(t)
	for extension := range readsVariable {
		if files[extension] == 0 {
			t.Errorf("no variable found in %s files; does the search still work?", extension)
		}
	}
	documented := documentedVariables(t)
	for name, file := range variables {
		test.SliceContainsOp(t, documented, name, test.Sprint(file))
	}
	for _, name := range documented {
		if variables[name] == "" {
			t.Errorf("docs/reference/environment.md has %s, which no program reads", name)
		}
	}
	test.Len(t, len(variables), documented)
}

// variablesRead returns a file that reads it for each variable, and the number of reading files by extension.
func variablesRead(t *testing.T) (variables map[string]string, files map[string]int) {
	t.Helper()
	variables, files = map[string]string{}, map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, extension := d.Name(), filepath.Ext(path)
		// cudart/rehearsal/test has the tests in C
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || slices.Contains(
			[]string{"testdata", "dist", "results"}, name) || strings.HasSuffix(path, "rehearsal/test")) {
			return filepath.SkipDir
		}
		pattern := readsVariable[extension]
		if d.IsDir() || pattern == nil || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range pattern.FindAllSubmatch(text, -1) {
			variables[string(m[1])] = path
			files[extension]++
		}
		return err
	})
	must.NoError(t, err)
	return variables, files
}

// documentedVariables returns the first cells of the rows of docs/reference/environment.md that name a variable.
func documentedVariables(t *testing.T) (names []string) {
	t.Helper()
	row := regexp.MustCompile("(?m)^\\| `(BUSBAR_[A-Z0-9_]+)` \\|")
	for _, m := range row.FindAllStringSubmatch(read(t, "docs/reference/environment.md"), -1) {
		names = append(names, m[1])
	}
	return names
}
