package foreign

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// ncclText reads the text of nccl-tests and rccl-tests of all years: which columns there are is read off the table's
// own heading, never off the number of words.
type ncclText struct {
	in    *input
	shell *shell
	test  *ncclTest
}

// ncclTest is one run of a program of nccl-tests.
type ncclTest struct {
	*test
	seen    map[string]bool // kinds of header lines
	columns *ncclColumns    // nil: no heading yet
	ncclHeader
	only         coll.Placement // of a table with one placement; 0: not known
	cycle        int            // that the rows belong to; 0: not told
	headingCycle int            // that the last heading belongs to
	headless     bool           // rows below the end of another table are all there is of it
	failure      string         // the first line that says so
	wrong        int64          // values that the footer counts
	half         *ncclRow
	facts        ncclFacts
	export       *ncclExported // nil: it is not busbar's own export
}

// ncclHeader is what the lines over a table state of all its rows.
type ncclHeader struct {
	program    string // as the header names it
	version    string // of the tests
	vendor     string // nccl or rccl
	library    string // version of NCCL or RCCL
	iterations int    // operations timed for a value; 0: unknown
	blocking   string // -z, as the header words it
}

func newNCCLText(in *input, sh *shell) *ncclText { return &ncclText{in: in, shell: sh} }

var (
	ncclConfig = regexp.MustCompile(
		`^nThreads? (\d+) nGpus (\d+) minBytes (\d+) maxBytes (\d+) step: (\d+\(\w+\)) (.*)$`)
	ncclSetting  = regexp.MustCompile(`([a-z][a-z ]*): (\S+)`)
	ncclVersion  = regexp.MustCompile(`^(nccl|rccl)-tests:? [vV]ersion (\S+)(.*)$`)
	ncclLibrary  = regexp.MustCompile(`(?:nccl|rccl)-library=(\d+)`)
	ncclCompiled = regexp.MustCompile(`^NCCL Tests compiled with NCCL (\S+)`)
	ncclLoaded   = regexp.MustCompile(`(?:^| (?:NCCL|RCCL) INFO )(NCCL|RCCL) version *:? *(\S+)`)
	ncclStart    = regexp.MustCompile(`^Collective test (starting|concluded): (\S+)`)
	ncclRank     = regexp.MustCompile(
		`^Rank +(\d+) +(?:Group +(\d+) +)?(?:Pid +(\d+) +)?on +(\S+) +device +(\d+) +\[([^\]]*)\] *(.*)$`)
	ncclCycle   = regexp.MustCompile(`^Testing (\d+) cycle`)
	ncclFailure = regexp.MustCompile(`: Test (CUDA|HIP|NCCL) failure |: Test timeout |^error: \S|` +
		`(?:^| )\.\. \S+ pid \d+: Test failure `)
	ncclWrong  = regexp.MustCompile(`^Out of bounds values +: (\d+) FAILED`)
	ncclPlaces = regexp.MustCompile(`^out-of-place .*in-place`)
	ncclKnown  = regexp.MustCompile(
		`^(Using devices$|out-of-place|in-place|\(B\) |\(us\)|Reducing maxBytes to |Out of bounds values +:|Avg bus bandwidth +:|` +
			`GPU memory usage +:|Errors with asterisks|Blocking Enabled|Swap Comms Enabled|Parallel Init Enabled|` +
			`Per-Iteration Report|Writing JSON output|skipping json output|` +
			`HIP version *:|ROCm version *:|Hostname *:|Librccl path *:|Option -\w|time: |Bus bandwidth is not averaged)`)
)

func (p *ncclText) opens(l line) bool {
	return ncclConfig.MatchString(l.body) || ncclVersion.MatchString(l.body) || ncclStart.MatchString(l.body) ||
		l.body == "Using devices" || ncclPlaces.MatchString(l.body) || ncclHeading(l.body) != nil ||
		ncclExport.MatchString(l.body)
}

// begins starts a test at a header line, if this kind of line was seen already, or a table behind it.
func (p *ncclText) begins(kind string, l line) error {
	var above *ncclTest
	if p.test != nil && (p.test.seen[kind] || p.test.columns != nil) {
		above = p.test
		if err := p.close(); err != nil {
			return err
		}
	}
	if p.test == nil {
		p.test = &ncclTest{test: p.in.newTest("nccl-tests", "", l.n), seen: map[string]bool{}}
		p.test.settle, p.test.library = p.test.decide, p.shell.library
		p.test.vendor = cmp.Or(p.shell.vendor, "nccl")
		if p.shell.program != "" && strings.Contains(p.shell.program, "_perf") {
			p.test.facts.typed, p.test.facts.asked = p.shell.program, p.shell.np
		}
		p.test.run.Environment = p.shell.environment
		p.shell.forget()
		if above != nil && (kind == "heading" || kind == "devices") && p.test.facts.typed == "" {
			p.test.inherit(above)
		}
	}
	p.test.seen[kind] = true
	return nil
}

// beginsHeadless starts a test at a row below the end of a table. Only the columns are as in that table: the row may be
// of another number of ranks, library or setting.
func (p *ncclText) beginsHeadless(l line) error {
	above := p.test
	if err := p.begins("row", l); err != nil {
		return err
	}
	p.test.columns, p.test.stated, p.test.vendor, p.test.headless = above.columns, above.stated, above.vendor, true
	p.test.warn(notice.RowsWithoutHeader{Line: l.n})
	return nil
}

func (p *ncclText) take(l line) (bool, error) {
	if t := p.test; t != nil && t.columns != nil && l.number() {
		if t.footer {
			if r := (&ncclRow{hosts: p.in.hosts}); !r.read(l.text, t.columns) {
				return false, nil
			}
			if err := p.beginsHeadless(l); err != nil {
				return true, err
			}
		}
		return p.test.row(l)
	}
	if known, err := p.header(l); known || err != nil {
		return known, err
	}
	t := p.test
	if t == nil {
		return false, nil
	}
	switch {
	case l.body == "" && l.mark:
		return true, nil
	case t.about(l):
		if t.footer {
			if err := t.tearHalf(); err != nil {
				return true, err
			}
		}
		return true, t.addPending()
	case t.columns != nil:
		return t.row(l)
	}
	return false, nil
}

// header reads the lines that may begin a test.
func (p *ncclText) header(l line) (bool, error) {
	var err error
	if m := ncclExport.FindStringSubmatch(l.body); m != nil {
		if err = p.begins("export", l); err == nil {
			p.test.export = newNCCLExported(m)
		}
		return true, err
	}
	if m := ncclVersion.FindStringSubmatch(l.body); m != nil {
		if err = p.begins("version", l); err == nil {
			p.test.vendor, p.test.version = m[1], m[2]
			if lib := ncclLibrary.FindStringSubmatch(m[3]); lib != nil {
				p.test.library = versionOf(lib[1])
			}
		}
		return true, err
	}
	if m := ncclStart.FindStringSubmatch(l.body); m != nil {
		if m[1] == "concluded" {
			return p.test != nil, nil
		}
		if err = p.begins("start", l); err == nil {
			p.test.program = m[2]
		}
		return true, err
	}
	if m := ncclConfig.FindStringSubmatch(l.body); m != nil {
		if err = p.begins("config", l); err == nil {
			p.test.config(m)
		}
		return true, err
	}
	if c := ncclHeading(l.body); c != nil {
		if t := p.test; t == nil || t.footer || t.facts.rows > 0 && t.cycle == t.headingCycle {
			if err = p.begins("heading", l); err != nil {
				return true, err
			}
		}
		p.test.columns, p.test.headingCycle = c, p.test.cycle
		p.test.stated = bandwidths{alg: "algbw", bus: "busbw", early: c.error != "#wrong"}
		return true, p.test.tearHalf()
	}
	if closed := p.test == nil || p.test.footer; closed && (l.body == "Using devices" || ncclPlaces.MatchString(l.body) ||
		ncclRank.MatchString(l.body)) {
		if err = p.begins("devices", l); err == nil {
			p.test.about(l)
		}
		return true, err
	}
	return false, nil
}

// config reads the line of settings.
func (t *ncclTest) config(m []string) {
	t.set("nThread", m[1])
	t.set("nGpus", m[2])
	t.set("minBytes", m[3])
	t.set("maxBytes", m[4])
	t.set("step", m[5])
	for _, s := range ncclSetting.FindAllStringSubmatch(m[6], -1) {
		t.set(strings.TrimSpace(s[1]), s[2])
	}
	t.settings()
}

// inherit takes from the table above how it was measured: a program that prints several tables states it once.
func (t *ncclTest) inherit(above *ncclTest) {
	for _, key := range []string{"iters", "agg iters", "warmup iters", "validation", "graph"} {
		if value, stated := above.run.Imported.Settings[key]; stated {
			t.set(key, value)
		}
	}
	if t.settings(); t.iterations > 0 {
		t.deduced(notice.Deduced{What: notice.DeducedIterations, From: notice.FromTableAbove})
	}
}

// settings turns the words that were set into what the table says of all rows.
func (t *ncclTest) settings() {
	get := func(key string, missing int) int {
		n, err := strconv.Atoi(t.run.Imported.Settings[key])
		if err != nil {
			return missing
		}
		return n
	}
	t.run.Method.Warmup, t.run.Method.CheckRounds = get("warmup iters", -1), get("validation", -1)
	t.run.Method.Iterations, t.run.Method.Aggregate = get("iters", 0), get("agg iters", 0)
	if get("graph", 0) > 0 {
		t.run.Method.Graph = t.run.Method.Iterations
	}
	t.iterations = product(t.run.Method.Iterations, max(t.run.Method.Aggregate, 1), max(get("graph", 0), 1))
}

// about reads the lines around a table.
func (t *ncclTest) about(l line) bool {
	if t.exportedLine(l) {
		return true
	}
	if m := ncclRank.FindStringSubmatch(l.body); m != nil {
		t.rank(m)
		return true
	}
	if m := ncclCompiled.FindStringSubmatch(l.body); m != nil {
		t.set("compiled with", "NCCL "+m[1])
		return true
	}
	if m := ncclLoaded.FindStringSubmatch(l.text); m != nil && !t.footer { // below a footer it is of the next test
		if t.library == "" {
			t.vendor, t.library = strings.ToLower(m[1]), m[2]
		}
		return true
	}
	if m := ncclCycle.FindStringSubmatch(l.body); m != nil {
		t.cycle, _ = strconv.Atoi(m[1])
		return true
	}
	if ncclFailure.MatchString(l.text) || ncclFailure.MatchString(l.body) {
		if t.footer && t.in.shell.program != "" { // of the command that follows
			return false
		}
		if t.failure == "" {
			t.failure = strings.TrimSpace(l.text)
		}
		return true
	}
	if !ncclKnown.MatchString(l.body) {
		return false
	}
	switch key, value, _ := strings.Cut(l.body, ":"); {
	case strings.HasPrefix(l.body, "Out of bounds"), strings.HasPrefix(l.body, "Avg bus bandwidth"):
		t.footer = true
		if m := ncclWrong.FindStringSubmatch(l.body); m != nil && t.export == nil { // an export has it of its rows
			t.wrong, _ = count(m[1])
		}
	case strings.HasPrefix(l.body, "out-of-place") && !strings.Contains(l.body, " in-place"):
		t.only = coll.OutOfPlace
	case strings.HasPrefix(l.body, "in-place"):
		t.only = coll.InPlace
	case strings.HasPrefix(l.body, "Blocking Enabled"):
		t.blocking = strings.TrimSpace(value)
		t.set("blocking", t.blocking)
	case strings.HasPrefix(l.body, "Reducing maxBytes"):
		t.set("reduced", l.body)
	case strings.HasPrefix(key, "HIP version"), strings.HasPrefix(key, "ROCm version"),
		strings.HasPrefix(key, "Librccl path"):
		t.set(strings.TrimSpace(key), strings.TrimSpace(value))
	}
	return true
}

// rank reads the line of a device.
func (t *ncclTest) rank(m []string) {
	n := func(s string) int {
		v, _ := strconv.Atoi(s)
		return v
	}
	r := result.Rank{Rank: n(m[1]), Host: m[4], LocalRank: n(m[5]), PID: n(m[3]), PCI: m[6],
		Device: strings.TrimSpace(m[7])}
	if t.export != nil && r.PCI == noPCI {
		r.PCI = ""
	}
	t.facts.groups = append(t.facts.groups, n(m[2]))
	t.ranks = append(t.ranks, r)
	t.in.host(r.Host)
}

// versionOf is a version of NCCL by its number: 22304 is 2.23.4, 2708 2.7.8.
func versionOf(code string) string {
	n, err := strconv.Atoi(code)
	switch {
	case err != nil || n < 1000:
		return code
	case n < 10000:
		return strconv.Itoa(n/1000) + "." + strconv.Itoa(n/100%10) + "." + strconv.Itoa(n%100)
	}
	return strconv.Itoa(n/10000) + "." + strconv.Itoa(n/100%100) + "." + strconv.Itoa(n%100)
}

func (p *ncclText) close() error {
	t := p.test
	if t == nil {
		return nil
	}
	p.test = nil
	if err := t.tearHalf(); err != nil {
		return err
	}
	switch {
	case t.failure != "":
		return t.end(result.Aborted, notice.Recorded{Text: t.failure})
	case !t.footer && t.columns != nil:
		return t.end(result.Interrupted, notice.SourceIncomplete{Lacks: notice.SourceFooter})
	case !t.footer:
		return t.end(result.Interrupted, notice.SourceIncomplete{Lacks: notice.SourceTable})
	case t.export != nil && t.export.outcome != "":
		return t.end(t.export.outcome, t.export.cause)
	}
	return t.end(result.Complete, t.wrongValues(t.wrong))
}

// mode is how the operations were timed, by the -z of the header.
func (h *ncclHeader) mode() (mode coll.Mode, sync, summary string) {
	if h.blocking == "" {
		return coll.Throughput, "issued back to back",
			"mean over iterations; of the ranks' times the mean, unless -a was given"
	}
	return coll.Latency, h.blocking, "mean over iterations; of the ranks' times the mean, unless -a was given"
}
