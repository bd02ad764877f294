package notice_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	_ "busbar/internal/notice/hangs"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/notice/preflights"
	"busbar/internal/notice/profiles"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestMessagesShowValuesOfPointers(t *testing.T) {
	test.EqOp(t, "SIGTERM to rank 0 on a", notice.Message(notice.RunSignalled{Signal: "SIGTERM", Rank: new(0),
		Host: "a"}))
}

// Every entry is complete, and its text has each field of its fact.
func TestCatalogue(t *testing.T) {
	code := regexp.MustCompile(`^[a-z]+[0-9]*(-[a-z0-9]+)*$`)
	for _, e := range notice.Entries() {
		if !code.MatchString(string(e.Code())) || e.Doc == "" {
			t.Errorf("%s: a code is lower-case words with hyphens, and has documentation", e.Code())
		}
		used := e.Fields()
		of := reflect.TypeOf(e.Example())
		for _, name := range used {
			if _, has := of.FieldByName(name); !has {
				t.Errorf("%s: its text has {%s}, its fact has no such field", e.Code(), name)
			}
		}
		for _, f := range reflect.VisibleFields(of) {
			if f.Anonymous {
				continue
			}
			if f.Tag.Get("json") == "" {
				t.Errorf("%s: field %s has no name in JSON", e.Code(), f.Name)
			}
			_, inAdvice := e.Example().(interface{ Advice() string }) // may depend on any field
			_, ofCause := e.Example().(nccllogs.LibraryMessage)       // has all fields, whatever its text needs
			if !slices.Contains(used, f.Name) && !inAdvice && !ofCause && e.Code() != "unknown-notice" {
				t.Errorf("%s: no text has {%s}", e.Code(), f.Name)
			}
		}
		for _, text := range append(notice.Details(e.Example()), notice.Message(e.Example()),
			notice.Advice(e.Example()),
			notice.How(e.Example())) {
			if strings.Contains(text, "%!") || strings.ContainsAny(strings.ReplaceAll(text, "%q{RANK}", ""), "{}") ||
				strings.Contains(text, "  ") {
				t.Errorf("%s: %q", e.Code(), text)
			}
		}
		if text := notice.Message(e.Example()); text == "" || strings.HasSuffix(text, ".") {
			t.Errorf("%s: the message %q is empty or ends with a full stop", e.Code(), text)
		}
	}
}

// A fact that was written is read back as it was, also one of a newer version.
func TestKept(t *testing.T) {
	for _, e := range notice.Entries() {
		text, err := json.Marshal(notice.Kept{Fact: e.Example()})
		must.NoError(t, err)
		var k notice.Kept
		if err := json.Unmarshal(text, &k); err != nil || !reflect.DeepEqual(k.Fact, e.Example()) {
			t.Errorf("%s: %+v, %v", text, k.Fact, err)
		}
	}
	const newer = `{"code":"from-the-future","parameters":{"n":1}}`
	var k notice.Kept
	if err := json.Unmarshal([]byte(newer), &k); err != nil || k.Code() != "unknown-notice" {
		t.Fatalf("%+v, %v", k, err)
	}
	if text, err := json.Marshal(k); err != nil || string(text) != newer {
		t.Errorf("%s, %v", text, err)
	}
	if err := json.Unmarshal([]byte(`{"code":"drift","parameters":[]}`), &k); err != nil ||
		k.Code() != "unknown-notice" {
		t.Errorf("parameters that are no object: %+v, %v", k, err)
	}
}

// The sentences of older files become facts with their numbers.
func TestFromText(t *testing.T) {
	lines, err := os.ReadFile("testdata/texts.txt")
	must.NoError(t, err)
	for line := range strings.Lines(string(lines)) {
		text, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		text = strings.ReplaceAll(text, `\n`, "\n")
		test.EqOp(t, want, round(notice.FromText(text)), test.Sprint(text))
	}
}

// round writes a fact with its numbers to nine digits.
func round(f notice.Fact) string {
	text, _ := json.Marshal(notice.Kept{Fact: f})
	return regexp.MustCompile(`(\.\d{9})\d+`).ReplaceAllString(string(text), "$1")
}

// Codes with parameters that older files do not have are read as they were written.
func TestOlderParameters(t *testing.T) {
	for text, want := range map[string]notice.Fact{
		`{"code":"shared-gpu"}`: notice.SharedGPU{},
		`{"code":"oversubscribed","parameters":{"ranks":4,"cores":2,"host":"a",` +
			`"why":"bound to CPUs 0-1"}}`: notice.Oversubscribed{
			Ranks: 4, Cores: 2, Host: "a", Why: "bound to CPUs 0-1"},
	} {
		var k notice.Kept
		if err := json.Unmarshal([]byte(text), &k); err != nil || !reflect.DeepEqual(k.Fact, want) {
			t.Errorf("%s: %+v, %v", text, k.Fact, err)
		}
	}
}

// What is simulated has one severity, whichever command reports it.
func TestSeverityOfSimulation(t *testing.T) {
	for _, f := range []notice.Fact{notice.SimulatedRuns{}, notice.SimulatedSides{}, preflights.SimulatedGPUs{}} {
		test.EqOp(t, notice.Warning, notice.New(f).Severity, test.Sprint(notice.CodeOf(f)))
	}
	test.StrNotContains(t, notice.Message(notice.SimulatedRuns{}), "(")
}

// A template leaves out text in brackets if a field in it is empty.
func TestOptionalParts(t *testing.T) {
	for _, c := range []struct {
		fact notice.Fact
		want string
	}{
		{notice.Oversubscribed{Ranks: 4, Cores: 1, Host: "a"}, "oversubscribed: 4 ranks share 1 core on a"},
		{notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "a", Why: "quota"},
			"oversubscribed: 4 ranks share 2 cores on a (quota)"},
		{
			notice.Oversubscribed{Ranks: 4, Cores: 2, Limit: notice.CoreLimit{Quota: 2},
				CPUs: notice.RankCPUs{Ranks: 4, CPUs: 8, Binding: notice.Binding{Min: 8, Max: 8, Free: true}}},
			"oversubscribed: 4 ranks share 2 cores (cgroup quota of 2 CPUs); 4 ranks on 8 CPUs, not bound",
		},
		{notice.SharedGPU{}, "ranks share a GPU"},
		{notice.Oversubscribed{Why: "by far"}, "oversubscribed (by far)"},
		{notice.CollectiveUnknown{}, "the imported file does not name its collective"},
		{notice.CollectiveUnknown{Fits: []string{"a", "b"}},
			"the imported file does not name its collective; its columns fit a, b"},
	} {
		test.StrHasPrefix(t, c.want, notice.Message(c.fact))
	}
}

// testdata/patterns.tsv has the sentences that analysis built before there were codes, each with its code: no code
// may lose a fact that its sentences stated. A code has at least as many parameters as its sentence with most of
// them, or states the rest in its location.
func TestOldPatterns(t *testing.T) {
	text, err := os.ReadFile("testdata/patterns.tsv")
	must.NoError(t, err)
	verbs := regexp.MustCompile(`%[-+.0-9]*[a-z]`)
	for line := range strings.Lines(string(text)) {
		code, pattern, _ := strings.Cut(strings.TrimSpace(line), "\t")
		e := notice.Find(notice.Code(code))
		if e == nil {
			t.Errorf("%s is no code: %s", code, pattern)
			continue
		}
		const location = 2 // the curve, and its sizes
		if stated, kept := len(verbs.FindAllString(pattern,
			-1)), len(reflect.VisibleFields(reflect.TypeOf(e.Example()))); stated > kept+location {
			t.Errorf("%s keeps %d parameters of %d: %s", code, kept, stated, pattern)
		}
	}
}

// A list without elements is [] in JSON, not null.
func TestEmptyListsInJSON(t *testing.T) {
	for _, f := range []notice.Fact{profiles.Straggler{Rank: "rank 1"}, nccllogs.LogDifference{}} {
		text, err := json.Marshal(notice.New(f))
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("%s, %v, want no null", text, err)
		}
	}
}

// JSON with empty lists leaves the value as it is, also where that shares memory with others.
func TestWithListsKeepsOriginal(t *testing.T) {
	type values struct{ List []string }
	type data struct {
		Elements []values
		Pointer  *values
	}
	shared := data{[]values{{}}, &values{}}
	for _, v := range []any{shared, &shared} {
		text, err := json.Marshal(notice.WithLists(v))
		if want := `{"Elements":[{"List":[]}],"Pointer":{"List":[]}}`; err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
		if shared.Elements[0].List != nil || shared.Pointer.List != nil {
			t.Errorf("the original is now %+v and %+v", shared.Elements, shared.Pointer)
		}
	}
}
