package notice

import "reflect"

// Alike reports whether two facts state the same of two runs. Fields tagged alike:"-" are not compared: they differ
// from run to run, such as names of hosts, lines of a log and measured times.
func Alike(a, b Fact) bool { return alike(reflect.ValueOf(a), reflect.ValueOf(b)) }

func alike(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return a.IsValid() == b.IsValid() && !a.IsValid()
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return alike(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Tag.Get("alike") != "-" && !alike(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
