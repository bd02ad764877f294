package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestReportAsTable(t *testing.T) {
	ranks := ranksOf(2, "node1", "node2")
	rows := mergeRows([]row{
		fine("MPI", "Open MPI"),
		warn("load", "end it", "much").on(2, 3),
		bad("NCCL", "install it:\n  Debian:   apt", "none\ntried:\n  /a/libnccl.so.2: no such file\n  /b"),
		bad("output", "write elsewhere, "+strings.Repeat("or there ", 12)+"or not at all", "%s", strings.Repeat("word ", 15)+"end").on(0),
	}, ranks)
	got := table("Preflight of some ranks", rows, ranks)
	const want = `Preflight of some ranks

ok       MPI               Open MPI
WARNING  load              node2: much
                           -> end it
PROBLEM  NCCL              none
                           (2 places tried, --json lists them)
                           -> install it:
                              Debian: apt
PROBLEM  output            rank 0 on node1: word word word word word word word
                           word word word word word word word word end
                           -> write elsewhere, or there or there or there or
                              there or there or there or there or there or there
                              or there or there or there or not at all

2 problems, 1 warning, 1 ok: not ready
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for verdict, words := range map[verdict]string{passed: "ready", caution: "a run works, mind the warnings", problem: "not ready"} {
		if last := table("", []row{{Verdict: verdict}}, ranks); !strings.HasSuffix(last, ": "+words+"\n") {
			t.Errorf("%s: %s", verdict, last)
		}
	}
}

func TestReportAsJSON(t *testing.T) {
	var out strings.Builder
	c := &checklist{asJSON: true, out: &out, ranks: ranksOf(1, "a", "b")}
	c.add(fine("MPI", "<Open MPI>"), warn("load", "end it", "much").on(1))
	if v, err := c.write(); v != caution || err != nil {
		t.Errorf("%s, %v", v, err)
	}
	want := `{"verdict":"warning","rows":[{"check":"MPI","verdict":"ok","found":"<Open MPI>","advice":"","where":["a","b"]},` +
		`{"check":"load","verdict":"warning","found":"much","advice":"end it","where":["b"]}]}`
	var got, wanted any
	if json.Unmarshal([]byte(out.String()), &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
		t.Fatal(out.String())
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(wanted)
	if string(a) != string(b) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("got %s\nwant %s", out.String(), want)
	}
}

// Whatever ends the job in the middle, what was found until then is said, once.
func TestReportCutShort(t *testing.T) {
	var out strings.Builder
	c := &checklist{asJSON: true, out: &out, ranks: ranksOf(1, "a")}
	c.add(fine("MPI", "x"))
	c.cutShort("hang: rank 3 on node7 does not answer\ngoroutine 1")
	first := out.String()
	if !strings.HasPrefix(first, `{"verdict":"problem"`) || !strings.Contains(first, `"hang: rank 3 on node7 does not answer"`) || !strings.Contains(first, `"x"`) {
		t.Errorf("%s", first)
	}
	c.cutShort("again")
	if _, err := c.write(); err != nil || out.String() != first {
		t.Errorf("%v: %s", err, out.String())
	}
	var none *checklist
	none.cutShort("not in preflight")
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestReportThatCannotBeWritten(t *testing.T) {
	for _, asJSON := range []bool{true, false} {
		c := &checklist{asJSON: asJSON, out: brokenPipe{}, ranks: ranksOf(1, "a")}
		if _, err := c.write(); err == nil {
			t.Errorf("JSON %v: no error", asJSON)
		}
	}
}

func TestSplitAdvice(t *testing.T) {
	for text, want := range map[string][2]string{
		"a: b; do c":                   {"a: b", "do c"},
		"a; b; do c":                   {"a; b", "do c"},
		"a":                            {"a", "otherwise"},
		"none\ntried:\n  x\n  y\ndo z": {"none\ntried:\n  x\n  y", "do z"},
		"none\ntried:\n  x":            {"none\ntried:\n  x", "otherwise"},
		"it is old; really\ndo c\n":    {"it is old; really", "do c"},
	} {
		if found, advice := splitAdvice(text, "otherwise"); found != want[0] || advice != want[1] {
			t.Errorf("%q: %q, %q", text, found, advice)
		}
	}
}

func TestPreflightFlags(t *testing.T) {
	for line, wrong := range map[string]string{"--preflight": "", "--preflight --json": "", "--json": "--preflight", "--preflight --list": "--list"} {
		_, err := parseFlags(strings.Fields(line), noEnv)
		if (err == nil) != (wrong == "") || err != nil && (codeOf(err) != exitUsage || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Every check has a line in the manual, and the manual speaks of no other.
func TestEveryCheckIsInTheManual(t *testing.T) {
	manual, err := os.ReadFile("../docs/preflight.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| `).FindAllStringSubmatch(string(manual), -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			if name != "check" {
				documented[name] = false
			}
		}
	}
	sources, _ := filepath.Glob("preflight*.go")
	inCode := regexp.MustCompile(`(?:const name = |(?:fine|warn|bad)\()"([^"]+)"`)
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inCode.FindAllStringSubmatch(string(text), -1) {
			if _, known := documented[m[1]]; !known {
				t.Errorf("%s: the check %q is not in docs/preflight.md", path, m[1])
			}
			documented[m[1]] = true
		}
	}
	for _, c := range trials(2) {
		documented[c.Collective.String()] = true
	}
	for name, found := range documented {
		if !found {
			t.Errorf("docs/preflight.md has a check %q that the code has not", name)
		}
	}
}
