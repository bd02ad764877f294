package foreign

import (
	"fmt"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// memory is a sink that keeps everything.
type memory struct {
	runs []*kept
}

type kept struct {
	run     result.Run
	ranks   []result.Rank
	records []*result.Record
	end     *result.End
}

func (m *memory) Begin(run *result.Run, ranks []result.Rank) (Table, error) {
	k := &kept{run: *run, ranks: ranks}
	m.runs = append(m.runs, k)
	return k, nil
}

func (k *kept) Append(r *result.Record) error {
	k.records = append(k.records, r)
	return nil
}

func (k *kept) End(e result.End) error {
	if k.end != nil {
		return fmt.Errorf("a second end")
	}
	k.end = &e
	return nil
}

func (m *memory) records() (all []*result.Record) {
	for _, k := range m.runs {
		all = append(all, k.records...)
	}
	return all
}

// read imports a text that must be of a known layout.
func read(t *testing.T, text string, given ...string) (*memory, Counts) {
	t.Helper()
	g, err := ParseGiven(given)
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{}
	counts, err := Read(strings.NewReader(text), File{Path: "some.log", SHA256: "00ff", Given: g}, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range m.runs {
		if k.end == nil {
			t.Errorf("run %s has no end", k.run.ID)
		}
	}
	if n := len(m.records()); counts.Points != n {
		t.Errorf("%+v, but %d points were handed on", counts, n)
	}
	return m, counts
}

// brief returns a record in one line, with a question mark for unknown values.
func brief(r *result.Record) string {
	known := func(v fmt.Stringer, is bool) string {
		if !is {
			return "?"
		}
		return v.String()
	}
	took := "-"
	if r.Time != nil {
		took = fmt.Sprintf("%gs", r.Time.Seconds)
	}
	about := fmt.Sprint(r.Operation(), " ", known(r.Type, r.Type != 0), " ", r.Op, " ", r.Root, " ",
		known(r.Placement, r.Placement != 0), " ", known(r.Mode, r.Mode != 0))
	text := fmt.Sprintf("%s n%d %d %d %s %s %s", about, r.World, r.SizeBytes, r.Count, took, r.Status, r.Check.Result)
	return strings.Replace(text, " n0 ", " ? ", 1)
}

// report is the result of reading a file: its counts, and of each run its line and its records.
func report(m *memory, c Counts) string {
	text := fmt.Sprintf("rows %d torn %d unknown %d log %d\n", c.Rows, c.Torn, c.Unknown, c.Log)
	for _, k := range m.runs {
		r, codes := k.run, []notice.Code{}
		for _, w := range r.Warnings {
			codes = append(codes, w.Code())
		}
		text += fmt.Sprintf("%s, %s %s, n%d on %d; %s %v %s\n", r.Tool, r.Backend.Name, r.Backend.Library, r.World,
			r.Nodes, k.end.Outcome, k.end.Cause.Fact, codes)
		for _, r := range k.records {
			text += fmt.Sprintf("%d: %s", r.Imported.Line, brief(r))
			if r.Time != nil && r.Time.Iterations > 0 {
				text += fmt.Sprint(" iterations ", r.Time.Iterations)
			}
			if r.Path != nil {
				text += fmt.Sprint(" path ", *r.Path)
			}
			if text += "\n"; len(r.Imported.Stated) > 0 {
				text += fmt.Sprintln("   ", r.Imported.Stated)
			}
		}
	}
	return text
}

// imports checks the reports of texts.
func imports(t *testing.T, reports map[string]string) {
	t.Helper()
	for text, want := range reports {
		m, c := read(t, text)
		if got := report(m, c); got != want[1:] {
			t.Errorf("%s\ngot\n%s\nwant%s", text, got, want)
		}
	}
}

// An unknown layout is an error that lists the known ones.
func TestNoLayout(t *testing.T) {
	for _, text := range []string{"", "hello\nworld\n", "a,b,c\n1,2,3\n", "\x00\xff\n", "[1,0]<stdout>: hello\n"} {
		_, err := Read(strings.NewReader(text), File{Path: "x.log"}, &memory{})
		if err == nil || !strings.Contains(err.Error(), "x.log: no results of a supported benchmark") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A user can set a value that the file lacks, but not override one that it has.
func TestGiven(t *testing.T) {
	text := osuFixture(
		"# OSU MPI Allgather Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n" +
			"16                      2.50\n",
	)
	m, _ := read(t, text, "world=4", "placement=in", "type=float64", "collective=reduce")
	if got, want := brief(m.records()[0]), "all_gather int32 none -1 in latency n4 64 4 2.5e-06s ok off"; got != want {
		t.Errorf("%s, wanted %s", got, want)
	}
	if g := fmt.Sprint(m.runs[0].run.Imported.Given); g != "map[placement:in world:4]" {
		t.Errorf("given: %s", g)
	}
	for _, bad := range []string{"world", "world=0", "world=x", "colour=red", "type=flaot", "mode="} {
		if _, err := ParseGiven([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// The same bytes make the same runs, others do not.
func TestIdentity(t *testing.T) {
	ids := func(hash string) string {
		m := &memory{}
		if _, err := Read(strings.NewReader(modern+modern), File{SHA256: hash}, m); err != nil {
			t.Fatal(err)
		}
		if m.runs[0].run.ID == m.runs[1].run.ID || m.runs[0].run.Launch == m.runs[1].run.Launch ||
			m.runs[0].run.Campaign != m.runs[1].run.Campaign {
			t.Errorf("two tests of a file: %s %s", m.runs[0].run.ID, m.runs[1].run.ID)
		}
		return m.runs[0].run.ID
	}
	if first, again := ids("a"), ids("a"); first != again || first == ids("b") {
		t.Error("the ID does not follow from the bytes")
	}
}

// Long logs are read in parts: what the first rows decide applies to the rest.
func TestManyRows(t *testing.T) {
	row := "    1024           256   float     sum    35.20    0.03    0.03  0e+00    34.05    0.03    0.03  0e+00\n"
	m, c := read(t, e1Head("redop", "sum")+strings.Repeat(row, 3*heldRows)+"# Out of bounds values : 0 OK\n")
	if c.Rows != 3*heldRows || len(m.records()) != 6*heldRows {
		t.Fatalf("%d rows, %d records", c.Rows, len(m.records()))
	}
	for i, r := range m.records() {
		if r.Collective != coll.AllReduce || r.Imported.Line == 0 {
			t.Fatalf("record %d: %s", i, brief(r))
		}
	}
}
