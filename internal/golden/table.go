package golden

import (
	"encoding"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var columns = regexp.MustCompile(`(?:\t|  )\s*`)

// Table reads the cases of a test, one a line, from columns separated by at least two spaces. The first line names the
// fields of T. A cell is text, as it is or quoted as in Go, a constant expression of Go such as 64<<10, or a list of
// these separated by semicolons. "-", or nothing at the end of a line, is the zero value. Lines that begin with "#" are
// comments.
func Table[T any](t testing.TB, text string) []T {
	t.Helper()
	var head []string
	var rows []T
	for line := range strings.Lines(text) {
		cells := columns.Split(strings.TrimSpace(line), -1)
		if strings.HasPrefix(cells[0], "#") || cells[0] == "" {
			continue
		}
		if head == nil {
			head = cells
			continue
		}
		if len(cells) > len(head) {
			t.Fatalf("%d columns of %d: %s", len(cells), len(head), line)
		}
		var row T
		for i, cell := range cells {
			if err := set(reflect.ValueOf(&row).Elem().FieldByName(head[i]), cell); err != nil {
				t.Fatalf("column %s: %v: %s", head[i], err, line)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func set(v reflect.Value, cell string) (err error) {
	switch {
	case !v.IsValid():
		return fmt.Errorf("no such field")
	case cell == "-":
		return nil
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(cell))
	}
	switch v.Kind() {
	case reflect.Slice:
		for part := range strings.SplitSeq(cell, ";") {
			e := reflect.New(v.Type().Elem()).Elem()
			if err := set(e, strings.TrimSpace(part)); err != nil {
				return err
			}
			v.Set(reflect.Append(v, e))
		}
		return nil
	case reflect.String:
		if strings.HasPrefix(cell, `"`) {
			cell, err = strconv.Unquote(cell)
		}
		v.SetString(cell)
		return err
	}
	found, err := types.Eval(token.NewFileSet(), nil, token.NoPos, cell)
	if err != nil || found.Value == nil {
		return fmt.Errorf("%q is no constant: %v", cell, err)
	}
	x := reflect.ValueOf(constant.Val(constant.ToInt(found.Value)))
	switch {
	case v.CanFloat():
		f, _ := constant.Float64Val(constant.ToFloat(found.Value))
		x = reflect.ValueOf(f)
	case v.Kind() == reflect.Bool:
		x = reflect.ValueOf(constant.Val(found.Value))
	}
	if !x.IsValid() || !x.CanConvert(v.Type()) {
		return fmt.Errorf("%q is no %s", cell, v.Type())
	}
	v.Set(x.Convert(v.Type()))
	return nil
}
