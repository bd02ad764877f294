package foreign

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// osu reads the text of the OSU benchmarks: the columns are those that the heading names.
type osu struct {
	in    *input
	shell *shell
	test  *osuTest
}

type osuTest struct {
	*test
	collective coll.Collective
	operation  string
	backend    string
	version    string
	dataType   coll.DataType
	placement  coll.Placement
	rootZero   bool // root 0, and not another with each operation
	columns    []string
	sized      bool  // the first column is a size
	largest    int64 // size of a row so far, which ascend; -1: none yet
}

func newOSU(in *input, sh *shell) *osu { return &osu{in: in, shell: sh} }

var (
	osuTitle = regexp.MustCompile(
		`^OSU (MPI|NCCL|RCCL|OpenSHMEM|UPC|UPC\+\+|oshm)(?:-(\w+))? (.+?)(?: (?:Benchmark|Test))?s? v(\S+)$`)
	osuType    = regexp.MustCompile(`^Datatype: (\S+?)\.$`)
	osuSetting = regexp.MustCompile(`\[ ([a-z ]+): (\S+) \]`)
	osuRow     = regexp.MustCompile(`^\s*\d[\d.]*(\s|$)`)
	osuLatency = regexp.MustCompile(`^(Avg )?(Latency|Lat) ?\(us\)$`)
	osuComment = regexp.MustCompile(
		`^(Overall = |Send Buffer on |Running |Transfer|Window creation: |Synchronization: |Datatype: |Rank|-)`)
	osuProgram = regexp.MustCompile(`^osu_(?:xccl_|nccl_|oshm_|upcxx_|upc_all_)?(\w+)$`)
	osuFailure = regexp.MustCompile(`^DATA VALIDATION ERROR`)
)

func (p *osu) opens(l line) bool { return l.mark && osuTitle.MatchString(l.body) }

func (p *osu) take(l line) (bool, error) {
	if m := osuTitle.FindStringSubmatch(l.body); m != nil && l.mark {
		if err := p.close(); err != nil {
			return true, err
		}
		p.test = p.begin(m, l)
		return true, nil
	}
	t := p.test
	if t == nil {
		return false, nil
	}
	switch words := strings.TrimSpace(strings.TrimPrefix(l.text, "#")); {
	case osuFailure.MatchString(l.body):
		t.warn(notice.Recorded{Text: l.body})
		return true, nil
	case !l.mark && t.columns != nil && osuRow.MatchString(l.text):
		if !t.ascends(l) {
			t.columns = nil // the table is over: what follows is of another, which has no heading
			return false, nil
		}
		return true, t.row(l)
	case !l.mark:
		return false, nil
	case strings.HasPrefix(words, "Size ") || strings.HasPrefix(words, "Avg Latency(us)") ||
		strings.HasPrefix(words, "Overall(us)"):
		t.columns = osuColumns(words)
		t.sized, t.largest = t.columns[0] == "Size", -1
		return true, nil
	case osuType.MatchString(l.body):
		name := osuType.FindStringSubmatch(l.body)[1]
		if t.dataType = dataType(name); t.dataType == 0 {
			t.set("datatype", name)
		}
		return true, nil
	case osuSetting.MatchString(l.body):
		for _, m := range osuSetting.FindAllStringSubmatch(l.body, -1) {
			t.set(m[1], m[2])
		}
		return true, nil
	}
	return osuComment.MatchString(l.body), nil
}

// osuColumns splits a heading: names hold single spaces, and stand apart by two or more.
func osuColumns(heading string) []string {
	var names []string
	for _, n := range regexp.MustCompile(`\s{2,}|\t`).Split(heading, -1) {
		if n != "" {
			names = append(names, n)
		}
	}
	return names
}

// osuCollectives are the titles whose sizes and operation are those of a collective here.
var osuCollectives = map[string]coll.Collective{
	"Allreduce": coll.AllReduce, "Allgather": coll.AllGather, "Reduce_scatter": coll.ReduceScatter,
	"Broadcast": coll.Broadcast, "Reduce": coll.Reduce,
	"All-to-All Personalized Exchange": coll.AllToAll, "Alltoall": coll.AllToAll, "Gather": coll.Gather,
	"Scatter": coll.Scatter,
}

// begin reads a title.
func (p *osu) begin(m []string, l line) *osuTest {
	tool := "OSU Micro-Benchmarks " + m[4]
	t := &osuTest{test: p.in.newTest(tool, "OSU text", l.n), version: m[4], backend: strings.ToLower(m[1])}
	if m[2] != "" {
		t.set("device", m[2])
	}
	name := strings.TrimSuffix(m[3], " Latency")
	t.collective = coll.Other
	if t.collective = osuCollectives[name]; t.collective == 0 {
		t.collective, t.operation = coll.Other, m[3]
	}
	t.run.Backend = result.Backend{Name: t.backend, Library: libraryBy(m[1], "", tool)}
	t.command(p.shell)
	t.known()
	return t
}

// command takes the number of ranks, and whether the collective was in place, from the command over the test. That of
// another collective's program is not of this table.
func (t *osuTest) command(sh *shell) {
	defer sh.forget()
	m := osuProgram.FindStringSubmatch(path.Base(sh.program))
	if m != nil {
		if c, _ := operationOf(m[1]); c != t.collective {
			return
		}
		if t.run.World = sh.np; sh.np > 0 {
			t.deduced(notice.Deduced{What: notice.DeducedRanks, From: notice.FromCommand})
		}
		t.rootZero = !sh.has("-k")
		if t.collective != coll.Other {
			if t.placement = coll.OutOfPlace; sh.has("-l") {
				t.placement = coll.InPlace
			}
			t.deduced(notice.Deduced{What: notice.DeducedPlacement, From: notice.FromCommand})
		}
	}
	t.run.Environment = sh.environment
}

// known fills in what holds for all runs of a version, whatever its options.
func (t *osuTest) known() {
	major, minor, _ := strings.Cut(t.version, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(strings.TrimRightFunc(minor, func(r rune) bool { return r < '0' || r > '9' }))
	early := errA == nil && errB == nil && (a < 7 || a == 7 && b < 1)
	t.rootZero = t.rootZero || early
	switch {
	case t.collective == coll.Other:
	case t.backend == "nccl" || t.backend == "rccl":
		t.dataType = coll.Float32
	case t.backend != "mpi": // the type of the shared-memory languages is not that of MPI's versions
	case early && t.collective.Reduces():
		t.dataType = coll.Float32
	case early:
		t.dataType = coll.Int8
	}
	if t.collective == coll.Broadcast && t.backend == "mpi" {
		t.placement = coll.InPlace // it has one buffer
	}
}

// ascends says whether a row may be of the table: its size is larger than those above.
func (t *osuTest) ascends(l line) bool {
	words := strings.Fields(l.text)
	size, ok := count(words[0])
	if !t.sized || !ok || len(words) != len(t.columns) {
		return true
	}
	above := t.largest
	t.largest = max(above, size)
	return size > above
}

// row makes a record of a row.
func (t *osuTest) row(l line) error {
	words := strings.Fields(l.text)
	if len(words) != len(t.columns) {
		return t.in.torn(l.n, l.text)
	}
	rec := &result.Record{
		Case: coll.Case{Collective: t.collective, Type: t.dataType, Root: -1, Placement: t.placement, Mode: coll.Latency,
			World: t.run.World, SizeBytes: -1, Count: -1},
		Status: result.OK, Check: result.Check{Result: "off"},
		Imported: &result.Origin{Line: l.n, Operation: t.operation, Stated: map[string]string{}},
	}
	t.giveWorld(&rec.Case)
	if t.collective.Reduces() {
		rec.Op = coll.Sum
	}
	if t.collective.Rooted() && t.rootZero {
		rec.Root = 0
	}
	for i, name := range t.columns {
		if !t.column(rec, name, words[i]) {
			return t.in.torn(l.n, l.text)
		}
	}
	if rec.Time == nil || strings.Contains(t.operation, "andwidth") || strings.HasPrefix(t.operation, "Non-blocking") {
		rec.Mode = 0 // what was timed is no operation alone
	}
	t.in.counts.Rows++
	t.configure()
	return t.add(rec)
}

// column puts one word where it belongs; false: it is none that this column can hold.
func (t *osuTest) column(rec *result.Record, name, word string) bool {
	v, ok := number(word)
	iterations, _ := amount(word)
	switch {
	case name == "Validation":
		if rec.Check.Result = "ok"; word != "Pass" {
			rec.Status, rec.Check.Result = result.Wrong, "wrong"
			rec.Why = result.Because(notice.SourceReports{Text: word})
		}
		return true
	case !ok || v < 0:
		return false
	case name == "Size":
		n, ok := count(word)
		if ok {
			osuSize(rec, n)
		}
		return ok
	case osuLatency.MatchString(name) || name == "Overall(us)":
		rec.Time = &result.Time{Seconds: seconds(v, 1e-6), Outliers: -1, Stop: "fixed",
			Sync: "barrier behind each operation", Summary: "mean over iterations, mean over ranks"}
	case name == "Iterations" && rec.Time != nil:
		rec.Time.Samples, rec.Time.Iterations = iterations, iterations
	default:
		rec.Imported.Stated[name] = word
	}
	return true
}

// osuSize reads a size: what one rank sends, in reduce_scatter all of it.
func osuSize(rec *result.Record, n int64) {
	if rec.Collective != coll.ReduceScatter {
		sized(&rec.Case, n)
		return
	}
	rec.SizeBytes = n
	if parts := int64(rec.World) * int64(rec.Type.Size()); parts > 0 && n%parts == 0 {
		rec.Count = n / parts
	}
}

func (p *osu) close() error {
	t := p.test
	if p.test = nil; t == nil {
		return nil
	}
	return t.end(result.Complete, nil)
}
