package report

import (
	"encoding/json"
	"io"
	"reflect"
)

// whole makes every list that is written one that is there, so that a script meets no null.
func (r *Report) whole() *Report {
	fill(reflect.ValueOf(r).Elem())
	return r
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f)
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if kind := v.Type().Elem().Kind(); kind == reflect.Struct || kind == reflect.Slice || kind == reflect.Pointer {
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	}
}

// WriteJSON writes the report as its page reads it: on one line, with nothing in it that HTML would take for a tag.
func (r *Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }
