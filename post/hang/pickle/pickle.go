// Package pickle reads Python pickles that hold data alone: dictionaries, lists, tuples, texts, numbers. It never
// executes anything: an operation that names code or builds objects is an error.
package pickle

import (
	"fmt"
	"math"
	"unsafe"
)

// Kind is the type of a value.
type Kind uint8

// The types.
const (
	None Kind = iota
	Bool
	Int
	Text
	List // also of tuples
	Dict
)

// Value is one value of a Document. It holds no pointer: a dump has hundreds of thousands.
type Value struct {
	Kind Kind
	size uint32 // of a text
	Int  int64  // also of Bool; where a text begins; the number of a list or dictionary
}

// Document is a pickle that was read. It can be used again, for the next file.
type Document struct {
	data  []byte
	top   Value
	held  []Value // what lists and dictionaries hold
	items []items

	err   error
	at    int  // next byte
	op    byte // operation
	start int  // its first byte
	stack []Value
	marks []int
	memo  []Value
}

// items are where the elements of a list or dictionary are in Document.held: key, value, key, value, …
type items struct {
	from, n int32
	depth   int8
}

// Top is the value that the pickle holds.
func (d *Document) Top() Value { return d.top }

// Text is a text. It shares the memory of the file: copy it before keeping it.
func (d *Document) Text(v Value) string {
	if v.Kind != Text || v.size == 0 {
		return ""
	}
	return unsafe.String(&d.data[v.Int], int(v.size))
}

// Items are the elements of a list or tuple.
func (d *Document) Items(v Value) []Value { return d.elements(v, List) }

// Pairs are the keys and values of a dictionary, in turn.
func (d *Document) Pairs(v Value) []Value { return d.elements(v, Dict) }

func (d *Document) elements(v Value, kind Kind) []Value {
	if v.Kind != kind {
		return nil
	}
	i := d.items[v.Int]
	return d.held[i.from : i.from+i.n]
}

// Limits beyond which a pickle is refused.
const (
	maxValues = 1 << 24
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

// Read reads one pickle; what the document held before is lost. The data must not change while the document is used.
// The error is an *Error.
func (d *Document) Read(data []byte) error {
	d.reset(data)
	for d.err == nil {
		d.start = d.at
		if d.op = byte(d.number(1)); d.op != '.' {
			d.step()
			continue
		}
		if len(d.stack) != 1 || len(d.marks) > 0 {
			d.fail("the pickle is not one value")
			break
		}
		d.top = d.stack[0]
		return nil
	}
	return d.err
}

func (d *Document) reset(data []byte) {
	*d = Document{
		data: data, held: d.held[:0], items: d.items[:0], stack: d.stack[:0], marks: d.marks[:0], memo: d.memo[:0],
	}
}

// fail keeps the first error, which ends the reading; what the operation does after it has no effect.
func (d *Document) fail(problem string, values ...any) {
	if d.err == nil {
		d.err = &Error{Op: d.op, Offset: int64(d.start), Problem: fmt.Sprintf(problem, values...)}
	}
}

// skip passes n bytes and returns them; none if the file has fewer.
func (d *Document) skip(n uint64) (of []byte) {
	if n > uint64(len(d.data)-d.at) {
		if d.err == nil {
			d.err = &Error{Op: d.op, Offset: int64(d.start), Truncated: true, Problem: "the file ends here, truncated"}
		}
		return nil
	}
	of = d.data[d.at : d.at+int(n)]
	d.at += int(n)
	return of
}

// number is a little-endian number of n bytes, at most 8, without sign.
func (d *Document) number(n int) (v uint64) {
	for i, b := range d.skip(uint64(n)) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (d *Document) push(v Value) {
	if len(d.stack)+len(d.held) >= maxValues {
		d.fail("more than %d values", maxValues)
		return
	}
	d.stack = append(d.stack, v)
}

// step executes one operation.
func (d *Document) step() {
	switch d.op {
	case 'h': // BINGET
		recall(d, d.number(1))
	case 'j': // LONG_BINGET
		recall(d, d.number(4))
	case 'q': // BINPUT
		remember(d, d.number(1))
	case 'r': // LONG_BINPUT
		remember(d, d.number(4))
	case 0x94: // MEMOIZE
		remember(d, uint64(len(d.memo)))
	case 'X': // BINUNICODE
		pushText(d, d.number(4))
	case 0x8c: // SHORT_BINUNICODE
		pushText(d, d.number(1))
	case 0x8d: // BINUNICODE8
		pushText(d, d.number(8))
	case 'K': // BININT1
		pushInt(d, int64(d.number(1)))
	case 'M': // BININT2
		pushInt(d, int64(d.number(2)))
	case 'J': // BININT
		pushInt(d, int64(int32(d.number(4))))
	case 0x8a: // LONG1, in two's complement
		n := int(d.number(1))
		if n > 8 {
			d.fail("a number of %d bytes", n)
			return
		}
		shift := 64 - 8*n
		pushInt(d, int64(d.number(n)<<shift)>>shift)
	case 'G': // BINFLOAT, which no reader needs
		d.number(8)
		d.push(Value{})
	case 'N':
		d.push(Value{})
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		d.push(Value{Kind: Bool, Int: int64(0x89 - d.op)})
	case ']', ')': // EMPTY_LIST, EMPTY_TUPLE
		d.push(d.container(List))
	case '}':
		d.push(d.container(Dict))
	case '(':
		if d.marks = append(d.marks, len(d.stack)); len(d.marks) > maxDepth {
			d.fail("nested too deeply")
		}
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		d.tuple(d.take(int(d.op-0x85) + 1))
	case 't':
		d.tuple(d.takeToMark())
	case 'a': // APPEND
		fill(d, List, d.take(1))
	case 'e': // APPENDS
		fill(d, List, d.takeToMark())
	case 's': // SETITEM
		fill(d, Dict, d.take(2))
	case 'u': // SETITEMS
		fill(d, Dict, d.takeToMark())
	case 0x80: // PROTO
		if n := d.number(1); n > 5 {
			d.fail("protocol %d is unknown", n)
		}
	case 0x95: // FRAME
		d.number(8)
	default:
		d.fail("not data: this operation is not allowed")
	}
}

// container is a new list or dictionary.
func (d *Document) container(kind Kind) Value {
	d.items = append(d.items, items{from: int32(len(d.held)), depth: 1})
	return Value{Kind: kind, Int: int64(len(d.items) - 1)}
}

func pushInt(d *Document, n int64) { d.push(Value{Kind: Int, Int: n}) }

func pushText(d *Document, n uint64) {
	from := d.at
	if d.skip(n); n > math.MaxUint32 {
		d.fail("a text of more than 4 GiB")
	}
	d.push(Value{Kind: Text, Int: int64(from), size: uint32(n)})
}

// take removes n values from the stack. They are valid until the next push.
func (d *Document) take(n int) []Value {
	low := 0
	if len(d.marks) > 0 {
		low = d.marks[len(d.marks)-1]
	}
	from := len(d.stack) - n
	if from < low {
		d.fail("values are missing")
		return nil
	}
	all := d.stack[from:]
	d.stack = d.stack[:from]
	return all
}

// takeToMark removes the values above the last mark.
func (d *Document) takeToMark() []Value {
	last := len(d.marks) - 1
	if last < 0 {
		d.fail("a mark is missing")
		return nil
	}
	all := d.take(len(d.stack) - d.marks[last])
	d.marks = d.marks[:last]
	return all
}

func (d *Document) tuple(of []Value) {
	v := d.container(List)
	d.add(v, of)
	d.push(v)
}

// add appends values to a list or dictionary.
func (d *Document) add(to Value, values []Value) {
	i := d.items[to.Int]
	for _, v := range values {
		if v.Kind == List || v.Kind == Dict {
			i.depth = max(i.depth, d.items[v.Int].depth+1)
		}
	}
	if i.depth > maxDepth {
		d.fail("nested too deeply")
	}
	if len(d.held)+int(i.n)+len(values) > maxValues {
		d.fail("more than %d values", maxValues)
		return
	}
	if int(i.from+i.n) != len(d.held) { // others follow: move it
		moved := int32(len(d.held))
		d.held = append(d.held, d.held[i.from:i.from+i.n]...)
		i.from = moved
	}
	d.held = append(d.held, values...)
	i.n += int32(len(values))
	d.items[to.Int] = i
}

// fill appends values to the list or dictionary on the stack.
func fill(d *Document, kind Kind, of []Value) {
	last := len(d.stack) - 1
	if last < 0 || d.stack[last].Kind != kind || kind == Dict && len(of)%2 > 0 {
		d.fail("the values belong to no list or dictionary")
		return
	}
	d.add(d.stack[last], of)
}

// recall pushes what was remembered.
func recall(d *Document, at uint64) {
	if at >= uint64(len(d.memo)) {
		d.fail("nothing is remembered as %d", at)
		return
	}
	d.push(d.memo[at])
}

// remember keeps the value on the stack. PyTorch and Python number what they remember in turn.
func remember(d *Document, at uint64) {
	n := uint64(len(d.memo))
	if at > n || len(d.stack) == 0 || n >= maxValues {
		d.fail("number %d does not follow %d", at, n)
		return
	}
	if at == n {
		d.memo = append(d.memo, Value{})
	}
	d.memo[at] = d.stack[len(d.stack)-1]
}
