package bench

import "bytes"

// Memory is a stretch of a backend's memory, on the host or on a device, that is filled and looked at between batches.
// An error is the library's own: the memory cannot be reached.
type Memory interface {
	// Len is its size in bytes.
	Len() int64
	// Set makes every byte b.
	Set(b byte) error
	// Fill writes the table over and over, from its byte first on.
	Fill(table []byte, first int64) error
	// Differs is the offset of the first byte in [from, to) that differs from the table, repeated from its byte first
	// on. With near, it is the offset of the first element that is not near the table's. It is -1 without a difference.
	Differs(from, to int64, table []byte, first int64, near Near) (int64, error)
	// Read copies the bytes from offset at on into dst.
	Read(at int64, dst []byte) error
	// Way is how it is filled and compared.
	Way() Way
}

// Near is how far floats may differ from a table's. The zero value compares bit for bit; otherwise all offsets and
// lengths are whole elements.
type Near struct {
	Bytes    int64  // of an element
	ULPs     uint64 // units in the last place
	Greatest uint64 // bits of the maximum; larger ones, without the sign, are infinity and NaN
}

// Way is how memory is filled and compared.
type Way int

// The ways.
const (
	InPlace Way = iota // by the program, where it lies
	Kernels            // by kernels on the device
	Pinned             // piece by piece through pinned memory of the host
	ways
)

func (w Way) String() string { return [ways]string{"in place", "kernels", "pinned host memory"}[w] }

// Host is Memory that the program reaches directly. It never fails.
type Host []byte

// Len implements Memory.
func (h Host) Len() int64 { return int64(len(h)) }

// Set implements Memory.
func (h Host) Set(b byte) error {
	if len(h) == 0 {
		return nil
	}
	h[0] = b
	for n := 1; n < len(h); n *= 2 {
		copy(h[n:], h[:n])
	}
	return nil
}

// Fill implements Memory.
func (h Host) Fill(table []byte, first int64) error {
	for len(h) > 0 {
		n := copy(h, table[first:])
		h, first = h[n:], 0
	}
	return nil
}

// Differs implements Memory.
func (h Host) Differs(from, to int64, table []byte, first int64, near Near) (int64, error) {
	for at := from; at < to; first = 0 {
		want := table[first:]
		got := h[at:min(to, at+int64(len(want)))]
		if want = want[:len(got)]; !bytes.Equal(got, want) {
			if i := firstFar(got, want, near); i >= 0 {
				return at + int64(i), nil
			}
		}
		at += int64(len(got))
	}
	return -1, nil
}

// Way implements Memory.
func (h Host) Way() Way { return InPlace }

// Read implements Memory.
func (h Host) Read(at int64, dst []byte) error {
	copy(dst, h[at:])
	return nil
}
