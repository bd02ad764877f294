package flight

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"busbar/post/hang/evidence"
	"busbar/post/hang/pickle"
)

func (b *builder) each(dict pickle.Value, read func(key string, v pickle.Value)) {
	pairs := b.doc.Pairs(dict)
	if b.left -= len(pairs) / 2; b.left < 0 {
		return
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		read(b.word(pairs[i]), pairs[i+1])
	}
}

// items are the elements of a list; none if the dump has too many.
func (b *builder) items(list pickle.Value) []pickle.Value {
	all := b.doc.Items(list)
	if b.left -= len(all); b.left < 0 {
		return nil
	}
	return all
}

// text is a text of an entry, which is compared with those of others.
func (b *builder) text(v pickle.Value) string {
	text := b.doc.Text(v)
	if b.left -= len(text) / textOfVisit; b.left < 0 {
		return ""
	}
	return text
}

// table is a dictionary by key.
func (b *builder) table(dict pickle.Value) map[string]pickle.Value {
	all := map[string]pickle.Value{}
	b.each(dict, func(key string, v pickle.Value) { all[key] = v })
	return all
}

// word is a text, or a number as a text.
func (b *builder) word(v pickle.Value) string {
	if v.Kind == pickle.Int {
		return strconv.FormatInt(v.Int, 10)
	}
	return b.doc.Text(v)
}

// number is an integer, which some versions write as a text; 0 if it is none.
func (b *builder) number(v pickle.Value) int64 {
	switch v.Kind {
	case pickle.Text:
		n, _ := strconv.ParseInt(b.doc.Text(v), 10, 64)
		return n
	case pickle.Int, pickle.Bool:
		return v.Int
	}
	return 0
}

// entry reads an operation.
func (b *builder) entry(v pickle.Value) error {
	b.in, b.out, b.types, b.frames = b.in[:0], b.out[:0], b.types[:0], b.frames[:0]
	var r raw
	b.each(v, func(key string, v pickle.Value) { b.field(&r, key, v) })
	if r.name == "" {
		return errUnnamed
	}
	e := &r.Entry
	if e.P2P = e.P2P || strings.Contains(r.name, ":send ") || strings.Contains(r.name, ":recv "); e.P2P {
		e.Seq = r.p2p
	}
	b.Events = b.Events || e.State != evidence.Scheduled || strings.HasPrefix(r.name, "nccl")
	if len(b.Entries) == 0 {
		b.Lost = e.Record > 0
	}
	var err error
	if e.Group, err = b.group(r.group); err != nil {
		return err
	}
	e.Call = b.known.Call(r.name, b.in, b.out, b.types)
	e.Stack = b.known.Stack(b.frames)
	b.Entries = append(b.Entries, *e)
	if e.Call.Op == "coalesced" {
		b.coalesced()
	}
	return nil
}

// profilingName is the key that every operation has.
const profilingName = "profiling_name"

var errUnnamed = errors.New("has no profiling_name")

// raw is an entry with what is not kept as it was read.
type raw struct {
	evidence.Entry
	name  string
	group groupKey
	p2p   int64
}

func (b *builder) field(r *raw, key string, v pickle.Value) {
	switch key {
	case "record_id":
		r.Record = small(b.number(v))
	case "pg_id":
		r.group.id = b.word(v)
	case "process_group":
		if names := b.items(v); len(names) >= 2 {
			r.group.name, r.group.desc = b.text(names[0]), b.text(names[1])
		}
	case "collective_seq_id", "seq_id":
		r.Seq = max(r.Seq, b.number(v))
	case "p2p_seq_id":
		r.p2p = max(0, b.number(v))
	case profilingName:
		r.name = b.text(v)
	case "input_sizes":
		b.in = b.sizes(b.in, v)
	case "output_sizes":
		b.out = b.sizes(b.out, v)
	case "input_dtypes":
		for _, t := range b.items(v) {
			b.types = append(b.types, b.text(t))
		}
	case "state":
		switch b.doc.Text(v) {
		case "started":
			r.State = max(r.State, evidence.Started)
		case "completed":
			r.State = evidence.Completed
		}
	case "time_created_ns":
		r.Created = b.number(v)
	case "time_discovered_started_ns":
		if b.number(v) > 0 {
			r.State = max(r.State, evidence.Started)
		}
	case "time_discovered_completed_ns":
		if b.number(v) > 0 {
			r.State = evidence.Completed
		}
	case "retired":
		r.Retired = v.Int != 0
	case "timeout_ms":
		r.Timeout = small(b.number(v) / 1000)
	case "is_p2p":
		r.P2P = v.Int != 0
	case "frames":
		const most = 32
		frames := b.doc.Items(v)
		for _, f := range frames[:min(most, len(frames))] {
			b.frames = append(b.frames, b.frame(f))
		}
	}
}

// small is a number that is not negative in 32 bits.
func small(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }

func (b *builder) frame(v pickle.Value) (f evidence.Frame) {
	b.each(v, func(key string, v pickle.Value) {
		switch key {
		case "name":
			f.Function = b.text(v)
		case "filename":
			f.File = b.text(v)
		case "line":
			f.Line = int(v.Int)
		}
	})
	return f
}

// sizes appends the number of elements of each shape; a list of numbers is one shape.
func (b *builder) sizes(to []int64, v pickle.Value) []int64 {
	shapes := b.items(v)
	if len(shapes) > 0 && shapes[0].Kind == pickle.Int {
		shapes = []pickle.Value{v}
	}
	for _, shape := range shapes {
		n := int64(1)
		for _, d := range b.items(shape) {
			// An overflow is no shape that matters.
			if size := b.number(d); size >= 0 && (size == 0 || n <= math.MaxInt64/size) {
				n *= size
			}
		}
		to = append(to, n)
	}
	return to
}
