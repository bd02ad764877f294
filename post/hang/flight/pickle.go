package flight

import (
	"strconv"

	"busbar/post/hang/evidence"
	"busbar/post/hang/pickle"
)

// readPickle reads the form that PyTorch writes by itself.
func (b *builder) readPickle(data []byte) error {
	top, err := pickle.Read(data)
	if err != nil {
		return err
	}
	if top.Kind == pickle.List { // before dumps had a version
		return b.pickledEntries(top.Items())
	}
	if top.Kind != pickle.Dict {
		return &NotError{"the pickle holds no dictionary"}
	}
	entries := false
	pairs := top.Pairs()
	for i := 0; i+1 < len(pairs); i += 2 {
		v := &pairs[i+1]
		switch pairs[i].Text {
		case "version":
			b.Version = string([]byte(v.Text))
		case "entries":
			entries = true
			if err := b.pickledEntries(v.Items()); err != nil {
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

func (b *builder) pickledConfig(v *pickle.Value) {
	eachPair(v, func(name, c *pickle.Value) {
		var g groupConfig
		eachPair(c, func(key, value *pickle.Value) {
			switch key.Text {
			case "name":
				g.Name = value.Text
			case "desc":
				g.Desc = value.Text
			case "ranks":
				g.Ranks = value.Text
			}
		})
		b.config[name.Text] = g
	})
}

func (b *builder) pickledStatus(v *pickle.Value) {
	eachPair(v, func(id, c *pickle.Value) {
		s := groupStatus{-1, -1}
		eachPair(c, func(key, value *pickle.Value) {
			switch key.Text {
			case "last_enqueued_collective":
				s.enqueued = whole(value)
			case "last_completed_collective":
				s.finished = whole(value)
			}
		})
		b.status[textOf(id)] = s
	})
}

func eachPair(v *pickle.Value, read func(key, value *pickle.Value)) {
	pairs := v.Pairs()
	for i := 0; i+1 < len(pairs); i += 2 {
		read(&pairs[i], &pairs[i+1])
	}
}

// whole is a number, which JSON may have as a text.
func whole(v *pickle.Value) int64 {
	if v.Kind == pickle.Text {
		n, err := strconv.ParseInt(v.Text, 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	return v.Int
}

func textOf(v *pickle.Value) string {
	if v.Kind == pickle.Int {
		return strconv.FormatInt(v.Int, 10)
	}
	return v.Text
}

func (b *builder) pickledEntries(all []pickle.Value) error {
	b.Entries = make([]evidence.Entry, 0, len(all))
	for i := range all {
		if all[i].Kind != pickle.Dict {
			return &NotError{"an entry is no dictionary"}
		}
		if err := b.pickledEntry(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) pickledEntry(v *pickle.Value) error {
	var r raw
	b.in, b.out, b.types, b.frames = b.in[:0], b.out[:0], b.types[:0], b.frames[:0]
	pairs := v.Pairs()
	for i := 0; i+1 < len(pairs); i += 2 {
		b.pickledField(&r, pairs[i].Text, &pairs[i+1])
	}
	return b.add(&r)
}

func (b *builder) pickledField(r *raw, key string, v *pickle.Value) {
	switch key {
	case "record_id":
		r.record = v.Int
	case "pg_id":
		r.group.id = textOf(v)
	case "process_group":
		if names := v.Items(); len(names) >= 2 {
			r.group.name, r.group.desc = names[0].Text, names[1].Text
		}
	case "collective_seq_id", "seq_id":
		r.seq = v.Int
	case "p2p_seq_id":
		r.p2p = v.Int
	case "profiling_name":
		r.name = v.Text
	case "input_sizes":
		b.in = sizes(b.in, v)
	case "output_sizes":
		b.out = sizes(b.out, v)
	case "input_dtypes":
		for _, t := range v.Items() {
			b.types = append(b.types, t.Text)
		}
	case "state":
		r.state = v.Text
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

func (b *builder) pickledFrames(v *pickle.Value) {
	for i, f := range v.Items() {
		if i >= maxFrames {
			return
		}
		var frame evidence.Frame
		eachPair(&f, func(key, value *pickle.Value) {
			switch key.Text {
			case "name":
				frame.Function = value.Text
			case "filename":
				frame.File = value.Text
			case "line":
				frame.Line = int(value.Int)
			}
		})
		b.frames = append(b.frames, frame)
	}
}

// sizes appends the number of elements of each shape; a list of numbers is one shape.
func sizes(to []int64, v *pickle.Value) []int64 {
	shapes := v.Items()
	if len(shapes) > 0 && shapes[0].Kind == pickle.Int {
		shapes = []pickle.Value{*v}
	}
	for i := range shapes {
		n := int64(1)
		for _, d := range shapes[i].Items() {
			n = elements(n, d.Int)
		}
		to = append(to, n)
	}
	return to
}
