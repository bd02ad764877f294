package notice

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// A text leaves out its optional parts if a field in them is empty. Such a field is absent from the parameters in JSON.
func TestOptionalTextDependsOnOptionalFields(t *testing.T) {
	for _, e := range Entries() {
		of := reflect.TypeOf(e.Example)
		for _, part := range append([]template{e.text, e.advice, e.how}, e.details...) {
			for _, name := range part.optional() {
				field, _ := of.FieldByName(name)
				fact := reflect.New(of).Elem()
				fact.Set(reflect.ValueOf(e.Example))
				fact.FieldByName(name).SetZero()
				text, err := json.Marshal(New(fact.Interface().(Fact)))
				if err != nil {
					t.Fatal(err)
				}
				var n struct{ Parameters map[string]any }
				if err := json.Unmarshal(text, &n); err != nil {
					t.Fatal(err)
				}
				inJSON, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if value, has := n.Parameters[inJSON]; has {
					t.Errorf("%s: %s is optional in the text; empty, it is %v in JSON and not absent", e.Code(), name, value)
				}
			}
		}
	}
}

// optional are the fields within brackets.
func (t template) optional() (names []string) {
	for _, p := range t {
		names = append(names, p.optional.fields()...)
	}
	return names
}
