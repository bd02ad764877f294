package report

import "reflect"

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
