package foreign

import (
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// ncclColumns are the columns of a table, as its heading names them.
type ncclColumns struct {
	op, root bool
	blocks   [][]string // of each placement: time, algbw, busbw, #wrong, …
	stamp    bool       // a time stamp ends the row
	unit     float64    // of times, in seconds
	error    string     // the name of the column that judges the data
	era      string
}

// ncclHeading reads the heading of a table; nil if the line is none.
func ncclHeading(body string) *ncclColumns {
	words := strings.Fields(body)
	if len(words) < 6 || words[0] != "size" && words[0] != "bytes" || !slices.Contains(words, "algbw") {
		return nil
	}
	c := &ncclColumns{unit: 1e-6, era: "nccl-tests text with #wrong (2022 and later)", error: "#wrong"}
	if words[0] == "bytes" {
		c.unit, c.era, c.error = 1e-3, "nccl-tests text in ms with res (2017 to 2019)", "res"
	} else if slices.Contains(words, "error") {
		c.era, c.error = "nccl-tests text with error (2019 to 2022)", "error"
	}
	for _, w := range words[2:] {
		switch w {
		case "type":
		case "op", "redop":
			c.op = true
		case "root":
			c.root = true
		case "timestamp":
			c.stamp = true
		case "time", "cputime":
			c.blocks = append(c.blocks, []string{w})
		default:
			if len(c.blocks) == 0 {
				return nil
			}
			last := len(c.blocks) - 1
			c.blocks[last] = append(c.blocks[last], w)
		}
	}
	for _, b := range c.blocks {
		if len(b) != len(c.blocks[0]) || len(b) < 3 {
			return nil
		}
	}
	if len(c.blocks) == 0 || len(c.blocks) > 2 {
		return nil
	}
	return c
}

// ncclRow is a row of a table, perhaps not whole yet.
type ncclRow struct {
	line     int
	text     string
	size     int64
	count    int64
	dataType string
	op, root string
	lacks    int // words before the figures that are still to come: the operation, the root
	figures  []string
	stamp    string

	hosts      map[string]bool // whose names a line of the log may begin with
	unreadable bool            // it is unknown where a figure ends and a line of the log begins
}

var (
	ncclFigure = regexp.MustCompile(`^([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\*?|N/A|[-+]?nan|[-+]?inf)$`)
	// A figure with a line of a log glued to its end, which another thread printed: one that begins with a host's name,
	// and all others.
	gluedHost = regexp.MustCompile(`^(.+):\d+:\d+$`)
	gluedLog  = regexp.MustCompile(`^([-+]?\d+(?:\.\d+)?(?:[eE][-+]\d+)?\*?|N/A)(?:\[|NCCL$|RCCL$)`)
	ncclStamp = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`)
)

// glued is the figure that a word begins with, where a line of a log follows it directly; "" for all other words. A
// host's name may begin with digits, so that only a host that is known shows where the figure ends.
func (r *ncclRow) glued(word string) (figure string) {
	m := gluedHost.FindStringSubmatch(word)
	if m == nil {
		if m = gluedLog.FindStringSubmatch(word); m != nil {
			return m[1]
		}
		return ""
	}
	fits := 0
	for i := range m[1] {
		if before := m[1][:i]; r.hosts[m[1][i:]] && (before == "" || ncclFigure.MatchString(before)) {
			figure = before
			fits++
		}
	}
	if fits == 1 {
		return figure
	}
	r.unreadable = r.unreadable || strings.ContainsAny(m[1][:1], "+-.0123456789") || strings.HasPrefix(m[1], "N/A")
	return ""
}

// row reads a row, or what is left of one behind a line of a log that another thread printed into it.
func (t *ncclTest) row(l line) (bool, error) {
	words := strings.Fields(l.text)
	if len(words) == 0 || l.mark {
		return false, nil
	}
	if t.half != nil && t.goesOn(words) {
		if t.half.whole(t.columns) {
			return true, t.emit()
		}
		return true, nil
	}
	if t.half != nil && t.half.unreadable {
		if _, is := plainLog(l.text); is { // the line may be nothing else
			t.half.unreadable = false
			return false, nil
		}
		return false, t.tearHalf()
	}
	if _, ok := count(words[0]); !ok || len(words) < 3 {
		return false, nil
	}
	r := &ncclRow{line: l.n, text: l.text, hosts: t.in.hosts}
	if !r.read(l.text, t.columns) {
		if !r.unreadable && libraryLog.MatchString(l.text) {
			return false, nil
		}
		return true, t.in.torn(l.n, l.text)
	}
	if err := t.tearHalf(); err != nil {
		return true, err
	}
	t.configure()
	t.half = r
	if r.whole(t.columns) {
		return true, t.emit()
	}
	return true, nil
}

// tearHalf gives up a row that was begun and not ended.
func (t *ncclTest) tearHalf() error {
	if t.half == nil {
		return nil
	}
	r := t.half
	t.half = nil
	if c := t.columns; len(r.figures) > 0 && len(c.blocks) == 2 && len(r.figures) == len(c.blocks[0]) && c.single() {
		t.half = r
		return t.emit()
	}
	return t.in.torn(r.line, r.text)
}

// single reports whether rows of one placement are whole: the first tests of broadcast had no other, under two
// headings.
func (c *ncclColumns) single() bool { return c.error == "res" && c.root && !c.op }

// read takes what a row begins with, and the figures that follow. The false value is no row.
func (r *ncclRow) read(text string, c *ncclColumns) bool {
	if m := ncclStamp.FindString(text); m != "" {
		r.stamp, text = m, strings.TrimSuffix(text, m)
	}
	words := strings.Fields(text)
	var ok [2]bool
	r.size, ok[0] = count(words[0])
	if len(words) < 3 {
		return false
	}
	r.count, ok[1] = count(words[1])
	if !ok[0] || !ok[1] || ncclFigure.MatchString(words[2]) {
		return false
	}
	r.dataType = words[2]
	if dataType(r.dataType) == 0 {
		if r.dataType = gluedWord(words[2], ncclTypes); r.dataType != "" && libraryLog.MatchString(text) {
			r.lacks = boolInt(c.op) + boolInt(c.root)
			return true
		}
		if r.dataType = words[2]; len(words) < 6 { // no row: a sentence that begins with two numbers
			return false
		}
	}
	words = words[3:]
	if c.op && len(words) > 0 && !ncclFigure.MatchString(words[0]) && r.glued(words[0]) == "" && !r.unreadable {
		r.op = words[0]
		if op := gluedWord(r.op, ncclOps); op != "" && op != r.op && libraryLog.MatchString(text) {
			r.op, r.lacks = op, boolInt(c.root)
			return true
		}
		words = words[1:]
	}
	if c.root && len(words) > 0 {
		root := words[0]
		if r.root = r.glued(root); r.root != "" {
			return true
		}
		if !wholeNumber.MatchString(root) {
			return false
		}
		r.root, words = root, words[1:]
	}
	return r.more(words, c)
}

// Names that a row may break off behind; of two that begin alike the longer one comes first.
var (
	ncclTypes = []string{"int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16",
		"f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"}
	ncclOps = []string{"sum", "prod", "max", "min", "avg", "mulsum", "none"}
)

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// gluedWord is the one of the names that a word begins with; "" if there is none.
func gluedWord(word string, names []string) string {
	for _, n := range names {
		if strings.HasPrefix(word, n) {
			return n
		}
	}
	return ""
}

var wholeNumber = regexp.MustCompile(`^-?\d+$`)

// more takes figures. What is no figure ends the line, if it is of a log.
func (r *ncclRow) more(words []string, c *ncclColumns) bool {
	want := len(c.blocks) * len(c.blocks[0])
	for i, w := range words {
		if len(r.figures) == want {
			return libraryLog.MatchString(strings.Join(words[i:], " "))
		}
		if figure := r.glued(w); figure != "" {
			r.figures = append(r.figures, figure)
			return libraryLog.MatchString(strings.Join(words[i:], " "))
		}
		if r.unreadable {
			return false
		}
		// Words of rccl-tests' -A: which algorithm and protocol.
		if !ncclFigure.MatchString(w) && !c.word(len(r.figures)) {
			return libraryLog.MatchString(strings.Join(words[i:], " "))
		}
		r.figures = append(r.figures, w)
	}
	return true
}

// word says whether a column holds words.
func (c *ncclColumns) word(i int) bool {
	switch c.blocks[0][i%len(c.blocks[0])] {
	case "algo", "proto", "algorithm", "protocol":
		return true
	}
	return false
}

func (r *ncclRow) whole(c *ncclColumns) bool { return len(r.figures) == len(c.blocks)*len(c.blocks[0]) }

// goesOn adds a line of nothing but figures to the row that was begun, behind the words that it still lacks.
func (t *ncclTest) goesOn(words []string) bool {
	before := len(t.half.figures)
	if t.half.lacks == 2 && slices.Contains(ncclOps, words[0]) {
		t.half.op, t.half.lacks, words = words[0], 1, words[1:]
	}
	if t.half.lacks > 0 && len(words) > 0 && wholeNumber.MatchString(words[0]) {
		t.half.root, t.half.lacks, words = words[0], 0, words[1:]
	}
	if t.half.lacks > 0 || len(words) == 0 {
		return t.half.lacks == 0
	}
	if !ncclFigure.MatchString(words[0]) && t.half.glued(words[0]) == "" {
		return false
	}
	if n := len(words); n >= 2 && ncclStamp.MatchString(words[n-2]+" "+words[n-1]) {
		t.half.stamp, words = words[n-2]+" "+words[n-1], words[:n-2]
	}
	room := len(t.columns.blocks)*len(t.columns.blocks[0]) - before
	if len(words) > room && t.half.glued(words[min(room, len(words)-1)]) == "" &&
		!libraryLog.MatchString(strings.Join(words, " ")) {
		return false
	}
	if !t.half.more(words, t.columns) {
		t.half.figures = t.half.figures[:before]
		return false
	}
	return true
}

// emit makes records of the row, one for each placement.
func (t *ncclTest) emit() error {
	r, c := t.half, t.columns
	t.half = nil
	t.in.counts.Rows++
	t.facts.row(r, c)
	placements := []coll.Placement{coll.OutOfPlace, coll.InPlace}
	if len(c.blocks) == 1 {
		placements = []coll.Placement{t.only}
	}
	width := len(c.blocks[0])
	for i := 0; (i+1)*width <= len(r.figures); i++ {
		p := placements[min(i, len(placements)-1)]
		figures := r.figures[i*width : (i+1)*width]
		if !slices.ContainsFunc(figures, func(f string) bool { return f != "N/A" }) {
			continue // this placement was not measured
		}
		rec := t.record(r, c.blocks[0], figures, p)
		if t.headless {
			t.in.doubtful(r.line, notice.RowBelowTable{Text: short(r.text)})
		}
		if t.export != nil {
			rec.Warnings = t.export.warningsOf(rec)
		}
		if err := t.add(rec); err != nil {
			return err
		}
	}
	return nil
}

// record makes one record of a row's figures for one placement.
func (t *ncclTest) record(r *ncclRow, names, figures []string, p coll.Placement) *result.Record {
	mode, sync, summary := t.mode()
	rec := &result.Record{
		Case: coll.Case{Collective: coll.Other, Type: dataType(r.dataType), Root: -1, Placement: p, Mode: mode,
			World:     t.world(),
			SizeBytes: r.size, Count: r.count},
		Cycle: t.cycle, Status: result.OK, Imported: &result.Origin{Line: r.line, Stated: map[string]string{}},
	}
	if t.collective() != 0 {
		rec.Collective, rec.Imported.Operation = t.facts.collective, t.facts.operation
	}
	stated := rec.Imported.Stated
	if rec.Type == 0 {
		stated["type"] = r.dataType
	}
	if op, err := coll.ParseRedOp(r.op); err == nil {
		rec.Op = op
	} else {
		stated["redop"] = r.op
	}
	if n, ok := amount(r.root); ok {
		rec.Root = n
	}
	if r.stamp != "" {
		stated["timestamp"] = r.stamp
	}
	for i, name := range names {
		t.figure(rec, name, figures[i], sync, summary)
	}
	if rec.Check.Result == "" {
		rec.Check.Result = "unknown"
	}
	return rec
}

// figure puts one figure where it belongs.
func (t *ncclTest) figure(rec *result.Record, name, text, sync, summary string) {
	v, ok := number(text)
	switch name {
	case "time":
		if !ok || v < 0 {
			rec.Imported.Stated[name] = text
			return
		}
		rec.Time = &result.Time{Seconds: seconds(v, t.columns.unit), Samples: 1, Iterations: t.iterations,
			Batch: t.iterations, Outliers: -1,
			Sync: sync, Summary: summary}
		if t.iterations > 0 {
			rec.Time.Stop = "fixed"
		}
		if t.export != nil { // how many batches there were is not told
			rec.Time.Samples, rec.Time.Iterations, rec.Time.Batch, rec.Time.Stop = 0, 0, 0, ""
		}
	case "#wrong", "error", "res":
		t.judge(rec, name, text)
	case "algo", "algorithm", "proto", "protocol", "nchannels", "#channels":
		if rec.Path == nil {
			rec.Path = &result.Path{}
		}
		switch name[0] {
		case 'a':
			rec.Path.Algorithm = text
		case 'p':
			rec.Path.Protocol = text
		default:
			rec.Path.Channels, _ = amount(text)
		}
	default:
		rec.Imported.Stated[name] = text
	}
}

// judge reads the column on the data: the number of wrong elements, in older layouts the largest difference. rccl-tests
// puts an asterisk behind a difference that is larger than it allows.
func (t *ncclTest) judge(rec *result.Record, name, text string) {
	text, starred := strings.CutSuffix(text, "*")
	v, ok := number(text)
	counted := ok && v != 0 && name == "#wrong"
	switch {
	case text == "N/A":
		rec.Check.Result = "off"
	case counted:
		rec.Status, rec.Check.Result, rec.Check.Wrong = result.Wrong, "wrong", wrongElements(v)
		rec.Why = result.Because(notice.SourceCountsWrong{Elements: wrongElements(v)})
	case starred:
		rec.Status, rec.Check.Result = result.Wrong, "wrong"
		rec.Why = result.Because(notice.SourceErrorLarge{})
		rec.Imported.Stated[name] = text
	case ok && v == 0:
		rec.Check.Result = "ok"
		rec.Check.Rounds = max(t.run.Method.CheckRounds, 0)
	default: // a difference may be within what the type allows
		rec.Imported.Stated[name] = text
	}
}
