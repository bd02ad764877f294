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

	"github.com/shoenig/test/must"
)

// A text leaves out its optional parts if a field in them is empty. Such a field is absent from the parameters in JSON.
func TestOptionalTextDependsOnOptionalFields(t *testing.T) {
	for _, e := range notice.Entries() {
		of := reflect.TypeOf(e.Example)
		for _, name := range e.OptionalFields() {
			field, _ := of.FieldByName(name)
			if name == "Rank" && field.Type.Kind() != reflect.Pointer {
				t.Errorf("%s: the text leaves out rank 0: make Rank a pointer", e.Code())
			}
			fact := reflect.New(of).Elem()
			fact.Set(reflect.ValueOf(e.Example))
			fact.FieldByName(name).SetZero()
			text, err := json.Marshal(notice.New(fact.Interface().(notice.Fact)))
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
		namedStrings(reflect.TypeOf(e.Example), kinds)
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
