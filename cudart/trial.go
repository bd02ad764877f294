//go:build cgo

package cudart

import (
	"errors"
	"fmt"
)

// tryKernels compiles the kernels and tries them against the chunks, on this device. The error is the reason why they
// are not used.
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

const trialByte = 0xA5 // bytes around the filled ones

// trial fills and compares buffers of all alignments that matter: within one word, with parts of words at both ends,
// and so long that every thread takes several words.
func (k *kernels) trial() (err error) {
	pass := k.blocks * blockThreads * wordBytes // bytes that all threads together take at once
	cases := []struct{ offset, bytes, period, first int64 }{
		{0, 4096, 16, 0}, {5, 3, 7, 2}, {9, 40, 1, 0}, {16, 4093, 4093, 4092}, {1, 65535, 8186, 12345},
		{12, pass*5/2 + 1, 4 * 4093, 8},
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
			return fmt.Errorf("in a trial with %d bytes at offset %d and a table of %d: %w", c.bytes, c.offset,
				c.period, err)
		}
	}
	for _, n := range []Near{{1, 2, 0x7E}, {2, 3, 0x7C00}, {4, 5, 0x7F800000}, {8, 2, 0x7FF0000000000000}} {
		if k.room < cycleBytes(nearEntries*n.Bytes) || k.m.chunk%n.Bytes != 0 {
			continue
		}
		if err := k.tryNear(area, n); err != nil {
			return fmt.Errorf("in a trial with floats of %d bytes: %w", n.Bytes, err)
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
		at, err := k.m.differsByChunks(part.p, part.bytes, part.table, part.first, Near{})
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
		at, err := k.differs(p, bytes, table, first, Near{})
		if err = k.m.end(err); err != nil {
			return err
		}
		if at != wrong {
			return fmt.Errorf("the first wrong byte is at offset %d (-1: no byte), the compare kernel reports %d",
				wrong, at)
		}
	}
	return nil
}

const nearEntries = 31 // of the table of floats in a trial

// tryNear compares with the host the kernel's result for elements just inside and just outside the tolerance.
func (k *kernels) tryNear(area Pointer, near Near) error {
	const offset, elements = 8, 1501
	table := make([]byte, nearEntries*near.Bytes)
	entry := func(i int64) uint64 { return uint64(i) % 16 } // small, of both signs
	put := func(b []byte, bits uint64) {
		for i := range near.Bytes {
			b[i] = byte(bits >> (8 * i))
		}
	}
	sign := uint64(1) << (8*near.Bytes - 1)
	for i := range int64(nearEntries) {
		put(table[i*near.Bytes:], entry(i)|uint64(i%2)*sign)
	}
	p, bytes := area+offset, elements*near.Bytes
	if err := k.m.end(k.fill(p, bytes, table, 0)); err != nil {
		return err
	}
	// From the back, so that each element comes before those there are.
	for i, far := range []uint64{0, near.ULPs, near.ULPs + 1, 0, near.ULPs, near.ULPs + 1, near.Greatest + 1} {
		at := int64(elements - 1 - i*211)
		bits := entry(at%nearEntries) + far | uint64(at%nearEntries%2)*sign
		switch {
		case i == 3: // across zero
			bits ^= sign
		case far > near.Greatest:
			bits = far
		}
		one := make([]byte, near.Bytes)
		put(one, bits)
		if err := k.m.end(k.fill(p+Pointer(at*near.Bytes), near.Bytes, one, 0)); err != nil {
			return err
		}
		host, err := k.m.differsByChunks(p, bytes, table, 0, near)
		if err = k.m.end(err); err != nil {
			return err
		}
		found, err := k.differs(p, bytes, table, 0, near)
		if err = k.m.end(err); err != nil {
			return err
		}
		if found != host {
			return fmt.Errorf("the first element outside the tolerance is at offset %d on the host (-1: none), and at "+
				"%d in the kernel", host, found)
		}
	}
	return nil
}
