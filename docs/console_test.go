package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// A block is a fenced block marked console. `console mpi` marks a block whose commands start ranks.
type block struct {
	line int // of the opening fence
	mpi  bool
	runs []command
}

// A command is the text after "$ ", with the expected output. A trailing "# exits 1" is the expected status.
type command struct {
	text   string
	status int
	output []string
}

var exits = regexp.MustCompile(`# exits (\d+)\s*$`)

func blocks(page string) (found []block) {
	var b *block
	continued := false
	for i, line := range strings.Split(page, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && b == nil:
			words := append(strings.Fields(fence), "", "")
			if b = new(block); words[0] == "console" {
				found = append(found, block{line: i + 1, mpi: words[1] == "mpi"})
				b = &found[len(found)-1]
			}
		case isFence:
			b = nil
		case b == nil || b.line == 0:
		case continued:
			c := &b.runs[len(b.runs)-1]
			c.text += "\n" + line
			continued = strings.HasSuffix(line, `\`)
		case strings.HasPrefix(line, "$ "):
			c := command{text: line[2:]}
			if m := exits.FindStringSubmatch(line); m != nil {
				c.status, _ = strconv.Atoi(m[1])
			}
			b.runs = append(b.runs, c)
			continued = strings.HasSuffix(line, `\`)
		case len(b.runs) > 0:
			c := &b.runs[len(b.runs)-1]
			c.output = append(c.output, line)
		}
	}
	return found
}

// variable matches what differs between runs: fractions (measured values) and long digit strings (times in file
// names).
var variable = regexp.MustCompile(`\s+|[0-9]+\.[0-9]+(e[-+][0-9]+)?|[0-9]{6,}|…|\.\.\.`)

// pattern returns a regular expression for a page's output. Numbers match any numbers, white space any white space,
// "..." or "…" any text in its line, and a line with only that any number of lines.
func pattern(lines []string) *regexp.Regexp {
	var re strings.Builder
	re.WriteString(`\A\s*`)
	for _, line := range lines {
		if s := strings.TrimSpace(line); s == "..." || s == "…" {
			re.WriteString(`(?s:.*)`)
			continue
		}
		at := 0
		line = strings.TrimSpace(line)
		for _, m := range variable.FindAllStringIndex(line, -1) {
			re.WriteString(regexp.QuoteMeta(line[at:m[0]]))
			switch s := line[m[0]:m[1]]; {
			case strings.TrimSpace(s) == "":
				re.WriteString(`[ \t]+`)
			case s == "…" || s == "...":
				re.WriteString(`.*`)
			default:
				re.WriteString(`[-+0-9.e]+`)
			}
			at = m[1]
		}
		re.WriteString(regexp.QuoteMeta(line[at:]) + `\s*`)
	}
	re.WriteString(`\z`)
	return regexp.MustCompile(re.String())
}

// TestConsole runs the blocks of each page in order in one folder per page, with the programs on PATH and in ./bin,
// and the examples in ./examples. Every command has its own shell and sees the results of earlier blocks.
func TestConsole(t *testing.T) {
	home := install(t)
	environment := append(os.Environ(), "PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"), "COLUMNS=80",
		"NO_COLOR=1",
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
	ran := 0
	for _, page := range pages(t) {
		t.Run(page, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"bin", "lib"} {
				must.NoError(t, os.Symlink(filepath.Join(home, name), filepath.Join(dir, name)))
			}
			linkExamples(t, dir)
			for _, b := range blocks(read(t, page)) {
				name := fmt.Sprintf("line %d", b.line)
				if b.mpi {
					name += " mpi"
				}
				t.Run(name, func(t *testing.T) {
					for _, c := range b.runs {
						c.check(t, dir, environment)
						ran++
					}
				})
			}
		})
	}
	if ran == 0 {
		t.Error("no command was found in any page")
	}
}

// linkExamples links the repository's examples into a folder.
func linkExamples(t *testing.T, dir string) {
	t.Helper()
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err == nil {
		err = os.Symlink(examples, filepath.Join(dir, "examples"))
	}
	must.NoError(t, err)
}

func (c command) check(t *testing.T, dir string, environment []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", c.text)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment, 5*time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("$ %s\n%v\n%s", c.text, err, out)
	}
	must.EqOp(t, c.status, cmd.ProcessState.ExitCode(), must.Sprint(c.text, out))
	want := strings.TrimSpace(strings.Join(c.output, "\n"))
	if want != "" && !pattern(strings.Split(want, "\n")).Match(out) {
		t.Errorf("$ %s\nprints\n%s\nthe page shows\n%s", c.text, out, want)
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		page, output string
		want         bool
	}{
		{"time  0.43 us", "time 12.5 us\n", true},
		{"time 0.43 us", "time 12.5 ms\n", false},
		{"8 points", "7 points\n", false},
		{"wrote a_20260101_1.csv", "wrote a_20270505_1.csv", true},
		{"one\n...\nlast", "one\ntwo\nthree\nlast\n", true},
		{"one\n...", "one\n", true},
		{"one\n...\nlast", "one\ntwo\n", false},
		{"one … three", "one two three", true},
		{"one", "one\ntwo", false},
		{"a.b", "aXb", false},
	} {
		test.EqOp(t, c.want, pattern(strings.Split(c.page, "\n")).MatchString(c.output), test.Sprint(c.page, c.output))
	}
}

func TestBlocks(t *testing.T) {
	got := blocks("```text\n$ not run\n```\n\n```console mpi\n$ a \\\n  b\nout\n\n$ c  # exits 2\n```\n$ not run\n")
	want := []block{{line: 5, mpi: true, runs: []command{
		{text: "a \\\n  b", output: []string{"out", ""}}, {text: "c  # exits 2", status: 2}}}}
	test.Eq(t, want, got)
}
