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

// ncclText reads the text of all versions of nccl-tests and rccl-tests: the table's heading names the columns.
type ncclText struct {
	layout
	nccl *ncclTest
}

// ncclTest is one run of an nccl-tests program.
type ncclTest struct {
	*test
	ncclHeader
	seen    map[string]bool // kinds of header lines
	columns *ncclColumns    // nil: no heading yet
	only    coll.Placement  // of a table with one placement; 0: unknown
	cycle   int             // of the rows; 0: not stated
	closed  bool            // the footer was read
	groups  []int           // of the ranks
}

// ncclHeader holds the header's values, which apply to all rows.
type ncclHeader struct {
	program    string // as in the header
	version    string // of the tests
	iterations int    // operations per measured value; 0: unknown
	mode       coll.Mode
	sync       string // how it waited for operations
	summary    string // statistic over all times
	collective coll.Collective
	operation  string
}

// ncclLine is a kind of line around a table.
type ncclLine struct {
	kind string // for lines that begin a test if none is open; "" for others
	once bool   // it begins another test if it or a heading was seen before
	re   *regexp.Regexp
	use  func(t *ncclTest, m []string)
}

var ncclLines = []ncclLine{
	{"version", true, regexp.MustCompile(`^(nccl|rccl)-tests:? [vV]ersion (\S+)(?:.* (?:nccl|rccl)-library=(\d+))?`),
		func(t *ncclTest, m []string) {
			t.version, t.around.vendor = m[2], m[1]
			t.around.library = cmp.Or(versionOf(m[3]), t.around.library)
		}},
	{"start", true, regexp.MustCompile(`^Collective test starting: (\S+)`), func(t *ncclTest, m []string) {
		t.program = m[1]
		if c, operation := perfProgram(m[1]); c != coll.Other || operation != "" {
			t.collective, t.operation = c, operation
		}
	}},
	{"config", true, regexp.MustCompile(
		`^nThreads? (\d+) nGpus (\d+) minBytes (\d+) maxBytes (\d+) step: (\d+\(\w+\)) (.*)$`), (*ncclTest).config},
	{"devices", false, regexp.MustCompile(`^Using devices$|^out-of-place .*in-place`), nil},
	{"devices", false, regexp.MustCompile(
		`^Rank +(\d+) +(?:Group +(\d+) +)?(?:Pid +(\d+) +)?on +(\S+) +device +(\d+) +\[([^\]]*)\] *(.*)$`),
		(*ncclTest).rank},
	{"", false, regexp.MustCompile(`^(?:NCCL Tests )?(compiled with|(?:HIP|ROCm) version|Librccl path)[ :]+(\S.*)$`),
		func(t *ncclTest, m []string) { t.set(m[1], m[2]) }},
	{"", false, regexp.MustCompile(`^Reducing maxBytes to .*$`),
		func(t *ncclTest, m []string) { t.set("reduced", m[0]) }},
	{"", false, regexp.MustCompile(`^Testing (\d+) cycle`),
		func(t *ncclTest, m []string) { t.cycle, _ = amount(m[1]) }},
	{"", false, regexp.MustCompile(`^(Blocking) Enabled: (.*)$`), func(t *ncclTest, m []string) {
		t.mode, t.sync = coll.Latency, m[2]
		t.set("blocking", m[2])
	}},
	{"", false, regexp.MustCompile(`^(out-of-place|in-place)$`),
		func(t *ncclTest, m []string) { t.only, _ = coll.ParsePlacement(m[1]) }},
	{"", false, regexp.MustCompile(`^(?:Out of bounds values +: (?:(\d+) FAILED)?|Avg bus bandwidth +:)`),
		(*ncclTest).footer},
	{"", false, regexp.MustCompile(`^Collective test concluded: |^\(B\) |^\(us\)|^GPU memory usage +:|` +
		`^Errors with asterisks|^(Swap Comms|Parallel Init) Enabled|^Per-Iteration Report|^Writing JSON output|` +
		`^skipping json output|^Hostname *:|^Option -\w|^time: |^Bus bandwidth is not averaged|^$`), nil},
}

var ncclFailure = regexp.MustCompile(`: Test (CUDA|HIP|NCCL) failure |: Test timeout |^[# ]*error: \S|` +
	`(?:^| )\.\. \S+ pid \d+: Test failure `)

// ownExport is the first line of busbar's own export in this layout.
var ownExport = regexp.MustCompile(`^busbar.*: \S+ \(.*\), in the layout of nccl-tests$`)

// begins starts a test at a line that may belong to its header.
func (p *ncclText) begins(n int) error {
	t, err := p.begin("nccl-tests", "", n)
	p.nccl = newNCCLTest(t)
	return err
}

func newNCCLTest(t *test) *ncclTest {
	n := &ncclTest{test: t, seen: map[string]bool{}, ncclHeader: ncclHeader{mode: coll.Throughput, sync: backToBack,
		summary: "mean over iterations; of the ranks' times the mean, unless -a was given"}}
	t.run.Method.Average = "mean over ranks, unless -a was given"
	t.settle = n.decide
	t.lacks(notice.SourceTable)
	return n
}

func (p *ncclText) take(l line) (bool, error) {
	t := p.nccl
	open := p.test != nil
	if open && t.columns != nil && !l.mark && l.body != "" {
		if known, err := t.row(l); known || err != nil {
			return known, err
		}
	}
	if c := ncclHeading(l.body); c != nil {
		if !open || t.closed {
			if err := p.begins(l.n); err != nil {
				return true, err
			}
		}
		p.nccl.heading(c)
		return true, nil
	}
	if open && ncclFailure.MatchString(l.text) && !(t.closed && p.shell.called) {
		t.ends(result.Aborted, notice.Recorded{Text: strings.TrimSpace(l.text)})
		return true, nil
	}
	if ownExport.MatchString(l.body) {
		return true, p.in.own(l.n)
	}
	return p.header(l)
}

// header reads the lines around a table.
func (p *ncclText) header(l line) (bool, error) {
	if l.body == "" && !l.mark {
		return false, nil
	}
	for _, k := range ncclLines {
		m := k.re.FindStringSubmatch(l.body)
		if m == nil {
			continue
		}
		t, open := p.nccl, p.test != nil
		switch {
		case !open && k.kind == "":
			return false, nil
		case !open, k.kind != "" && t.closed, k.once && (t.columns != nil || t.seen[k.kind]):
			if err := p.begins(l.n); err != nil {
				return true, err
			}
		}
		p.nccl.seen[k.kind] = true
		if k.use != nil {
			k.use(p.nccl, m)
		}
		return true, nil
	}
	return false, nil
}

func (t *ncclTest) heading(c *ncclColumns) {
	t.columns = c
	t.stated = bandwidths{alg: "algbw", bus: "busbw", early: c.error != "#wrong"}
	t.lacks(notice.SourceFooter)
}

// footer ends the table. The library's log lines after it belong to the next test.
func (t *ncclTest) footer(m []string) {
	if !t.closed {
		t.closed = true
		t.ends(result.Complete, nil)
		t.shell.around = newAround("")
	}
	if m[1] != "" {
		t.wrong, _ = count(m[1])
	}
}

var ncclSetting = regexp.MustCompile(`([a-z][a-z ]*): (\S+)`)

// config reads the line of settings.
func (t *ncclTest) config(m []string) {
	for i, key := range strings.Fields("nThread nGpus minBytes maxBytes step") {
		t.set(key, m[1+i])
	}
	for _, s := range ncclSetting.FindAllStringSubmatch(m[6], -1) {
		t.set(strings.TrimSpace(s[1]), s[2])
	}
	t.method("iters", "agg iters", "warmup iters")
}

// method sets the method from these settings.
func (t *ncclTest) method(iters, agg, warmup string) {
	get := func(key string, missing int) int {
		n, err := strconv.Atoi(t.run.Imported.Settings[key])
		if err != nil {
			return missing
		}
		return n
	}
	m := &t.run.Method
	m.Iterations, m.Aggregate, m.Warmup = get(iters, 0), get(agg, 0), get(warmup, -1)
	if m.CheckRounds = get("validation", -1); get("graph", 0) > 0 {
		m.Graph = m.Iterations
	}
	t.iterations = t.operations(m.Iterations)
}

// operations returns the number of operations per measured value.
func (t *ncclTest) operations(iterations int) int {
	launches, _ := amount(t.run.Imported.Settings["graph"]) // of a CUDA graph
	return product(iterations, max(t.run.Method.Aggregate, 1), max(launches, 1))
}

// rank reads the line of a device.
func (t *ncclTest) rank(m []string) {
	n := func(s string) int {
		v, _ := amount(s)
		return v
	}
	r := result.Rank{Rank: n(m[1]), Host: m[4], LocalRank: n(m[5]), PID: n(m[3]), PCI: m[6],
		Device: strings.TrimSpace(m[7])}
	t.groups, t.ranks = append(t.groups, n(m[2])), append(t.ranks, r)
}

// versionOf returns NCCL's version for its number: 22304 is 2.23.4, 2708 2.7.8.
func versionOf(code string) string {
	n, err := strconv.Atoi(code)
	part := func(unit, modulo int) string { return strconv.Itoa(n / unit % modulo) }
	switch {
	case err != nil || n < 1000:
		return code
	case n < 10000:
		return part(1000, 10) + "." + part(100, 10) + "." + part(1, 100)
	}
	return part(10000, 1000) + "." + part(100, 100) + "." + part(1, 100)
}

// describe sets the run's fields.
func (t *ncclTest) describe() {
	vendor := cmp.Or(t.around.vendor, "nccl")
	t.run.Tool = strings.TrimSpace(vendor + "-tests " + t.version)
	source := t.run.Imported
	if source.Format == "" {
		source.Format = vendor + "-tests text, without a table"
		if t.columns != nil {
			source.Format = vendor + "-tests text " + t.columns.era
		}
	}
	t.backend(vendor, strings.ToUpper(vendor), t.around.library)
	source.Tool = t.run.Tool
	first := 0
	for i, r := range t.ranks {
		if r.Rank == 0 {
			first++
		}
		if t.groups[i] > 0 {
			t.warn(notice.ConcurrentGroups{})
		}
	}
	if first > 1 {
		t.warn(notice.SeparateWorlds{Processes: first})
	}
}
