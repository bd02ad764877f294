//go:build cgo

package cudart

import (
	"errors"
	"fmt"
)

// tryKernels compiles the kernels and tries them against the chunks, on this device. The error says why they are not
// used.
func (m *Mover) tryKernels() (*kernels, error) {
	k, err := m.loadKernels()
	if err != nil {
		return nil, err
	}
	if err = k.trial(); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

const trialByte = 0xA5 // around what is filled

// trial fills and compares buffers of all alignments that matter: within one word, with parts of words at both ends,
// and so long that every thread takes several words.
func (k *kernels) trial() (err error) {
	pass := k.blocks * blockThreads * wordBytes // bytes that all threads together take at once
	cases := []struct{ offset, bytes, period, first int64 }{
		{0, 4096, 16, 0}, {5, 3, 7, 2}, {9, 40, 1, 0}, {16, 4093, 4093, 4092}, {1, 65535, 8186, 12345}, {12, pass*5/2 + 1, 4 * 4093, 8},
	}
	room := pass*5/2 + 65536
	area, err := k.m.c.Alloc(room)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.m.c.Free(area)) }()
	for _, c := range cases {
		if k.room < cycleBytes(c.period) {
			continue
		}
		if err := k.try(area, room, c.offset, c.bytes, c.period, c.first); err != nil {
			return fmt.Errorf("in a trial with %d bytes at offset %d and a table of %d: %w", c.bytes, c.offset, c.period, err)
		}
	}
	return nil
}

func (k *kernels) try(area Pointer, room, offset, bytes, period, first int64) error {
	table := make([]byte, period)
	for i := range table {
		table[i] = byte(i*37 + i>>8*11)
	}
	p, end := area+Pointer(offset), offset+bytes
	if err := k.m.Set(area, room, trialByte); err != nil {
		return err
	}
	if err := k.m.end(k.fill(p, bytes, table, first)); err != nil {
		return err
	}
	around := []byte{trialByte}
	for _, part := range []struct {
		p     Pointer
		bytes int64
		table []byte
		first int64
	}{{area, offset, around, 0}, {p, bytes, table, first}, {area + Pointer(end), room - end, around, 0}} {
		if part.bytes == 0 {
			continue
		}
		at, err := k.m.differsByChunks(part.p, part.bytes, part.table, part.first)
		if err = k.m.end(err); err != nil {
			return err
		}
		if at >= 0 {
			return fmt.Errorf("the fill kernel left a wrong byte at offset %d", int64(part.p-p)+at)
		}
	}
	// From the back: each wrong byte comes before those there are.
	for _, wrong := range []int64{-1, bytes - 1, bytes / 2, 0} {
		if wrong >= 0 {
			if err := k.m.Set(p+Pointer(wrong), 1, ^table[(first+wrong)%period]); err != nil {
				return err
			}
		}
		at, err := k.differs(p, bytes, table, first)
		if err = k.m.end(err); err != nil {
			return err
		}
		if at != wrong {
			return fmt.Errorf("the first wrong byte is at offset %d (-1: none), the compare kernel says %d", wrong, at)
		}
	}
	return nil
}
