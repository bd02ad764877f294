package trace

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
)

// wholeSize returns S as nccl-tests counts it, from the input and output bytes of one rank; each may be Unknown. The
// result is Unknown if shares are unequal or the numbers are contradictory.
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

// sharedSize returns the size of data with equal shares, from the total and one rank's share.
func sharedSize(whole, share int64, ranks int) int64 {
	if share <= 0 || ranks <= 0 {
		return known(whole)
	}
	if share > mostBytes/int64(ranks) || whole > 0 && whole != share*int64(ranks) {
		return Unknown
	}
	return known(share * int64(ranks))
}

// mostBytes exceeds any real collective; a file with more is damaged.
const mostBytes = 1 << 50

func known(bytes int64) int64 {
	if bytes <= 0 || bytes > mostBytes {
		return Unknown
	}
	return bytes
}

// sizeOf returns the size of count elements; Unknown if the count or the type is unknown.
func sizeOf(elements int64, bytes int) int64 {
	if elements < 0 || bytes <= 0 || elements > mostBytes/int64(bytes) {
		return Unknown
	}
	return elements * int64(bytes)
}

// torchTypes are torch's types that coll names differently or lacks.
var torchTypes = func() map[string]torchType {
	all := map[string]torchType{}
	for line := range strings.Lines(torchTypesText) {
		var word string
		var t torchType
		_, _ = fmt.Sscan(line, &word, &t.name, &t.bytes) // a test reads all
		all[word] = t
	}
	return all
}()

type torchType struct {
	name  string
	bytes int
}

// torchTypesText has torch's name, our name and the size in bytes.
const torchTypesText = `long int64 8
longint int64 8
byte uint8 1
unsignedchar uint8 1
signedchar int8 1
short int16 2
shortint int16 2
int16 int16 2
uint16 uint16 2
bool bool 1
float8_e4m3fn float8e4m3 1
float8_e5m2 float8e5m2 1
float8_e4m3fnuz float8e4m3fnuz 1
float8_e5m2fnuz float8e5m2fnuz 1
float8_e8m0fnu float8e8m0fnu 1
complexhalf complex32 4
complexfloat complex64 8
complexdouble complex128 16
complex<float> complex64 8
complex<double> complex128 16`

// elementType returns our name, if any, for a type of torch or C, and its size in bytes; 0 if unknown.
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
