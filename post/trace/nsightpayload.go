package trace

import (
	"encoding/binary"
	"slices"
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

// set sets a field by the name that NCCL gives it.
func (p *payload) set(name string, v uint64) {
	if name = strings.ToLower(name); name == "nccl communicator id" {
		p.comm = v
		return
	}
	numbers := map[string]*int64{"message size [bytes]": &p.bytes, "no. of ranks": &p.ranks, "rank": &p.rank,
		"cuda device": &p.device, "peer rank": &p.peer}
	if n := numbers[name]; n != nil {
		*n = max(Unknown, int64(v))
	}
}

// payloads are the layouts of payloads, by domain and number.
type payloads map[schemaKey][]field

type schemaKey struct{ domain, schema int64 }

// field is one number of a payload.
type field struct {
	name   string
	offset int64
	kind   int64
}

// readPayloadSchemas reads the layouts. Each process registers its own, alike, under the same numbers.
func (n *nsight) readPayloadSchemas() {
	columns := []string{"domainId", "schemaId", "type", "name", "offset"}
	n.scan("NVTX_PAYLOAD_SCHEMA_ENTRIES", columns, func(r row) {
		key := schemaKey{r.or(0, 0), r.or(1, 0)}
		f := field{name: r.text(3), offset: r.or(4, 0), kind: r.or(2, 0)}
		if !slices.Contains(n.payloads[key], f) {
			n.payloads[key] = append(n.payloads[key], f)
		}
	})
}

// headerBytes is what precedes each payload: domain, 0, schema, 0 (4 bytes each), then the size of the payload and that
// of both (8 each).
const headerBytes = 32

// read reads a blob. It holds payloads one after the other, each with its header.
func (all payloads) read(blob []byte) payload {
	p := payload{bytes: Unknown, ranks: Unknown, rank: Unknown, device: Unknown, peer: Unknown}
	for len(blob) >= headerBytes {
		key := schemaKey{int64(binary.LittleEndian.Uint32(blob)), int64(binary.LittleEndian.Uint32(blob[8:]))}
		total := binary.LittleEndian.Uint64(blob[24:])
		if total <= headerBytes || total > uint64(len(blob)) {
			break
		}
		for _, f := range all[key] {
			if v, ok := f.value(blob[headerBytes:total]); ok {
				p.set(f.name, v)
			}
		}
		blob = blob[total:]
	}
	return p
}

// value is the number of a field; ok is false where it is none, or lies outside. NVTX numbers an int 5 and an int32 15;
// what is 64 bits wide is an unsigned long (8 and 10), a uint64 (18) or a size_t (22).
func (f field) value(data []byte) (v uint64, ok bool) {
	if f.offset < 0 || f.offset > int64(len(data)) {
		return 0, false
	}
	data = data[f.offset:]
	switch wide := slices.Contains([]int64{8, 10, 18, 22}, f.kind); {
	case wide && len(data) >= 8:
		return binary.LittleEndian.Uint64(data), true
	case (f.kind == 5 || f.kind == 15) && len(data) >= 4:
		return uint64(int64(int32(binary.LittleEndian.Uint32(data)))), true
	}
	return 0, false
}
