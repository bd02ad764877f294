package pickle

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// ReadJSON reads a JSON text as Read reads a pickle. Numbers that are not whole are 0.
func (d *Document) ReadJSON(data []byte) error {
	d.reset(nil)
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	d.top = d.json(in, 0)
	return d.err
}

func (d *Document) json(in *json.Decoder, depth int) (v Value) {
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
		var of []Value
		for in.More() && d.err == nil {
			if depth > maxDepth {
				d.fail("nested too deeply")
				return v
			}
			of = append(of, d.json(in, depth+1))
		}
		kind := List
		if t == '{' {
			kind = Dict
		}
		v = d.container(kind)
		d.add(v, of)
		if _, err := in.Token(); err != nil {
			d.err = cmp.Or(d.err, err)
		}
	}
	return v
}
