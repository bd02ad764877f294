// Package pickle reads Python pickles that hold data alone: dictionaries, lists, tuples, texts, numbers. It never
// executes anything: an operation that names code or builds objects is an error.
package pickle

import (
	"encoding/binary"
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
	Float
	Text
	List // also of tuples
	Dict
)

// Value is one value of a Document. It holds no pointer: a dump has hundreds of thousands.
type Value struct {
	Kind Kind
	size uint32 // of a text
	Int  int64  // also of Bool; the bits of Float; where a text begins; the number of a list or dictionary
}

// Document is a pickle that was read. It can be used again, for the next file.
type Document struct {
	data  []byte
	top   Value
	held  []Value // what lists and dictionaries hold
	items []items

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

// Float is a number as a float.
func (v Value) Float() float64 {
	if v.Kind == Float {
		return math.Float64frombits(uint64(v.Int))
	}
	return float64(v.Int)
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
	for {
		d.start = d.at
		op, err := d.number(1)
		if err != nil {
			return err
		}
		d.op = byte(op)
		if d.op == '.' {
			if len(d.stack) != 1 || len(d.marks) > 0 {
				return d.failed("the pickle is not one value")
			}
			d.top = d.stack[0]
			return nil
		}
		if err := d.step(); err != nil {
			return err
		}
	}
}

func (d *Document) reset(data []byte) {
	*d = Document{
		data: data, held: d.held[:0], items: d.items[:0], stack: d.stack[:0], marks: d.marks[:0], memo: d.memo[:0],
	}
}

func (d *Document) failed(problem string) error {
	return &Error{Op: d.op, Offset: int64(d.start), Problem: problem}
}

// skip passes n bytes and returns where they begin.
func (d *Document) skip(n uint64) (from int, err error) {
	if n > uint64(len(d.data)-d.at) {
		return 0, &Error{Op: d.op, Offset: int64(d.start), Truncated: true, Problem: "the file ends here, truncated"}
	}
	from = d.at
	d.at += int(n)
	return from, nil
}

// number is a little-endian number of n bytes, at most 8, without sign.
func (d *Document) number(n int) (v uint64, err error) {
	from, err := d.skip(uint64(n))
	if err != nil {
		return 0, err
	}
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(d.data[from+i])
	}
	return v, nil
}

func (d *Document) push(v Value) error {
	if len(d.stack)+len(d.held) >= maxValues {
		return d.failed(fmt.Sprintf("more than %d values", maxValues))
	}
	d.stack = append(d.stack, v)
	return nil
}

// step executes one operation.
func (d *Document) step() error {
	switch d.op {
	case 'h', 'j', 'q', 'r', 0x94:
		return d.remember()
	case 'X', 0x8c, 0x8d:
		return d.pushText()
	case 'K', 'M', 'J', 0x8a, 'G':
		return d.pushNumber()
	case 'N':
		return d.push(Value{})
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		return d.push(Value{Kind: Bool, Int: int64(0x89 - d.op)})
	case ']':
		return d.push(d.container(List))
	case '}':
		return d.push(d.container(Dict))
	case '(':
		if len(d.marks) >= maxDepth {
			return d.failed("nested too deeply")
		}
		d.marks = append(d.marks, len(d.stack))
		return nil
	case ')', 0x85, 0x86, 0x87, 't':
		return d.tuple()
	case 'a', 'e', 's', 'u':
		return d.fill()
	case 0x80: // PROTO
		n, err := d.number(1)
		if err == nil && n > 5 {
			return d.failed(fmt.Sprintf("protocol %d is unknown", n))
		}
		return err
	case 0x95: // FRAME
		_, err := d.number(8)
		return err
	}
	return d.failed("not data: this operation is not allowed")
}

// container is a new list or dictionary.
func (d *Document) container(kind Kind) Value {
	d.items = append(d.items, items{from: int32(len(d.held)), depth: 1})
	return Value{Kind: kind, Int: int64(len(d.items) - 1)}
}

// pushNumber is BININT1, BININT2, BININT, LONG1 and BINFLOAT.
func (d *Document) pushNumber() error {
	width := 8
	switch d.op {
	case 'K':
		width = 1
	case 'M':
		width = 2
	case 'J':
		width = 4
	case 0x8a:
		n, err := d.number(1)
		if err != nil {
			return err
		}
		if width = int(n); width > 8 {
			return d.failed(fmt.Sprintf("a number of %d bytes", n))
		}
	}
	n, err := d.number(width)
	if err != nil {
		return err
	}
	v := Value{Kind: Int, Int: int64(n)}
	switch {
	case d.op == 'G': // big-endian
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		v = Value{Kind: Float, Int: int64(binary.BigEndian.Uint64(b[:]))}
	case d.op == 'J':
		v.Int = int64(int32(uint32(n)))
	case d.op == 0x8a && width > 0: // two's complement
		shift := 64 - 8*width
		v.Int = int64(n<<shift) >> shift
	}
	return d.push(v)
}

// pushText is BINUNICODE, SHORT_BINUNICODE and BINUNICODE8.
func (d *Document) pushText() error {
	width := 4
	switch d.op {
	case 0x8c:
		width = 1
	case 0x8d:
		width = 8
	}
	n, err := d.number(width)
	if err != nil {
		return err
	}
	from, err := d.skip(n)
	if err != nil {
		return err
	}
	if n > math.MaxUint32 {
		return d.failed("a text of more than 4 GiB")
	}
	return d.push(Value{Kind: Text, Int: int64(from), size: uint32(n)})
}

// take removes n values from the stack. They are valid until the next push.
func (d *Document) take(n int) ([]Value, error) {
	low := 0
	if len(d.marks) > 0 {
		low = d.marks[len(d.marks)-1]
	}
	if len(d.stack)-n < low {
		return nil, d.failed("values are missing")
	}
	all := d.stack[len(d.stack)-n:]
	d.stack = d.stack[:len(d.stack)-n]
	return all, nil
}

// takeToMark removes the values above the last mark.
func (d *Document) takeToMark() ([]Value, error) {
	if len(d.marks) == 0 {
		return nil, d.failed("a mark is missing")
	}
	mark := d.marks[len(d.marks)-1]
	d.marks = d.marks[:len(d.marks)-1]
	all := d.stack[mark:]
	d.stack = d.stack[:mark]
	return all, nil
}

func (d *Document) tuple() (err error) {
	var of []Value
	switch d.op {
	case 't':
		of, err = d.takeToMark()
	case ')':
	default:
		of, err = d.take(int(d.op-0x85) + 1)
	}
	if err != nil {
		return err
	}
	v := d.container(List)
	if err := d.add(v, of); err != nil {
		return err
	}
	return d.push(v)
}

// add appends values to a list or dictionary.
func (d *Document) add(to Value, values []Value) error {
	i := d.items[to.Int]
	for _, v := range values {
		if v.Kind == List || v.Kind == Dict {
			i.depth = max(i.depth, d.items[v.Int].depth+1)
		}
	}
	if i.depth > maxDepth {
		return d.failed("nested too deeply")
	}
	if len(d.held)+int(i.n)+len(values) > maxValues {
		return d.failed(fmt.Sprintf("more than %d values", maxValues))
	}
	if int(i.from+i.n) != len(d.held) { // others follow: move it
		moved := int32(len(d.held))
		d.held = append(d.held, d.held[i.from:i.from+i.n]...)
		i.from = moved
	}
	d.held = append(d.held, values...)
	i.n += int32(len(values))
	d.items[to.Int] = i
	return nil
}

// fill is APPEND, APPENDS, SETITEM and SETITEMS.
func (d *Document) fill() (err error) {
	var of []Value
	kind := List
	switch d.op {
	case 'a':
		of, err = d.take(1)
	case 's':
		kind = Dict
		of, err = d.take(2)
	case 'u':
		kind = Dict
		of, err = d.takeToMark()
	default:
		of, err = d.takeToMark()
	}
	if err != nil {
		return err
	}
	n := len(d.stack)
	if n == 0 || d.stack[n-1].Kind != kind || kind == Dict && len(of)%2 > 0 {
		return d.failed("the values belong to no list or dictionary")
	}
	return d.add(d.stack[n-1], of)
}

// remember is BINPUT, LONG_BINPUT, MEMOIZE, BINGET and LONG_BINGET.
func (d *Document) remember() error {
	at := uint64(len(d.memo))
	var err error
	switch d.op {
	case 'h', 'q':
		at, err = d.number(1)
	case 'j', 'r':
		at, err = d.number(4)
	}
	if err != nil {
		return err
	}
	if d.op == 'h' || d.op == 'j' {
		if at >= uint64(len(d.memo)) {
			return d.failed(fmt.Sprintf("nothing is remembered as %d", at))
		}
		return d.push(d.memo[at])
	}
	// PyTorch and Python number what they remember in turn.
	if at > uint64(len(d.memo)) || len(d.stack) == 0 || len(d.memo) >= maxValues {
		return d.failed(fmt.Sprintf("number %d does not follow %d", at, len(d.memo)))
	}
	if at == uint64(len(d.memo)) {
		d.memo = append(d.memo, Value{})
	}
	d.memo[at] = d.stack[len(d.stack)-1]
	return nil
}
