package pickle

import (
	"bytes"
	"encoding/json"
)

// ReadJSON reads a JSON text as Read reads a pickle. Numbers that are not whole are 0.
func (d *Document) ReadJSON(data []byte) (err error) {
	d.reset(nil)
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	d.top, err = d.json(in, 0)
	return err
}

func (d *Document) json(in *json.Decoder, depth int) (v Value, err error) {
	token, err := in.Token()
	if err != nil {
		return v, err
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
		if depth > maxDepth {
			return v, d.failed("nested too deeply")
		}
		var of []Value
		for in.More() {
			e, err := d.json(in, depth+1)
			if err != nil {
				return v, err
			}
			of = append(of, e)
		}
		kind := List
		if t == '{' {
			kind = Dict
		}
		v = d.container(kind)
		if err := d.add(v, of); err != nil {
			return v, err
		}
		_, err = in.Token()
	}
	return v, err
}
