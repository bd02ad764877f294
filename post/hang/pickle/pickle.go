// Package pickle reads Python pickles that hold data alone: dictionaries, lists, tuples, texts, numbers. It never
// executes anything: an operation that names code or builds objects is an error.
package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kind is the type of a value.
type Kind uint8

// The types.
const (
	None Kind = iota
	Bool
	Int
	Float
	Text
	List // also of tuples
	Dict
)

// Value is one value. Values that a pickle refers to twice share their items.
type Value struct {
	Kind  Kind
	Int   int64  // also of Bool, and the bits of Float
	Text  string // part of the file: copy it before keeping it
	items *items
}

// items are what a list or a dictionary holds; those of a dictionary are key, value, key, value, …
type items struct {
	all   []Value
	depth int
}

// Items are the elements of a list or tuple.
func (v *Value) Items() []Value {
	if v.Kind != List {
		return nil
	}
	return v.items.all
}

// Pairs are the keys and values of a dictionary, in turn.
func (v *Value) Pairs() []Value {
	if v.Kind != Dict {
		return nil
	}
	return v.items.all
}

// Same reports whether two lists or dictionaries are one that the pickle refers to twice.
func (v *Value) Same(w *Value) bool { return v.items != nil && v.items == w.items }

// Limits beyond which a pickle is refused.
const (
	maxValues = 1 << 23
	maxDepth  = 64
)

// Error is a pickle that was refused.
type Error struct {
	Op        byte  // operation code
	Offset    int64 // of the operation
	Problem   string
	Truncated bool // the file ends within the pickle
}

func (e *Error) Error() string {
	return fmt.Sprintf("pickle, byte %d, operation 0x%02x: %s", e.Offset, e.Op, e.Problem)
}

// reader is the state of the machine that a pickle is a program of.
type reader struct {
	data   []byte
	text   string // data, for texts that share its memory
	at     int    // next byte
	op     byte
	start  int // of the operation
	stack  []Value
	marks  []int
	memo   []Value
	values int
}

// Read reads one pickle. The error is an *Error.
func Read(data []byte) (Value, error) {
	r := &reader{data: data, text: string(data)}
	for {
		r.start = r.at
		op, err := r.bytes(1)
		if err != nil {
			return Value{}, err
		}
		r.op = op[0]
		if r.op == '.' {
			if len(r.stack) != 1 || len(r.marks) > 0 {
				return Value{}, r.failed("the pickle is not one value")
			}
			return r.stack[0], nil
		}
		if err := r.step(); err != nil {
			return Value{}, err
		}
	}
}

func (r *reader) failed(problem string) error {
	return &Error{Op: r.op, Offset: int64(r.start), Problem: problem}
}

// bytes returns the next n bytes.
func (r *reader) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(r.data)-r.at) {
		return nil, &Error{Op: r.op, Offset: int64(r.start), Truncated: true, Problem: "the file ends here, truncated"}
	}
	b := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return b, nil
}

// number is a little-endian number of n bytes without sign.
func (r *reader) number(n uint64) (uint64, error) {
	b, err := r.bytes(n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[:], b)
	return binary.LittleEndian.Uint64(wide[:]), nil
}

func (r *reader) push(v Value) error {
	if r.values++; r.values > maxValues {
		return r.failed(fmt.Sprintf("more than %d values", maxValues))
	}
	r.stack = append(r.stack, v)
	return nil
}

// step executes one operation.
func (r *reader) step() error {
	switch r.op {
	case 0x80: // PROTO
		n, err := r.number(1)
		if err == nil && n > 5 {
			return r.failed(fmt.Sprintf("protocol %d is unknown", n))
		}
		return err
	case 0x95: // FRAME
		_, err := r.number(8)
		return err
	case 'N':
		return r.push(Value{})
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		return r.push(Value{Kind: Bool, Int: int64(0x89 - r.op)})
	case 'K', 'M', 'J', 0x8a, 'G':
		return r.pushNumber()
	case 'X', 0x8c, 0x8d:
		return r.pushText()
	case ']':
		return r.push(Value{Kind: List, items: &items{depth: 1}})
	case '}':
		return r.push(Value{Kind: Dict, items: &items{depth: 1}})
	case '(':
		if len(r.marks) >= maxDepth {
			return r.failed("nested too deeply")
		}
		r.marks = append(r.marks, len(r.stack))
		return nil
	case ')', 0x85, 0x86, 0x87, 't':
		return r.tuple()
	case 'a', 'e', 's', 'u':
		return r.fill()
	case 'q', 'r', 0x94, 'h', 'j':
		return r.remember()
	}
	return r.failed("not data: this operation is not allowed")
}

// pushNumber is BININT1, BININT2, BININT, LONG1 and BINFLOAT.
func (r *reader) pushNumber() error {
	width := map[byte]uint64{'K': 1, 'M': 2, 'J': 4, 'G': 8}[r.op]
	if r.op == 0x8a {
		n, err := r.number(1)
		if err != nil {
			return err
		}
		if n > 8 {
			return r.failed(fmt.Sprintf("a number of %d bytes", n))
		}
		width = n
	}
	n, err := r.number(width)
	if err != nil {
		return err
	}
	v := Value{Kind: Int, Int: int64(n)}
	switch {
	case r.op == 'G':
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		v = Value{Kind: Float, Int: int64(binary.BigEndian.Uint64(b[:]))}
	case r.op == 'J':
		v.Int = int64(int32(uint32(n)))
	case r.op == 0x8a && width > 0: // two's complement
		shift := 64 - 8*width
		v.Int = int64(n<<shift) >> shift
	}
	return r.push(v)
}

// Float is a number as a float.
func (v *Value) Float() float64 {
	if v.Kind == Float {
		return math.Float64frombits(uint64(v.Int))
	}
	return float64(v.Int)
}

func (r *reader) pushText() error {
	width := map[byte]uint64{'X': 4, 0x8c: 1, 0x8d: 8}[r.op]
	n, err := r.number(width)
	if err != nil {
		return err
	}
	from := r.at
	if _, err := r.bytes(n); err != nil {
		return err
	}
	return r.push(Value{Kind: Text, Text: r.text[from:r.at]})
}

// take removes n values from the stack, which are valid until the next push.
func (r *reader) take(n int) ([]Value, error) {
	low := 0
	if len(r.marks) > 0 {
		low = r.marks[len(r.marks)-1]
	}
	if len(r.stack)-n < low {
		return nil, r.failed("values are missing")
	}
	all := r.stack[len(r.stack)-n:]
	r.stack = r.stack[:len(r.stack)-n]
	return all, nil
}

// takeToMark removes the values above the last mark.
func (r *reader) takeToMark() ([]Value, error) {
	if len(r.marks) == 0 {
		return nil, r.failed("a mark is missing")
	}
	mark := r.marks[len(r.marks)-1]
	r.marks = r.marks[:len(r.marks)-1]
	all := r.stack[mark:]
	r.stack = r.stack[:mark]
	return all, nil
}

func (r *reader) tuple() (err error) {
	var of []Value
	switch r.op {
	case 't':
		of, err = r.takeToMark()
	case ')':
	default:
		of, err = r.take(int(r.op-0x85) + 1)
	}
	if err != nil {
		return err
	}
	made := &items{depth: 1}
	if err := r.add(made, of); err != nil {
		return err
	}
	return r.push(Value{Kind: List, items: made})
}

// add appends values to a list or a dictionary.
func (r *reader) add(to *items, values []Value) error {
	for i := range values {
		if in := values[i].items; in != nil {
			to.depth = max(to.depth, in.depth+1)
		}
	}
	if to.depth > maxDepth {
		return r.failed("nested too deeply")
	}
	to.all = append(to.all, values...)
	return nil
}

// fill is APPEND, APPENDS, SETITEM and SETITEMS.
func (r *reader) fill() (err error) {
	var of []Value
	kind := List
	switch r.op {
	case 'a':
		of, err = r.take(1)
	case 's':
		kind = Dict
		of, err = r.take(2)
	case 'u':
		kind = Dict
		fallthrough
	default:
		of, err = r.takeToMark()
	}
	if err != nil {
		return err
	}
	if len(r.stack) == 0 || r.stack[len(r.stack)-1].Kind != kind || kind == Dict && len(of)%2 > 0 {
		return r.failed("the values belong to no list or dictionary")
	}
	return r.add(r.stack[len(r.stack)-1].items, of)
}

// remember is BINPUT, LONG_BINPUT, MEMOIZE, BINGET and LONG_BINGET.
func (r *reader) remember() error {
	at := uint64(len(r.memo))
	if r.op != 0x94 {
		width := map[byte]uint64{'q': 1, 'h': 1, 'r': 4, 'j': 4}[r.op]
		n, err := r.number(width)
		if err != nil {
			return err
		}
		at = n
	}
	if r.op == 'h' || r.op == 'j' {
		if at >= uint64(len(r.memo)) {
			return r.failed(fmt.Sprintf("nothing is remembered as %d", at))
		}
		return r.push(r.memo[at])
	}
	// PyTorch and Python number what they remember in turn.
	if at > uint64(len(r.memo)) || len(r.stack) == 0 {
		return r.failed(fmt.Sprintf("number %d does not follow %d", at, len(r.memo)))
	}
	if at == uint64(len(r.memo)) {
		r.memo = append(r.memo, Value{})
	}
	r.memo[at] = r.stack[len(r.stack)-1]
	return nil
}
