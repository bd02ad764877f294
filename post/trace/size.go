package trace

import (
	"strings"

	"busbar/internal/coll"
)

// wholeSize is S as nccl-tests counts it, from the bytes that go into a collective and come out of it on one rank; each
// may be Unknown. So is the result where one would have to guess: shares that are not equal, or numbers that contradict
// each other.
func wholeSize(what coll.Collective, in, out int64, ranks int) int64 {
	switch what {
	case coll.AllGather, coll.Gather:
		return sharedSize(out, in, ranks)
	case coll.ReduceScatter, coll.Scatter:
		return sharedSize(in, out, ranks)
	case coll.Other:
		return Unknown
	}
	switch {
	case out <= 0 || in == out:
		return known(in)
	case in <= 0:
		return known(out)
	}
	return Unknown
}

// sharedSize is the size of what is made of equal shares, from the whole and the share of one rank.
func sharedSize(whole, share int64, ranks int) int64 {
	if share <= 0 || ranks <= 0 {
		return known(whole)
	}
	if share > mostBytes/int64(ranks) || whole > 0 && whole != share*int64(ranks) {
		return Unknown
	}
	return known(share * int64(ranks))
}

// mostBytes is more than any collective moves; a file that tells of more is damaged.
const mostBytes = 1 << 50

func known(bytes int64) int64 {
	if bytes <= 0 || bytes > mostBytes {
		return Unknown
	}
	return bytes
}

// sizeOf is the size of so many elements; Unknown where the number or the type is not known.
func sizeOf(elements int64, bytes int) int64 {
	if elements < 0 || bytes <= 0 || elements > mostBytes/int64(bytes) {
		return Unknown
	}
	return elements * int64(bytes)
}

// torchTypes are torch's types that have other names here, or that coll does not know.
var torchTypes = map[string]struct {
	name  string
	bytes int
}{
	"long": {"int64", 8}, "longint": {"int64", 8}, "byte": {"uint8", 1}, "unsignedchar": {"uint8", 1},
	"signedchar": {"int8", 1},
	"short":      {"int16", 2}, "shortint": {"int16", 2}, "int16": {"int16", 2}, "uint16": {"uint16", 2},
	"bool":          {"bool", 1},
	"float8_e4m3fn": {"float8e4m3", 1}, "float8_e5m2": {"float8e5m2", 1}, "float8_e4m3fnuz": {"float8e4m3fnuz", 1},
	"float8_e5m2fnuz": {"float8e5m2fnuz", 1}, "float8_e8m0fnu": {"float8e8m0fnu", 1},
	"complexhalf": {"complex32", 4}, "complexfloat": {"complex64", 8}, "complexdouble": {"complex128", 16},
	"complex<float>": {"complex64", 8}, "complex<double>": {"complex128", 16},
}

// elementType is a type as torch or C spells it, in our spelling where it has one, and its size in bytes; 0 where
// nobody knows.
func elementType(word string) (name string, bytes int) {
	plain := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(word, "c10::"), " ", ""))
	if t, ok := torchTypes[plain]; ok {
		return t.name, t.bytes
	}
	if t, err := coll.ParseDataType(plain); err == nil {
		return t.String(), t.Size()
	}
	return word, 0
}
