package pickle

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// ReadJSON reads a JSON text as Read reads a pickle. Numbers that are not whole are 0. It ends with the first error of
// check, which sees each element of the list that is the text, or that its key "entries" has.
func (d *Document) ReadJSON(data []byte, check func(Value) error) error {
	d.reset(nil)
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	d.top = d.json(in, 0, check)
	return d.err
}

func (d *Document) json(in *json.Decoder, depth int, check func(Value) error) (v Value) {
	token, err := in.Token()
	if err != nil {
		d.err = cmp.Or(d.err, err)
		return v
	}
	switch t := token.(type) {
	case string:
		v = Value{Kind: Text, Int: int64(len(d.data)), size: uint32(len(t))}
		d.data = append(d.data, t...)
	case bool:
		v.Kind = Bool
		if t {
			v.Int = 1
		}
	case json.Number:
		v.Kind = Int
		v.Int, _ = t.Int64()
	case json.Delim:
		kind := List
		if t == '{' {
			kind = Dict
		}
		v = d.elementsOf(in, kind, depth, check)
		if _, err := in.Token(); err != nil {
			d.err = cmp.Or(d.err, err)
		}
	}
	return v
}

// elementsOf reads what a list or dictionary holds. The stack has it until it ends.
func (d *Document) elementsOf(in *json.Decoder, kind Kind, depth int, check func(Value) error) Value {
	from := len(d.stack)
	for in.More() && d.err == nil {
		if depth > maxDepth {
			d.fail("nested too deeply")
			break
		}
		var below func(Value) error
		if n := len(d.stack) - from; kind == Dict && n%2 == 1 && d.Text(d.stack[from+n-1]) == "entries" {
			below = check
		}
		element := d.json(in, depth+1, below)
		if kind == List && check != nil && d.err == nil {
			d.err = check(element)
		}
		d.push(element)
	}
	v := d.container(kind)
	d.add(v, d.stack[from:])
	d.stack = d.stack[:from]
	return v
}
