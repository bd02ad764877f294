package trace

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// arguments are those of an event that say something here. Numbers that it does not have are Unknown.
type arguments struct {
	device, stream, correlation, external, bytes, node int64

	collective collective
}

// collective is what torch.distributed recorded of a collective, on its operator or on its kernel. The texts are JSON,
// as in the file. It has many fields because each holds one argument of a trace event.
type collective struct {
	in, out      int64 // elements; Unknown
	size         int64 // ranks of the group
	seq          int64
	rank         int64 // of this process in the group; of sends and receives the peer's, of a broadcast the root
	from, to     int64 // of the world: of receives, of sends
	first, skip  int64 // ranks of the group, where they are evenly spaced: the first, and how far to the next
	name, kind   []byte
	group, about []byte
	ranks        []byte
	inSplit      []byte
	outSplit     []byte
	shapes       []byte // of the inputs, where the profiler records shapes
	types        []byte
}

func (a *arguments) reset() {
	c := &a.collective
	*a = arguments{device: Unknown, stream: Unknown, correlation: Unknown, external: Unknown, bytes: Unknown,
		node: Unknown, collective: collective{
			in: Unknown, out: Unknown, size: Unknown, seq: Unknown, rank: Unknown, from: Unknown, to: Unknown, first: Unknown,
			skip: Unknown,
			name: c.name[:0], kind: c.kind[:0], group: c.group[:0], about: c.about[:0], ranks: c.ranks[:0],
			inSplit: c.inSplit[:0], outSplit: c.outSplit[:0], shapes: c.shapes[:0], types: c.types[:0],
		}}
}

// read reads the object of args.
func (a *arguments) read(json *jsontext.Decoder) error {
	if json.PeekKind() != '{' {
		return json.SkipValue()
	}
	if _, err := json.ReadToken(); err != nil {
		return err
	}
	for json.PeekKind() != '}' {
		key, err := json.ReadValue()
		if err == nil {
			err = a.member(json, key)
		}
		if err != nil {
			return err
		}
	}
	_, err := json.ReadToken()
	return err
}

func (a *arguments) member(json *jsontext.Decoder, key []byte) error {
	number, words := a.number(key), (*[]byte)(nil)
	if number == nil {
		words = a.collective.text(key)
	}
	if number == nil && words == nil {
		return json.SkipValue()
	}
	value, err := json.ReadValue()
	switch {
	case err != nil:
	case words != nil:
		*words = append((*words)[:0], value...)
	default:
		if n, ok := decimal(value, 0); ok {
			*number = n
		}
	}
	return err
}

// number is the place of a number by its key; nil of no number of ours.
func (a *arguments) number(key []byte) *int64 {
	c := &a.collective
	switch string(key) {
	case `"device"`:
		return &a.device
	case `"stream"`:
		return &a.stream
	case `"correlation"`:
		return &a.correlation
	case `"External id"`, `"external id"`:
		return &a.external
	case `"bytes"`:
		return &a.bytes
	case `"graph node id"`:
		return &a.node
	case `"In msg nelems"`:
		return &c.in
	case `"Out msg nelems"`:
		return &c.out
	case `"Group size"`:
		return &c.size
	case `"Seq"`:
		return &c.seq
	case `"Rank"`:
		return &c.rank
	case `"Src Rank"`:
		return &c.from
	case `"Dst Rank"`:
		return &c.to
	case `"Global rank start"`:
		return &c.first
	case `"Global rank stride"`:
		return &c.skip
	}
	return nil
}

// text is the place of a text by its key; nil of no text of ours.
func (c *collective) text(key []byte) *[]byte {
	switch string(key) {
	case `"Collective name"`:
		return &c.name
	case `"dtype"`:
		return &c.kind
	case `"Process Group Name"`:
		return &c.group
	case `"Process Group Description"`:
		return &c.about
	case `"Process Group Ranks"`:
		return &c.ranks
	case `"In split size"`:
		return &c.inSplit
	case `"Out split size"`:
		return &c.outSplit
	case `"Input Dims"`, `"Input dims"`:
		return &c.shapes
	case `"Input type"`:
		return &c.types
	}
	return nil
}

// evenSplits says whether lists of splits, texts like "[]" or "[4, 4]", are those of equal shares.
func evenSplits(lists ...[]byte) bool {
	for _, list := range lists {
		list = bytes.Trim(list, `"[] `)
		first, rest, more := bytes.Cut(list, []byte(","))
		for more {
			var next []byte
			if next, rest, more = bytes.Cut(rest, []byte(",")); !bytes.Equal(bytes.TrimSpace(next), bytes.TrimSpace(first)) {
				return false
			}
		}
	}
	return true
}
