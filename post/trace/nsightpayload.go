package trace

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
)

// payload is what a range of NCCL carries. Fields that it does not have are Unknown, comm is 0.
type payload struct {
	comm   uint64 // hash of the communicator, the same on all its ranks
	bytes  int64  // of the message, as the call counts it
	ranks  int64  // of the communicator
	rank   int64  // in it
	device int64  // of CUDA
	peer   int64
}

var noPayload = payload{bytes: Unknown, ranks: Unknown, rank: Unknown, device: Unknown, peer: Unknown}

// set takes a field by the name that NCCL gives it.
func (p *payload) set(name string, v uint64) {
	n := int64(v)
	if n < 0 {
		n = Unknown
	}
	switch strings.ToLower(name) {
	case "nccl communicator id":
		p.comm = v
	case "message size [bytes]":
		p.bytes = n
	case "no. of ranks":
		p.ranks = n
	case "rank":
		p.rank = n
	case "cuda device":
		p.device = n
	case "peer rank":
		p.peer = n
	}
}

// payloads are the layouts of binary payloads, by domain and number.
type payloads map[schemaKey][]field

type schemaKey struct{ domain, schema int64 }

// field is one number of a payload.
type field struct {
	name   string
	offset int64
	kind   int64
}

// readPayloadSchemas reads the layouts. Each process registers its own, alike, under the same numbers.
func (n *nsight) readPayloadSchemas(ctx context.Context) error {
	n.payloads = payloads{}
	return n.db.scan(ctx, "NVTX_PAYLOAD_SCHEMA_ENTRIES", "", []string{"domainId", "schemaId", "type", "name", "offset"},
		func(r row) {
			key := schemaKey{r.or(0, 0), r.or(1, 0)}
			for _, f := range n.payloads[key] {
				if f.name == r.text(3) {
					return
				}
			}
			n.payloads[key] = append(n.payloads[key], field{name: r.text(3), offset: r.or(4, 0), kind: r.or(2, 0)})
		})
}

// headerBytes is what precedes each payload: domain, 0, schema, 0 (4 bytes each), then the size of the payload and that
// of both (8 each).
const headerBytes = 32

// binary adds what a blob says. It holds payloads one after the other, each with its header.
func (all payloads) binary(p *payload, blob []byte) {
	for len(blob) >= headerBytes {
		key := schemaKey{int64(binary.LittleEndian.Uint32(blob)), int64(binary.LittleEndian.Uint32(blob[8:]))}
		size, total := binary.LittleEndian.Uint64(blob[16:]), binary.LittleEndian.Uint64(blob[24:])
		if size > uint64(len(blob)-headerBytes) {
			size = uint64(len(blob) - headerBytes)
		}
		data := blob[headerBytes : headerBytes+size]
		for _, f := range all[key] {
			if v, ok := f.value(data); ok {
				p.set(f.name, v)
			}
		}
		if total <= headerBytes || total > uint64(len(blob)) {
			return
		}
		blob = blob[total:]
	}
}

// Sizes of the integers that a payload may have, by the numbers that NVTX gives them; a negative size is a signed
// number.
var integerBytes = map[int64]int{
	3: -2, 4: 2, 5: -4, 6: 4, 7: -8, 8: 8, 9: -8, 10: 8, // short to unsigned long long
	11: -1, 12: 1, 13: -2, 14: 2, 15: -4, 16: 4, 17: -8, 18: 8, // int8 to uint64
	22: 8, // size_t
}

// value is the number of a field; ok is false where it is none, or lies outside.
func (f field) value(data []byte) (v uint64, ok bool) {
	size := integerBytes[f.kind]
	width := max(size, -size)
	if width == 0 || f.offset < 0 || f.offset > int64(len(data)-width) {
		return 0, false
	}
	at := data[f.offset:]
	switch size {
	case 1:
		return uint64(at[0]), true
	case -1:
		return uint64(int64(int8(at[0]))), true
	case 2:
		return uint64(binary.LittleEndian.Uint16(at)), true
	case -2:
		return uint64(int64(int16(binary.LittleEndian.Uint16(at)))), true
	case 4:
		return uint64(binary.LittleEndian.Uint32(at)), true
	case -4:
		return uint64(int64(int32(binary.LittleEndian.Uint32(at)))), true
	}
	return binary.LittleEndian.Uint64(at), true
}

// decoded adds what the JSON of a payload says: the same fields by the same names.
func (p *payload) decoded(text string) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var fields map[string]any
	if d.Decode(&fields) != nil {
		return
	}
	p.fields(fields, 3)
}

// fields takes an object; the payload may be one that stands in another under a name.
func (p *payload) fields(object map[string]any, depth int) {
	for name, v := range object {
		if inner, ok := v.(map[string]any); ok && depth > 0 {
			p.fields(inner, depth-1)
		}
		if n, ok := wholeNumber(v); ok {
			p.set(name, n)
		}
	}
}

// wholeNumber reads a number of JSON, or one in a string, decimal or 0x….
func wholeNumber(v any) (uint64, bool) {
	var s string
	switch v := v.(type) {
	case json.Number:
		s = v.String()
	case string:
		s = v
	default:
		return 0, false
	}
	if u, err := strconv.ParseUint(s, 0, 64); err == nil {
		return u, true
	}
	i, err := strconv.ParseInt(s, 0, 64)
	return uint64(i), err == nil
}
