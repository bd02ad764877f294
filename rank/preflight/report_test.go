package preflight

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/notice/preflights"

	"github.com/shoenig/test/must"
)

// sampleList returns a checklist with a row per verdict.
func sampleList(out io.Writer, format document.Format) *Checklist {
	c := &Checklist{title: "Preflight of some ranks", format: format, out: out, ranks: ranksOf(2, "node1", "node2")}
	failed := preflights.Failed{
		Problem: "no NCCL library\n  at all",
		Tried: preflights.Places{"/a/libnccl.so.2: no such file",
			"/b: <none>"},
		Remedy: "install it:\n  Debian:   apt",
	}
	folder := strings.Repeat("long ", 15) + "name"
	c.Add(Found("load", preflights.HostBusy{CPULoad: preflights.CPULoad{Load: 9, CPUs: 8}}).On(2, 3),
		Found("NCCL", preflights.NCCLUnusable{Failed: failed}),
		Found("output", preflights.OutputFull{Folder: folder, Free: 4096}).graded(notice.Error).On(0),
		Found("clocks", preflights.OneClock{}))
	return c
}

// The report has one layout per format: testdata/preflight.txt, .md and .json.
func TestReportFormats(t *testing.T) {
	for format, file := range map[document.Format]string{"": "preflight.txt", document.Markdown: "preflight.md",
		document.JSON: "preflight.json"} {
		var out strings.Builder
		if worst, err := sampleList(&out, format).Write(); worst != notice.Error || err != nil {
			t.Errorf("%s: %s, %v", format, worst, err)
		}
		golden.Text(t, filepath.Join("testdata", file), out.String())
		for line := range strings.Lines(out.String()) {
			if format == "" && len(line) > 81 {
				t.Errorf("%d columns: %s", len(line)-1, line)
			}
		}
	}
}

// If the job ends early, the report has all rows so far, once.
func TestReportTruncated(t *testing.T) {
	var out strings.Builder
	c := &Checklist{format: document.JSON, out: &out, ranks: ranksOf(1, "a")}
	c.Add(Found("clocks", preflights.OneClock{}))
	cause := notice.RunHung{Problem: "rank 3 on node7 does not answer"}
	c.CutShort(cause)
	first := out.String()
	var r struct {
		Verdict Verdict
		Rows    []ReportedRow
		Notices []struct{ Code notice.Code }
	}
	must.NoError(t, json.Unmarshal([]byte(first), &r))
	must.EqOp(t, Problem, r.Verdict)
	must.Len(t, 2, r.Rows)
	must.EqOp(t, "communication", r.Rows[1].Check)
	must.EqOp(t, "preflight-stopped", r.Notices[1].Code)
	must.StrContains(t, first, cause.Problem)
	c.CutShort(notice.RunSignalled{Signal: "SIGTERM"})
	_, err := c.Write()
	must.NoError(t, err)
	must.EqOp(t, first, out.String())
	var none *Checklist
	none.CutShort(cause)
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestReportWriteError(t *testing.T) {
	for _, format := range document.FormatNames() {
		if _, err := sampleList(brokenPipe{}, document.Format(format)).Write(); err == nil {
			t.Errorf("%s: no error", format)
		}
	}
}

// The manual has exactly one line per check.
func TestManualListsChecks(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		must.NoError(t, err)
		return string(text)
	}
	manual, documented := read("../../docs/preflight.md"), map[string]bool{"check": true}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| .* \| ([^|]*) \|$`).FindAllStringSubmatch(manual, -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			documented[name] = true
		}
		for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[2], -1) {
			if e := notice.Find(notice.Code(code[1])); e == nil || e.Severity == notice.Info {
				t.Errorf("docs/preflight.md has %q, the code of no finding", code[1])
			}
		}
	}
	inCode := map[string]bool{"check": true}
	for _, c := range Trials(2) {
		inCode[c.Collective.String()] = true
	}
	sources, _ := filepath.Glob("*.go")
	others, _ := filepath.Glob("../preflight*.go")
	check := regexp.MustCompile(`(?:const name = |Found\(|\t\{)"([^"]+)"`)
	for _, path := range append(sources, others...) {
		if strings.HasSuffix(path, "_test.go") || path == "node.go" { // has a table of properties
			continue
		}
		for _, m := range check.FindAllStringSubmatch(read(path), -1) {
			inCode[m[1]] = true
		}
	}
	must.Eq(t, documented, inCode)
}
