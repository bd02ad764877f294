package flight

import (
	"strconv"
	"strings"

	"busbar/post/hang/evidence"
	"busbar/post/hang/pickle"
)

// readPickle reads the form that PyTorch writes by itself.
func (b *builder) readPickle(data []byte) error {
	if err := b.doc.Read(data); err != nil {
		return err
	}
	top := b.doc.Top()
	if top.Kind == pickle.List { // before dumps had a version
		return b.pickledEntries(b.doc.Items(top))
	}
	if top.Kind != pickle.Dict {
		return &NotError{"the pickle holds no dictionary"}
	}
	entries := false
	pairs := b.doc.Pairs(top)
	for i := 0; i+1 < len(pairs); i += 2 {
		v := pairs[i+1]
		switch b.doc.Text(pairs[i]) {
		case "version":
			b.Version = strings.Clone(b.doc.Text(v))
		case "entries":
			entries = true
			if err := b.pickledEntries(b.doc.Items(v)); err != nil {
				return err
			}
		case "pg_config":
			entries = true
			b.pickledConfig(v)
		case "pg_status":
			entries = true
			b.pickledStatus(v)
		}
	}
	if !entries {
		return &NotError{"the pickle has neither entries nor process groups"}
	}
	return nil
}

func (b *builder) pickledConfig(v pickle.Value) {
	b.eachPair(v, func(name string, c pickle.Value) {
		var g groupConfig
		b.eachPair(c, func(key string, value pickle.Value) {
			switch key {
			case "name":
				g.Name = b.doc.Text(value)
			case "desc":
				g.Desc = b.doc.Text(value)
			case "ranks":
				g.Ranks = b.doc.Text(value)
			}
		})
		b.config[name] = g
	})
}

func (b *builder) pickledStatus(v pickle.Value) {
	b.eachPair(v, func(id string, c pickle.Value) {
		s := groupStatus{-1, -1}
		b.eachPair(c, func(key string, value pickle.Value) {
			switch key {
			case "last_enqueued_collective":
				s.enqueued = value.Int
			case "last_completed_collective":
				s.finished = value.Int
			}
		})
		b.status[id] = s
	})
}

func (b *builder) eachPair(v pickle.Value, read func(key string, value pickle.Value)) {
	pairs := b.doc.Pairs(v)
	for i := 0; i+1 < len(pairs); i += 2 {
		read(b.word(pairs[i]), pairs[i+1])
	}
}

// word is a text, or a number as a text.
func (b *builder) word(v pickle.Value) string {
	if v.Kind == pickle.Int {
		return strconv.FormatInt(v.Int, 10)
	}
	return b.doc.Text(v)
}

func (b *builder) pickledEntries(all []pickle.Value) error {
	b.Entries = make([]evidence.Entry, 0, len(all))
	for _, v := range all {
		if v.Kind != pickle.Dict {
			return &NotError{"an entry is no dictionary"}
		}
		if err := b.pickledEntry(v); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) pickledEntry(v pickle.Value) error {
	var r raw
	b.in, b.out, b.types, b.frames = b.in[:0], b.out[:0], b.types[:0], b.frames[:0]
	pairs := b.doc.Pairs(v)
	for i := 0; i+1 < len(pairs); i += 2 {
		b.pickledField(&r, b.doc.Text(pairs[i]), pairs[i+1])
	}
	return b.add(&r)
}

func (b *builder) pickledField(r *raw, key string, v pickle.Value) {
	switch key {
	case "record_id":
		r.record = v.Int
	case "pg_id":
		r.group.id = b.word(v)
	case "process_group":
		if names := b.doc.Items(v); len(names) >= 2 {
			r.group.name, r.group.desc = b.doc.Text(names[0]), b.doc.Text(names[1])
		}
	case "collective_seq_id", "seq_id":
		r.seq = v.Int
	case "p2p_seq_id":
		r.p2p = v.Int
	case "profiling_name":
		r.name = b.doc.Text(v)
	case "input_sizes":
		b.in = b.sizes(b.in, v)
	case "output_sizes":
		b.out = b.sizes(b.out, v)
	case "input_dtypes":
		for _, t := range b.doc.Items(v) {
			b.types = append(b.types, b.doc.Text(t))
		}
	case "state":
		r.state = b.doc.Text(v)
	case "time_created_ns":
		r.entry.Created = v.Int
	case "time_discovered_started_ns":
		r.started = v.Int > 0
	case "time_discovered_completed_ns":
		r.end = v.Int > 0
	case "retired":
		r.entry.Retired = v.Int != 0
	case "timeout_ms":
		r.timeout = v.Int
	case "is_p2p":
		r.entry.P2P = v.Int != 0
	case "frames":
		b.pickledFrames(v)
	}
}

// maxFrames is how many frames of a stack are kept.
const maxFrames = 32

func (b *builder) pickledFrames(v pickle.Value) {
	for i, f := range b.doc.Items(v) {
		if i >= maxFrames {
			return
		}
		var frame evidence.Frame
		pairs := b.doc.Pairs(f)
		for i := 0; i+1 < len(pairs); i += 2 {
			switch b.doc.Text(pairs[i]) {
			case "name":
				frame.Function = b.doc.Text(pairs[i+1])
			case "filename":
				frame.File = b.doc.Text(pairs[i+1])
			case "line":
				frame.Line = int(pairs[i+1].Int)
			}
		}
		b.frames = append(b.frames, frame)
	}
}

// sizes appends the number of elements of each shape; a list of numbers is one shape.
func (b *builder) sizes(to []int64, v pickle.Value) []int64 {
	shapes := b.doc.Items(v)
	if len(shapes) > 0 && shapes[0].Kind == pickle.Int {
		return append(to, b.shape(v))
	}
	for _, s := range shapes {
		to = append(to, b.shape(s))
	}
	return to
}

func (b *builder) shape(v pickle.Value) int64 {
	n := int64(1)
	for _, d := range b.doc.Items(v) {
		n = elements(n, d.Int)
	}
	return n
}
