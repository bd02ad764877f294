package gloo

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// addressBlock is what one rank tells all others: an entry for each of them, of which each looks at its own.
type addressBlock struct {
	rank, size, each int
	entries          []byte // size times each bytes
}

// blockMagic starts every block; its number changes with the format.
var blockMagic = []byte("busbar gloo 1\x00\x00\x00")

func (b addressBlock) bytes() []byte {
	out := bytes.Clone(blockMagic)
	for _, n := range []int{b.rank, b.size, b.each} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	return append(out, b.entries...)
}

func parseBlock(data []byte) (addressBlock, error) {
	rest, ok := bytes.CutPrefix(data, blockMagic)
	if !ok || len(rest) < 12 {
		return addressBlock{}, fmt.Errorf("%d bytes that are no address of Gloo's: do all ranks run the same version "+
			"of busbar?", len(data))
	}
	number := func(i int) int { return int(binary.LittleEndian.Uint32(rest[4*i:])) }
	b := addressBlock{rank: number(0), size: number(1), each: number(2), entries: rest[12:]}
	if len(b.entries) != b.size*b.each {
		return b, fmt.Errorf("%d bytes of addresses, where %d ranks of %d bytes are announced", len(b.entries), b.size,
			b.each)
	}
	return b, nil
}

// entriesFor takes from every rank's block the entry that is meant for this one, in the order of the ranks.
func entriesFor(rank, size, each int, all [][]byte) ([]byte, error) {
	if len(all) != size {
		return nil, fmt.Errorf("gloo: the addresses of %d ranks, where there are %d", len(all), size)
	}
	var mine []byte
	for i, data := range all {
		b, err := parseBlock(data)
		if err == nil && (b.rank != i || b.size != size || b.each != each) {
			err = fmt.Errorf("it is that of rank %d of %d, with %d bytes for each, where %d of %d with %d was expected",
				b.rank, b.size, b.each, i, size, each)
		}
		if err != nil {
			return nil, fmt.Errorf("gloo: the address of rank %d: %w", i, err)
		}
		mine = append(mine, b.entries[rank*each:(rank+1)*each]...)
	}
	return mine, nil
}
