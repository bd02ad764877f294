package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Bounds of one fact: further values are counted, and longer ones cut.
const (
	maxValues     = 12
	maxValueRunes = 4000
)

// facts collects what runs have, each value once.
type facts struct {
	order []*fact
	of    map[[2]string]*fact // by topic and name
}

type fact struct {
	topic, name string
	values      []*value
	of          map[string]*value
}

type value struct {
	text string
	runs []int
}

// add notes that a run has a value; an empty one is none.
func (f *facts) add(number int, topic, name, text string) {
	if text == "" {
		return
	}
	if f.of == nil {
		f.of = map[[2]string]*fact{}
	}
	key := [2]string{topic, name}
	one := f.of[key]
	if one == nil {
		one = &fact{topic: topic, name: name, of: map[string]*value{}}
		f.of[key] = one
		f.order = append(f.order, one)
	}
	v := one.of[text]
	if v == nil {
		v = &value{text: text}
		one.of[text] = v
		one.values = append(one.values, v)
	}
	if n := len(v.runs); n == 0 || v.runs[n-1] != number {
		v.runs = append(v.runs, number)
	}
}

// addMap notes the entries of a map, by name.
func (f *facts) addMap(number int, topic string, entries map[string]string) {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		text := entries[name]
		if text == "" {
			text = "(empty)"
		}
		f.add(number, topic, name, text)
	}
}

// facts are in the order of their topics, as they first came, and within one by when they came.
func (f *facts) facts(runs int) []Fact {
	var topics []string
	for _, one := range f.order {
		if !slices.Contains(topics, one.topic) {
			topics = append(topics, one.topic)
		}
	}
	all := []Fact{}
	for _, topic := range topics {
		for _, one := range f.order {
			if one.topic == topic {
				all = append(all, one.fact(runs))
			}
		}
	}
	return all
}

func (f *fact) fact(runs int) Fact {
	made := Fact{Topic: f.topic, Name: f.name}
	for i, v := range f.values {
		if i == maxValues {
			made.Values = append(made.Values, Value{Text: fmt.Sprintf("and %d other values", len(f.values)-i)})
			break
		}
		made.Values = append(made.Values, Value{cut(v.text), runsIn(v.runs, runs)})
	}
	return made
}

// cut is a text that is not too long for a page.
func cut(text string) string {
	if runes := []rune(text); len(runes) > maxValueRunes {
		return string(runes[:maxValueRunes]) + fmt.Sprintf(" … (%d more characters)", len(runes)-maxValueRunes)
	}
	return text
}

// environment is what the runs ran on and with.
func (l runList) environment() []Fact {
	f := &facts{}
	for _, g := range l {
		programFacts(f, g)
	}
	for _, g := range l {
		libraryFacts(f, g)
	}
	for _, g := range l {
		worldFacts(f, g)
	}
	for _, g := range l {
		machineFacts(f, g)
	}
	for _, g := range l {
		f.addMap(g.number, "Slurm", g.run.Slurm)
	}
	for _, g := range l {
		f.addMap(g.number, "Variables", g.run.Environment)
	}
	return f.facts(len(l))
}

func programFacts(f *facts, g *gathered) {
	run := g.run
	if s := run.Imported; s != nil {
		f.add(g.number, "Imported", "tool", s.Tool)
		f.add(g.number, "Imported", "format", s.Format)
		f.add(g.number, "Imported", "file", s.Path)
		f.add(g.number, "Imported", "start, as recorded", s.Started)
		f.addMap(g.number, "Imported: given at import", s.Given)
		for _, text := range s.Deduced.Texts() {
			f.add(g.number, "Imported", "deduced", text)
		}
		f.addMap(g.number, "Imported: settings, as the tool reports them", s.Settings)
		return
	}
	f.add(g.number, "Program", "tool", run.Tool)
	f.add(g.number, "Program", "build", run.Build)
	f.add(g.number, "Program", "command", shellWords(run.Command))
	f.add(g.number, "Program", "sweep", run.Sweep.Name)
}

func libraryFacts(f *facts, g *gathered) {
	lib, mpi := &g.run.Backend, &g.run.MPI
	topic := "Backend"
	if lib.Name != "" {
		topic += " " + lib.Name
	}
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

func worldFacts(f *facts, g *gathered) {
	run := g.run
	if run.World > 0 {
		words := units.Count(run.World, "rank")
		if run.Nodes > 0 {
			words += " on " + units.Count(run.Nodes, "node")
		}
		f.add(g.number, "Ranks", "world", words)
	}
	f.add(g.number, "Ranks", "device", run.Device)
	f.add(g.number, "Ranks", "where each ran", g.layout.words())
	f.add(g.number, "Ranks", "state of the devices", g.state)
	if g.end != nil {
		for _, t := range g.end.Throttled {
			f.add(g.number, "Ranks", "throttled at the end", fmt.Sprintf("rank %d (%s): %s", t.Rank, t.Host, strings.Join(t.Reasons, ", ")))
		}
	}
	if p := run.Pattern; p != nil {
		f.add(g.number, "Ranks", "pattern", p.String())
	}
}

func machineFacts(f *facts, g *gathered) {
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
