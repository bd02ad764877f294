package report

import (
	"bytes"
	"cmp"
	_ "embed" // for fields.tsv
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/internal/units"
)

// maxValues is how many values of one fact are listed; further ones are counted.
const maxValues = 12

// facts are what runs have, each value once.
type facts struct {
	all     []*fact
	numbers units.Numbers[[2]string] // by topic and name
}

// fact is one thing that runs have, with its values in the order in which they came.
type fact struct {
	topic, name string
	values      []*factValue
	numbers     units.Numbers[string] // of values, by their texts
	least, most int                   // of a fact that is a range of numbers
}

// factValue is what some of the runs have of a fact.
type factValue struct {
	text   string
	runs   []int // ascending
	points int   // that have it, where points are counted
}

func (f *facts) fact(topic, name string) *fact {
	n, added := f.numbers.Of([2]string{topic, name})
	if added {
		f.all = append(f.all, &fact{topic: topic, name: name})
	}
	return f.all[n]
}

// add notes that a run has a value; an empty one is none.
func (f *facts) add(number int, topic, name, text string) *factValue {
	if text == "" {
		return &factValue{}
	}
	one := f.fact(topic, name)
	i, added := one.numbers.Of(text)
	if added {
		one.values = append(one.values, &factValue{text: text})
	}
	v := one.values[i]
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

// addFields adds the fields of an object of a results file. It omits those that are 0, false or empty.
func (f *facts) addFields(number int, topic, path string, value any) {
	if object, is := value.(map[string]any); is {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			f.addFields(number, topic, path+"."+key, object[key])
		}
		return
	}
	name, shown := shownName(path)
	if !shown {
		return
	}
	text := fieldText(value)
	if x, err := strconv.ParseFloat(text, 64); err == nil && strings.HasSuffix(path, "_s") {
		text = units.Duration(x)
	} else if err == nil && strings.HasSuffix(path, "_bytes") {
		text = units.RoughBytes(x).String()
	}
	f.add(number, topic, name, text)
}

// fieldText is a value of JSON on one line; "" for 0, false and what is empty.
func fieldText(value any) string {
	var parts []string
	switch v := value.(type) {
	case nil:
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text := fieldText(v[key]); text != "" {
				parts = append(parts, key+" "+text)
			}
		}
		return strings.Join(parts, ", ")
	case []any:
		for _, one := range v {
			parts = append(parts, fieldText(one))
		}
		return strings.Join(parts, "; ")
	default:
		if text := fmt.Sprint(v); text != "0" && text != "false" {
			return text
		}
	}
	return ""
}

// section has a table for each topic, in the order in which they first came.
func (f *facts) section(id, title string, runs int) *document.Section {
	s := section(id, title)
	for _, of := range units.GroupBy(f.all, func(one *fact) string { return one.topic }) {
		t := document.NewTable("what", "value…", "runs")
		for _, one := range of {
			one.rows(t, runs)
		}
		t.DropEmpty() // the column of runs where they are alike
		s.Add(&document.Section{Title: of[0].topic, Fold: document.Open, Blocks: []document.Block{t}})
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

// environmentFields are the fields of a run that its environment is made of, with their headings. fieldNames are names
// for readers of fields whose own names are short; "-" leaves a field out.
var environmentFields, fieldNames = func() (environment [][2]string, names map[string]string) {
	names = map[string]string{}
	for f := range units.Rows(fieldsFile, 3) {
		if f[1] != "" {
			names[f[0]] = f[1]
		}
		if f[2] != "" {
			environment = append(environment, [2]string{f[0], f[2]})
		}
	}
	return environment, names
}()

//go:embed fields.tsv
var fieldsFile string

// launcherVariables begin the names of variables that a launcher sets for its own use.
var launcherVariables = []string{"OMPI_MCA_", "PMIX_"}

// shownName is the name of a field, and whether readers need it.
func shownName(path string) (name string, shown bool) {
	if name, known := fieldNames[path]; known {
		return name, name != "-"
	}
	topic, name, nested := strings.Cut(path, ".")
	switch {
	case !nested:
		name = topic
	case topic == "environment" || topic == "slurm":
		return name, !slices.ContainsFunc(launcherVariables, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	for _, unit := range []string{"_s", "_bytes"} {
		name = strings.TrimSuffix(name, unit)
	}
	return strings.ReplaceAll(name, "_", " "), true
}

// addRun adds what a run ran on and with, and how it measured.
func (r *Report) addRun(g *gathered) {
	fields := fieldsOf(g.run)
	fields["command"] = units.Shell(g.run.Command...)
	if s := g.run.Imported; s != nil { // its method is not recorded
		fields["method"] = nil
		fields["imported"].(map[string]any)["deductions"] = s.Deduced.String()
	}
	r.method.addFields(g.number, "Runs", "method", fields["method"])
	to := &r.environment
	for _, field := range environmentFields {
		to.addFields(g.number, field[1], field[0], fields[field[0]])
	}
	to.add(g.number, "Ranks", "hosts and CPUs", g.layout.words())
	if g.end != nil {
		for _, t := range g.end.Throttled {
			text := fmt.Sprintf("rank %d (%s): %s", t.Rank, t.Host, strings.Join(t.Reasons, ", "))
			to.add(g.number, "Ranks", "throttled at the end", text)
		}
	}
}

// fieldsOf are the fields of a run as results files have them.
func fieldsOf(run *result.Run) (fields map[string]any) {
	text, _ := json.Marshal(run) // it was read from JSON
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	_ = numbers.Decode(&fields)
	return fields
}
