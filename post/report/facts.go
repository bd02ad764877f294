package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/internal/units"
)

// maxValues is how many values of one fact are listed; further ones are counted.
const maxValues = 12

// facts are what runs have, each value once.
type facts struct {
	all    []*fact
	of     map[[2]string]*fact      // by topic and name
	values map[[3]string]*factValue // by topic, name and text
}

// fact is one thing that runs have, with its values in the order in which they came.
type fact struct {
	topic, name string
	values      []*factValue
	least, most int // of a fact that is a range of numbers
}

// factValue is what some of the runs have of a fact.
type factValue struct {
	text   string
	runs   []int // ascending
	points int   // that have it, where points are counted
}

func (f *facts) fact(topic, name string) *fact {
	key := [2]string{topic, name}
	one := f.of[key]
	if one == nil {
		if f.of == nil {
			f.of, f.values = map[[2]string]*fact{}, map[[3]string]*factValue{}
		}
		one = &fact{topic: topic, name: name}
		f.of[key] = one
		f.all = append(f.all, one)
	}
	return one
}

// add notes that a run has a value; an empty one is none.
func (f *facts) add(number int, topic, name, text string) *factValue {
	if text == "" {
		return &factValue{}
	}
	key := [3]string{topic, name, text}
	v := f.values[key]
	if v == nil {
		one := f.fact(topic, name)
		v = &factValue{text: text}
		f.values[key] = v
		one.values = append(one.values, v)
	}
	if n := len(v.runs); n == 0 || v.runs[n-1] != number {
		v.runs = append(v.runs, number)
	}
	return v
}

// addRange notes a number of a fact that is a range of numbers; 0 is none.
func (f *facts) addRange(topic, name string, n int) {
	if n > 0 {
		one := f.fact(topic, name)
		one.least, one.most = min(cmp.Or(one.least, n), n), max(one.most, n)
	}
}

// addMap notes the entries of a map, by name.
func (f *facts) addMap(number int, topic string, entries map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		f.add(number, topic, name, cmp.Or(entries[name], "(empty)"))
	}
}

// section has a table for each topic, in the order in which they first came.
func (f *facts) section(id, title string, runs int) *document.Section {
	s := &document.Section{ID: id, Title: title}
	tables := map[string]*document.Table{}
	for _, one := range f.all {
		t := tables[one.topic]
		if t == nil {
			t = table("what", "value~", "runs")
			tables[one.topic] = t
			s.Add(&document.Section{Title: one.topic, Fold: document.Open, Blocks: []document.Block{t}})
		}
		one.rows(t, runs)
	}
	for _, t := range tables { // a column of runs only where they differ
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[2] != "" }) {
			t.Columns = t.Columns[:2]
			for i := range t.Rows {
				t.Rows[i] = t.Rows[i][:2]
			}
		}
	}
	return s
}

func (f *fact) rows(t *document.Table, runs int) {
	name := f.name
	switch {
	case f.most > f.least:
		t.Row(name, fmt.Sprintf("%d to %d", f.least, f.most), "")
	case f.most > 0:
		t.Row(name, fmt.Sprint(f.most), "")
	}
	for i, v := range f.values {
		if i == maxValues {
			t.Row("", fmt.Sprintf("and %d other values", len(f.values)-i), "")
			break
		}
		text := units.Truncate(v.text, 4000)
		if v.points > 0 {
			text += " (" + units.Count(v.points, "point") + ")"
		}
		t.Row(name, text, runsIn(v.runs, runs))
		name = ""
	}
}

// addEnvironment adds what a run ran on and with.
func addEnvironment(f *facts, g *gathered) {
	if g.run.Imported != nil {
		addImported(f, g)
	} else {
		addProgram(f, g)
	}
	addLibraries(f, g)
	addWorld(f, g)
	addMachine(f, g)
	f.addMap(g.number, "Slurm", g.run.Slurm)
	f.addMap(g.number, "Variables", g.run.Environment)
}

func addImported(f *facts, g *gathered) {
	s := g.run.Imported
	f.add(g.number, "Imported", "tool", s.Tool)
	f.add(g.number, "Imported", "format", s.Format)
	f.add(g.number, "Imported", "file", s.Path)
	f.add(g.number, "Imported", "start, as recorded", s.Started)
	f.addMap(g.number, "Imported: given at import", s.Given)
	for _, text := range s.Deduced.Texts() {
		f.add(g.number, "Imported", "deduced", text)
	}
	f.addMap(g.number, "Imported: settings, as the tool reports them", s.Settings)
}

func addProgram(f *facts, g *gathered) {
	f.add(g.number, "Program", "tool", g.run.Tool)
	f.add(g.number, "Program", "build", g.run.Build)
	f.add(g.number, "Program", "command", shellWords(g.run.Command))
	f.add(g.number, "Program", "sweep", g.run.Sweep.Name)
}

func addLibraries(f *facts, g *gathered) {
	lib, mpi := &g.run.Backend, &g.run.MPI
	topic := strings.TrimSpace("Backend " + lib.Name)
	f.add(g.number, topic, "library", lib.Title())
	f.add(g.number, topic, "path", lib.Path)
	f.add(g.number, topic, "build id", lib.BuildID)
	f.add(g.number, topic, "variant", g.run.Variant)
	f.add(g.number, topic, "settings", g.run.Method.Settings().String())
	f.addMap(g.number, topic+": parameters", lib.Parameters)
	for _, note := range lib.Notes {
		f.add(g.number, topic, "note", note)
	}
	f.add(g.number, "MPI", "library", mpi.Library)
	f.add(g.number, "MPI", "path", mpi.Path)
	f.add(g.number, "MPI", "launcher", mpi.Launcher)
	f.add(g.number, "MPI", "threads", mpi.ThreadLevel)
	f.add(g.number, "MPI", "large counts", mpi.LargeCounts)
}

func addWorld(f *facts, g *gathered) {
	const topic = "Ranks"
	if run := g.run; run.World > 0 {
		words := units.Count(run.World, "rank")
		if run.Nodes > 0 {
			words += " on " + units.Count(run.Nodes, "node")
		}
		f.add(g.number, topic, "world", words)
	}
	f.add(g.number, topic, "device", g.run.Device)
	f.add(g.number, topic, "where each ran", g.layout.words())
	f.add(g.number, topic, "state of the devices", g.state)
	if g.end != nil {
		for _, t := range g.end.Throttled {
			text := fmt.Sprintf("rank %d (%s): %s", t.Rank, t.Host, strings.Join(t.Reasons, ", "))
			f.add(g.number, topic, "throttled at the end", text)
		}
	}
	if p := g.run.Pattern; p != nil {
		f.add(g.number, topic, "pattern", p.String())
	}
}

func addMachine(f *facts, g *gathered) {
	m := &g.run.Machine
	if *m == (result.Machine{}) {
		return
	}
	const topic = "Rank 0's host before the run"
	f.add(g.number, topic, "host", m.Host)
	f.add(g.number, topic, "system", strings.Trim(m.OS+", kernel "+cmp.Or(m.Kernel, "not known"), ", "))
	f.add(g.number, topic, "processor", m.CPU)
	if m.Cores > 0 {
		f.add(g.number, topic, "cores usable by rank 0", fmt.Sprint(m.Cores))
	}
	f.add(g.number, topic, "governor", m.Governor)
	if m.MemoryB > 0 {
		f.add(g.number, topic, "memory", coll.FormatSize(m.MemoryB, true))
	}
	f.add(g.number, topic, "container", m.Container)
	f.add(g.number, topic, "load average", fmt.Sprintf("%.2f", m.Load1))
	f.add(g.number, topic, "topology", g.run.Topology)
}
