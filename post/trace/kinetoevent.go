package trace

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// event is one event of a chrome trace. Its texts are JSON as it stands in the file, quotes and all, and belong to the
// reader: they hold until the next event.
type event struct {
	phase    byte // X, B, E, …; 0 where it has none
	category category
	name     []byte
	pid, tid []byte
	start    int64 // ns
	took     int64 // ns; may be negative
	hasStart bool
	args     arguments
	cat      []byte // the category's text
}

// farthest is 36 years in nanoseconds. Times from 36 years before the clock's beginning to 146 after it are moments,
// whose differences fit.
const farthest = 1 << 60

// category is what an event is of.
type category uint8

const (
	otherEvent    category = iota
	kernelEvent            // GPU: a kernel
	memcpyEvent            // a copy
	memsetEvent            // a memset
	callEvent              // host: a call of CUDA or HIP
	operatorEvent          // an operator of torch, or a range
	ignoredEvent           // what says nothing of its own: the GPU's copy of a range, flows, the profiler's own work
)

// categories are their names.
var categories = map[string]category{
	`"kernel"`: kernelEvent, `"gpu_memcpy"`: memcpyEvent, `"gpu_memset"`: memsetEvent,
	`"cpu_op"`: operatorEvent, `"user_annotation"`: operatorEvent, `"python_function"`: operatorEvent,
	`"gpu_user_annotation"`: ignoredEvent, `"overhead"`: ignoredEvent, `"ac2g"`: ignoredEvent,
	`"fwdbwd"`: ignoredEvent, `"Trace"`: ignoredEvent, `"cuda_sync"`: ignoredEvent,
}

// categoryOf knows cuda_runtime, xpu_driver and the like by their ends.
func categoryOf(text []byte) category {
	if bytes.HasSuffix(text, []byte(`_runtime"`)) || bytes.HasSuffix(text, []byte(`_driver"`)) {
		return callEvent
	}
	return categories[string(text)]
}

// read reads an event, at whose { the reader stands. What is not an event of a trace is read all the same, and has no
// phase.
func (e *event) read(json *jsontext.Decoder) error {
	e.phase, e.category, e.start, e.took, e.hasStart = 0, otherEvent, 0, 0, false
	for _, text := range []*[]byte{&e.cat, &e.name, &e.pid, &e.tid} {
		*text = (*text)[:0]
	}
	e.args.reset()
	return members(json, func(key []byte) error { return e.member(json, key) })
}

// member reads the value of a key. Arguments of operators are most of a file, and those that nobody wants are passed
// over as soon as it is known what they are of.
func (e *event) member(json *jsontext.Decoder, key []byte) error {
	var into *[]byte
	switch string(key) {
	case `"args"`:
		if len(e.cat) == 0 || len(e.name) == 0 || e.wantsArguments() {
			return e.args.read(json)
		}
		return json.SkipValue()
	case `"ph"`, `"ts"`, `"dur"`:
		return e.scalar(json, key[1])
	case `"cat"`:
		into = &e.cat
	case `"name"`:
		into = &e.name
	case `"pid"`:
		into = &e.pid
	case `"tid"`:
		into = &e.tid
	default:
		return json.SkipValue()
	}
	value, err := json.ReadValue()
	if *into = append((*into)[:0], value...); into == &e.cat {
		e.category = categoryOf(e.cat)
	}
	return err
}

// scalar reads ph, ts or dur, told by its first letter.
func (e *event) scalar(json *jsontext.Decoder, which byte) error {
	value, err := json.ReadValue()
	switch {
	case err != nil:
	case which == 't':
		e.start, e.hasStart = decimal(value, 3) // microseconds, whatever displayTimeUnit says: that is for viewers
		e.hasStart = e.hasStart && e.start > -farthest && e.start < 4*farthest
	case which == 'd':
		e.took, _ = decimal(value, 3)
		e.took = min(e.took, farthest)
	case len(value) == 3:
		e.phase = value[1]
	}
	return err
}

// wantsArguments reports whether arguments are of use: of operators only those of collectives are.
func (e *event) wantsArguments() bool {
	switch e.category {
	case kernelEvent, memcpyEvent, memsetEvent, callEvent:
		return true
	case operatorEvent, otherEvent:
		return e.collective()
	}
	return false
}

// collective reports whether it is the operator of a collective of torch.distributed.
func (e *event) collective() bool { return bytes.Equal(e.name, []byte(`"record_param_comms"`)) }

// text is a JSON string without quotes and escapes; of what is none, the text itself.
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return string(value)
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	plain, _ := jsontext.AppendUnquote(nil, value) // what is no UTF-8 becomes the sign for that
	return string(plain)
}
