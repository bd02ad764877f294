package trace

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// event is one event of a chrome trace. Its texts are raw JSON, with quotes, in the reader's buffer: they are valid
// until the next event.
type event struct {
	phase    byte // X, B, E, …; 0 if missing
	category category
	name     []byte
	pid, tid []byte
	start    int64 // ns
	took     int64 // ns; may be negative
	hasStart bool
	args     arguments
	cat      []byte // raw category
}

// farthest is 36 years in nanoseconds. It bounds times to between 36 years before the clock's zero and 146 years after
// it, so that differences fit an int64.
const farthest = 1 << 60

// category is the category of an event.
type category uint8

const (
	otherEvent    category = iota
	kernelEvent            // GPU: a kernel
	memcpyEvent            // a copy
	memsetEvent            // a memset
	callEvent              // host: a call of CUDA or HIP
	operatorEvent          // an operator of torch, or a range
	ignoredEvent           // ignored: the GPU's copy of a range, flows, the profiler's own work
)

// categories maps names to categories.
var categories = map[string]category{
	`"kernel"`: kernelEvent, `"gpu_memcpy"`: memcpyEvent, `"gpu_memset"`: memsetEvent,
	`"cpu_op"`: operatorEvent, `"user_annotation"`: operatorEvent, `"python_function"`: operatorEvent,
	`"gpu_user_annotation"`: ignoredEvent, `"overhead"`: ignoredEvent, `"ac2g"`: ignoredEvent,
	`"fwdbwd"`: ignoredEvent, `"Trace"`: ignoredEvent, `"cuda_sync"`: ignoredEvent,
}

// categoryOf recognises cuda_runtime, xpu_driver and the like by their suffixes.
func categoryOf(text []byte) category {
	if bytes.HasSuffix(text, []byte(`_runtime"`)) || bytes.HasSuffix(text, []byte(`_driver"`)) {
		return callEvent
	}
	return categories[string(text)]
}

// read reads an event from its {. A value that is not an event is skipped and has no phase.
func (e *event) read(json *jsontext.Decoder) error {
	e.phase, e.category, e.start, e.took, e.hasStart = 0, otherEvent, 0, 0, false
	for _, text := range []*[]byte{&e.cat, &e.name, &e.pid, &e.tid} {
		*text = (*text)[:0]
	}
	e.args.reset()
	return members(json, func(key []byte) error { return e.member(json, key) })
}

// member reads the value of a key. Arguments of operators are most of a file; unneeded ones are skipped as soon as the
// category is known.
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

// scalar reads ph, ts or dur, distinguished by the first letter.
func (e *event) scalar(json *jsontext.Decoder, which byte) error {
	value, err := json.ReadValue()
	switch {
	case err != nil:
	case which == 't':
		e.start, e.hasStart = decimal(value, 3) // always microseconds; displayTimeUnit is for viewers only
		e.hasStart = e.hasStart && e.start > -farthest && e.start < 4*farthest
	case which == 'd':
		e.took, _ = decimal(value, 3)
		e.took = min(e.took, farthest)
	case len(value) == 3:
		e.phase = value[1]
	}
	return err
}

// wantsArguments reports whether the arguments are needed: of operators only those of collectives.
func (e *event) wantsArguments() bool {
	switch e.category {
	case kernelEvent, memcpyEvent, memsetEvent, callEvent:
		return true
	case operatorEvent, otherEvent:
		return e.collective()
	}
	return false
}

// collective reports whether the event is torch.distributed's operator of a collective.
func (e *event) collective() bool { return bytes.Equal(e.name, []byte(`"record_param_comms"`)) }

// text returns a JSON string without quotes and escapes; other values unchanged.
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return string(value)
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	plain, _ := jsontext.AppendUnquote(nil, value) // invalid UTF-8 becomes U+FFFD
	return string(plain)
}
