package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
)

// covered are the columns of docs/coverage.md.
var covered = []string{"requirement", "command", "page", "tests", "limit"}

// A promise is one row of that page.
type promise struct {
	line                          int
	asks, typed, told, test, lack string
}

// promises are the rows of all tables of a page; a table with other columns and a row without all of them are errors.
func promises(t *testing.T, page string) (found []promise) {
	t.Helper()
	within := false // a table
	for i, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "|") {
			within = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !within:
			within = true
			if !slices.Equal(cells, covered) {
				t.Errorf("line %d: the columns are %q", i+1, cells)
			}
		case strings.HasPrefix(cells[0], "---"):
		case len(cells) != len(covered) || slices.Contains(cells, ""):
			t.Errorf("line %d: not all columns, or one that is empty: %q", i+1, cells)
		default:
			found = append(found, promise{i + 1, cells[0], cells[1], cells[2], cells[3], cells[4]})
		}
	}
	return found
}

// TestCoverage: each row of docs/coverage.md has all columns and names a section of the manual (which TestLinks
// follows). The tests exist in the files that it names; programs and scripts know their flags.
func TestCoverage(t *testing.T) {
	const page = "docs/coverage.md"
	rows := promises(t, read(t, page))
	if len(rows) < 170 {
		t.Errorf("only %d rows", len(rows))
	}
	home := install(t)
	for _, row := range rows {
		if !strings.Contains(row.told, ".md") && !strings.Contains(row.told, "](../") {
			t.Errorf("line %d names no section: %q", row.line, row.told)
		}
		if row.test == "–" && row.lack == "–" {
			t.Errorf("line %d is not tested, without a reason", row.line)
		}
		if row.test != "–" {
			for _, problem := range untested(t, filepath.Dir(page), row.test) {
				t.Errorf("line %d: %s", row.line, problem)
			}
		}
		for _, m := range code.FindAllStringSubmatch(row.typed, -1) {
			for _, problem := range unknownIn(t, home, m[1]) {
				t.Errorf("line %d: `%s`: %s", row.line, m[1], problem)
			}
		}
	}
}

var (
	code     = regexp.MustCompile("`([^`]+)`")
	named    = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
	splitter = regexp.MustCompile(`\s*(?:&&|;|>)\s*`)
)

// untested returns the problems of the tests that a cell names: functions of Go with their files, scripts of
// testscript, or sections of the manual whose commands are run.
func untested(t *testing.T, folder, cell string) (problems []string) {
	t.Helper()
	links := named.FindAllStringSubmatch(cell, -1)
	if len(links) == 0 {
		return []string{"no test is named: " + cell}
	}
	for _, m := range links {
		name, to := strings.Trim(m[1], "`"), filepath.Join(folder, m[2])
		file, section, _ := strings.Cut(to, "#")
		switch filepath.Ext(file) {
		case ".go":
			if !strings.HasSuffix(file, "_test.go") ||
				!strings.Contains(read(t, file), "\nfunc "+name+"(t *testing.T)") {
				problems = append(problems, file+" has no test "+name)
			}
		case ".txtar":
		case ".md":
			if !strings.Contains(sectionOf(read(t, file), section), "\n```console") {
				problems = append(problems, to+" runs no command")
			}
		default:
			problems = append(problems, m[2]+" is no test")
		}
	}
	return problems
}

// sectionOf is the text under the heading with that anchor, or the whole page.
func sectionOf(page, anchor string) string {
	if anchor == "" {
		return page
	}
	lines := strings.Split(page, "\n")
	level := func(line string) int { return len(line) - len(strings.TrimLeft(line, "#")) }
	for i, line := range lines {
		if level(line) == 0 || !anchors(line)[anchor] {
			continue
		}
		end, inside := i+1, false
		for ; end < len(lines); end++ {
			if strings.HasPrefix(lines[end], "```") {
				inside = !inside
			}
			if l := level(lines[end]); !inside && l > 0 && l <= level(line) {
				break
			}
		}
		return strings.Join(lines[i:end], "\n")
	}
	return ""
}

// elsewhere are programs of others that a row may name.
var elsewhere = []string{"aws", "module", "nsys", "nsys-ui", "nvidia-smi", "pip", "scp", "ssh", "sudo", "tar", "."}

// unknownIn returns the words of a command line that its program does not know. Commands may follow each other, with
// `&&`, `;`, and `>` before a file; each is checked by itself.
func unknownIn(t *testing.T, home, line string) (problems []string) {
	t.Helper()
	redirected := strings.Index(line, ">")
	if redirected >= 0 {
		line = line[:redirected]
	}
	for _, command := range splitter.Split(line, -1) {
		words := shellWords(command)
		variables := 0
		for variables < len(words) && assignment.MatchString(words[variables]) {
			variables++
		}
		at := slices.IndexFunc(words[variables:], ours)
		if at < 0 {
			if variables < len(words) && !slices.Contains(elsewhere, words[variables]) {
				problems = append(problems, "whose program is "+words[variables]+"?")
			}
			continue
		}
		at += variables
		program, rest := words[at], words[at+1:]
		if said := refused(t, home, program, rest, words[:variables]); said != "" {
			problems = append(problems, said)
		}
	}
	return problems
}

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

// ours reports whether a word names a program of this repository.
func ours(word string) bool {
	base := filepath.Base(word)
	return base == "rank" || base == "post" || base == "make" || base == "busbar-run" || strings.HasSuffix(word, ".sh")
}

// refused is a program's error about the words after it, or "".
func refused(t *testing.T, home, program string, words, variables []string) string {
	t.Helper()
	switch base := filepath.Base(program); base {
	case "rank", "post":
		return asked(home, base, words)
	case "busbar-run":
		return asked(home, "rank", rankFlags(words))
	case "make":
		return notMade(t, words, variables)
	default:
		return notOfScript(t, home, program, words)
	}
}

// asked lets the program itself read its words, and then its help instead of doing anything.
func asked(home, program string, words []string) string {
	out, err := exec.Command(filepath.Join(home, "bin", program),
		append(slices.Clone(words), "--help")...).CombinedOutput()
	switch {
	case err != nil:
		return string(out)
	// its own help, as of a command that there is not
	case program == "post" && !strings.Contains(string(out), "post "+words[0]):
		return "unknown command " + words[0]
	}
	return ""
}

// rankFlags are the words of busbar-run without its own.
func rankFlags(words []string) []string {
	if len(words) > 1 && (words[0] == "-np" || words[0] == "-n") {
		return words[2:]
	}
	return words
}

// notMade returns the error in a call of make: a missing target, or a variable that its scripts do not read.
func notMade(t *testing.T, words, variables []string) string {
	t.Helper()
	makefile, script := read(t, "Makefile"), read(t, "scripts/benchmark.sh")
	for _, w := range append(slices.Clone(variables), words...) {
		name, _, set := strings.Cut(w, "=")
		switch {
		case set && !strings.Contains(makefile, name) && !strings.Contains(script, name):
			return "nothing reads " + name
		case !set && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(w)+`:`).MatchString(makefile):
			return "the Makefile has no " + w
		}
	}
	return ""
}

// notOfScript returns the error in the arguments of a script of slurm/: flags are its own, from its header, or rank's.
func notOfScript(t *testing.T, home, script string, words []string) string {
	t.Helper()
	path := filepath.Join(root, script)
	if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
		return "no script is there"
	}
	if filepath.Base(script) == "sweep.sh" {
		return asked(home, "rank", words)
	}
	if at := slices.Index(words, "--"); at >= 0 { // of submit.sh: flags of rank are behind, options of sbatch before
		return asked(home, "rank", words[at+1:])
	}
	top, _, _ := strings.Cut(read(t, script), "\nset -")
	help, err := exec.Command(filepath.Join(home, "bin", "rank"), "--help").CombinedOutput()
	if err != nil {
		return string(help)
	}
	known := append(regexp.MustCompile(`--?[a-z][a-z-]*`).FindAllString(top, -1),
		regexp.MustCompile(`--?[a-zA-Z][a-z-]*`).FindAllString(string(help), -1)...)
	for _, w := range words {
		if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(w, "-") && !slices.Contains(known, name) {
			return "it does not know " + name
		}
	}
	return ""
}

// shellWords are the words of a command line as a shell would make them, without variables and patterns.
func shellWords(line string) (words []string) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// TestCoverageCheck: TestCoverage reports rows that are wrong.
func TestCoverageCheck(t *testing.T) {
	home := install(t)
	for line, want := range map[string]string{
		"mpirun -np 4 rank --backend gloo -b 1M -e 1G -f 10":             "",
		"mpirun -np 4 rank --nonsense":                                   "unknown flag",
		"mpirun -np 4 rank --backend glue":                               "unknown backend",
		"post report --layout comparison -o DIR A B":                     "",
		"post report --latout comparison":                                "unknown flag",
		"post merge && post plat":                                        "unknown command",
		"post export --format csv results > all.csv":                     "",
		"REHEARSE=1 WORLDS=2,4 make nccl-benchmark":                      "",
		"NOBODY=2 make nccl-benchmark":                                   "nothing reads NOBODY",
		"make nothing":                                                   "the Makefile has no nothing",
		"slurm/profile.sh -np 8 --ranks 0,7 --duration 10 -b 1M":         "",
		"slurm/profile.sh --rank 0":                                      "it does not know --rank",
		"slurm/nothing.sh":                                               "no script is there",
		"sbatch -N4 slurm/sweep.sh --backend nccl --sweep full":          "",
		"sbatch -N4 slurm/sweep.sh --sweeps full":                        "unknown flag",
		"slurm/submit.sh --site perlmutter -N4 -- --backend nccl":        "",
		"slurm/submit.sh --site perlmutter -N4 -- --sweeps full":         "unknown flag",
		"tar -xzf busbar-*.tar.gz && ./busbar-run -np 2 --backend nccl":  "",
		"./busbar-run -np 2 --backends nccl":                             "unknown flag",
		`slurm/baseline.sh --spot --sync "s3://my bucket" --nccl ~/nccl`: "",
		"rnak --backend nccl":                                            "whose program is rnak?",
	} {
		if got := strings.Join(unknownIn(t, home, line), "; "); (want == "") != (got == "") ||
			!strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for cell, want := range map[string]string{
		"[`TestCoverage`](coverage_test.go)":             "",
		"[`TestNothing`](coverage_test.go)":              "has no test TestNothing",
		"TestCoverage":                                   "no test is named",
		"[console](comparison.md#in-the-terminal)":       "",
		"[console](comparison.md#what-the-files-hold)":   "runs no command",
		"[plan](comparison.png)":                         "is no test",
		"[show](../post/testdata/script/show.txtar)":     "",
		"[console](comparison.md#there-is-no-such-part)": "runs no command",
	} {
		if got := strings.Join(untested(t, "docs", cell), "; "); (want == "") != (got == "") ||
			!strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", cell, got, want)
		}
	}
	test.SliceEqOp(t, []string{"a", "b cd", "", "e"}, shellWords(`a "b c"d '' e`))
}
