package notice_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// A text leaves out its optional parts if a field in them is empty. Such a field is absent from the parameters in JSON.
func TestOptionalTextDependsOnOptionalFields(t *testing.T) {
	for _, e := range notice.Entries() {
		of := reflect.TypeOf(e.Example())
		for _, name := range e.OptionalFields() {
			field, _ := of.FieldByName(name)
			if name == "Rank" && field.Type.Kind() != reflect.Pointer {
				t.Errorf("%s: the text leaves out rank 0: make Rank a pointer", e.Code())
			}
			fact := reflect.New(of).Elem()
			fact.Set(reflect.ValueOf(e.Example()))
			fact.FieldByName(name).SetZero()
			text, err := json.Marshal(notice.New(fact.Interface()))
			must.NoError(t, err)
			var n struct{ Parameters map[string]any }
			must.NoError(t, json.Unmarshal(text, &n))
			inJSON, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if value, has := n.Parameters[inJSON]; has {
				t.Errorf("%s: %s is optional in the text; empty, it is %v in JSON and not absent", e.Code(), name,
					value)
			}
		}
	}
}

// A parameter with named values is a short code in JSON; its words are those of its String method.
func TestEnumerationsAreCodes(t *testing.T) {
	code := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	kinds := map[string]reflect.Type{}
	for _, e := range notice.Entries() {
		namedStrings(reflect.TypeOf(e.Example()), kinds)
	}
	for name, values := range constants(t) {
		kind := kinds[name]
		if kind == nil {
			continue
		}
		for _, value := range values {
			v := reflect.New(kind).Elem()
			v.SetString(value)
			if !code.MatchString(value) || notice.Word(v.Interface()) == "" {
				t.Errorf("%s: %q is no code, or has no words", name, value)
			}
		}
	}
}

// namedStrings adds the string types of this package that are in a type, by their names.
func namedStrings(of reflect.Type, found map[string]reflect.Type) {
	switch of.Kind() {
	case reflect.String:
		if strings.HasPrefix(of.PkgPath(), reflect.TypeFor[notice.Notice]().PkgPath()) {
			found[of.Name()] = of
		}
	case reflect.Pointer, reflect.Slice:
		namedStrings(of.Elem(), found)
	case reflect.Struct:
		for i := range of.NumField() {
			namedStrings(of.Field(i).Type, found)
		}
	}
}

// constants are the values of the package's constants by the names of their types, without "", which is no value.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	below, errBelow := filepath.Glob("*/*.go")
	if err != nil || errBelow != nil {
		t.Fatal(err, errBelow)
	}
	names = append(names, below...)
	found := map[string][]string{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is {
				return true
			}
			kind, is := spec.Type.(*ast.Ident)
			for _, v := range spec.Values {
				if !is {
					break
				}
				text := "an expression"
				if literal, is := v.(*ast.BasicLit); is {
					text, _ = strconv.Unquote(literal.Value)
				}
				if text != "" {
					found[kind.Name] = append(found[kind.Name], text)
				}
			}
			return true
		})
	}
	return found
}

func TestAlike(t *testing.T) {
	count := nccllogs.OpCount(3)
	disagree := func(name string, ranks int) nccllogs.RanksDisagree {
		return nccllogs.RanksDisagree{Communicator: nccllogs.Communicator{Name: name, Ranks: ranks}}
	}
	for _, c := range []struct {
		a, b notice.Fact
		want bool
	}{
		{nccllogs.UnreachableInterface{Interface: "lo", Address: "1.2.3.4"},
			nccllogs.UnreachableInterface{Interface: "lo", Address: "5.6.7.8"}, true},
		{nccllogs.UnreachableInterface{Interface: "lo", Address: "1.2.3.4"},
			nccllogs.UnreachableInterface{Interface: "docker0", Address: "1.2.3.4"}, false},
		{nccllogs.SettingAffectsSpeed{Variable: "A", Value: "1", Effect: "A", Line: "n1: 7"},
			nccllogs.SettingAffectsSpeed{Variable: "A", Value: "1", Effect: "A", Line: "n2: 9"}, true},
		{nccllogs.SettingAffectsSpeed{Variable: "A", Value: "1", Effect: "A", Line: ""},
			nccllogs.SettingAffectsSpeed{Variable: "A", Value: "2", Effect: "A", Line: ""}, false},
		{nccllogs.NoGPUDirect{Each: []nccllogs.HostEnds{{Host: "n1", Sends: 1, OfSends: 2, Receives: 3,
			OfReceives: 4}}},
			nccllogs.NoGPUDirect{Each: []nccllogs.HostEnds{{Host: "n2", Sends: 1, OfSends: 2, Receives: 3,
				OfReceives: 4}}}, true},
		{nccllogs.NoGPUDirect{Each: []nccllogs.HostEnds{{Host: "n1", Sends: 1, OfSends: 2, Receives: 3,
			OfReceives: 4}}}, nccllogs.NoGPUDirect{}, false},
		{nccllogs.RanksDisagree{OpCount: &count}, nccllogs.RanksDisagree{}, false},
		{disagree("comm 1", 4), disagree("comm 2", 4), true},
		{disagree("comm 1", 4), disagree("comm 1", 8), false},
		{nccllogs.LibraryMessage{Cause: "nic-event"}, nccllogs.LibraryMessage{Cause: "nic-port-error"}, false},
		{nccllogs.LLForLarge{}, nccllogs.UnreachableInterface{}, false},
	} {
		test.EqOp(t, c.want, notice.Alike(c.a, c.b), test.Sprint(c.a, c.b))
	}
}

// A location prints each part that is set.
func TestLocation(t *testing.T) {
	for want, l := range map[string]notice.Location{
		"":                         {},
		"a.jsonl":                  {File: "a.jsonl"},
		"a.jsonl:12":               {File: "a.jsonl", Line: 12},
		"trace.json, rank 3":       {File: "trace.json", Subject: "rank 3"},
		"a:2, nccl, 64 B to 128 B": {File: "a", Line: 2, Subject: "nccl", From: 64, To: 128},
		"nccl, all_reduce, 1 KiB":  {Subject: "nccl, all_reduce", From: 1024, To: 1024},
		"64 B to 128 B":            {From: 64, To: 128},
	} {
		test.EqOp(t, want, l.String())
	}
}
