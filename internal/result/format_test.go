package result

import (
	"encoding"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/step"

	"github.com/shoenig/test/must"
)

// documented reads the tables of docs/file-format.md: the names in the first column of each, by the heading above it.
// A name "a.b" is field b of the object a, "a{,_lo}_s" abbreviates "a_s" and "a_lo_s".
func documented(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("../../docs/file-format.md")
	must.NoError(t, err)
	heading := regexp.MustCompile("^##+ (.*)$")
	row := regexp.MustCompile("^((?:(?:, )?`[^`]+`\\??)+) \\| [^|]+$")
	quoted := regexp.MustCompile("`([^`]+)`")
	tables, under := map[string][]string{}, ""
	for _, line := range strings.Split(string(b), "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			under = strings.Trim(m[1], "`")
		}
		m := row.FindStringSubmatch(line)
		if m == nil || under == "" {
			continue
		}
		for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
			for _, name := range expanded(q[1]) {
				where := under
				if dot := strings.LastIndex(name, "."); dot >= 0 {
					where, name = under+"."+name[:dot], name[dot+1:]
				}
				tables[where] = append(tables[where], name)
			}
		}
	}
	return tables
}

// expanded lists the names that a name with alternatives in braces abbreviates.
func expanded(name string) (all []string) {
	before, rest, found := strings.Cut(name, "{")
	choices, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return []string{name}
	}
	for choice := range strings.SplitSeq(choices, ",") {
		all = append(all, expanded(before+choice+after)...)
	}
	return all
}

// once are the types that several fields share and that are documented in one place.
var once = map[reflect.Type]string{
	reflect.TypeFor[Check](): KindCase + ".check", reflect.TypeFor[StepSpan](): "step.timeline.segments",
	reflect.TypeFor[step.Figure](): "step.figures.overlap", reflect.TypeFor[step.Time](): "step.figures.compute_s",
}

// fields lists the JSON fields of a struct, and of the structs in it under their path.
func fields(path string, t reflect.Type, into map[string][]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		switch {
		case name == "-" || !f.IsExported():
			continue
		case f.Anonymous && name == "":
			fields(path, inner, into)
			continue
		case name == "":
			name = "(no name) " + f.Name
		}
		into[path] = append(into[path], name)
		_, leaf := reflect.New(inner).Interface().(encoding.TextUnmarshaler)
		if _, own := reflect.New(inner).Interface().(json.Unmarshaler); own {
			leaf = true
		}
		if at := once[inner]; at != "" && at != path+"."+name {
			continue
		}
		if inner.Kind() == reflect.Struct && !leaf && inner != reflect.TypeFor[time.Time]() {
			fields(path+"."+name, inner, into)
		}
	}
}

// TestFormatIsDocumented: the manual lists every field, and no others.
func TestFormatIsDocumented(t *testing.T) {
	code := map[string][]string{}
	for kind, v := range map[string]any{KindRun: Run{}, KindRank: Rank{}, KindCase: Record{}, KindEnd: End{},
		KindRanks: RankTimes{},
		KindStep:  StepRecord{}, KindRound: StepRound{}} {
		fields(kind, reflect.TypeOf(v), code)
	}
	code["The merged table"] = strings.Split(strings.TrimSpace(CSV.head), ",")
	code["The table of training steps"] = strings.Split(strings.TrimSpace(stepHeading()), ",")
	manual := documented(t)
	for where, names := range code {
		for _, n := range names {
			if !slices.Contains(manual[where], n) {
				t.Errorf("docs/file-format.md: no %q under %q", n, where)
			}
		}
	}
	for where, names := range manual {
		for i, n := range names {
			if !slices.Contains(code[where], n) {
				t.Errorf("docs/file-format.md: %q under %q is not in the code", n, where)
			}
			if slices.Contains(names[:i], n) {
				t.Errorf("docs/file-format.md: %q is twice under %q", n, where)
			}
		}
	}
	if len(code) < 15 {
		t.Errorf("%d tables; has the walk over the types stopped working?", len(code))
	}
}
