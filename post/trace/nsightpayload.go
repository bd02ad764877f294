package trace

import (
	"encoding/binary"
	"slices"
	"strings"

	"busbar/internal/units"
)

// payload is the payload of an NCCL range. Missing fields are Unknown, comm is 0.
type payload struct {
	comm   uint64 // hash of the communicator, the same on all its ranks
	bytes  int64  // message size as passed to the call
	ranks  int64  // size of the communicator
	rank   int64  // rank in it
	device int64  // CUDA device
	peer   int64
}

// set sets a field by NCCL's name for it.
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

// payloads are the payload schemas by domain and number.
type payloads map[schemaKey][]field

type schemaKey struct{ domain, schema int64 }

// field is a numeric field of a payload.
type field struct {
	name   string
	offset int64
	kind   int64
}

// readPayloadSchemas reads the schemas. Each process registers the same ones under the same numbers.
func (n *nsight) readPayloadSchemas() {
	columns := []string{"domainId", "schemaId", "type", "name", "offset"}
	n.scan("NVTX_PAYLOAD_SCHEMA_ENTRIES", columns, func(r row) {
		key := schemaKey{r.or(0, 0), r.or(1, 0)}
		f := field{name: r.text(3), offset: r.or(4, 0), kind: r.or(2, 0)}
		n.payloads[key] = units.AddOnce(n.payloads[key], f)
	})
}

// headerBytes is the size of a payload's header: domain, 0, schema, 0 (4 bytes each), the payload's size and the total
// size (8 each).
const headerBytes = 32

// read reads a blob of consecutive payloads with headers.
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

// value returns a numeric field; ok is false if it is not a number or out of bounds. NVTX types: int 5, int32 15; 64
// bits: unsigned long (8 and 10), uint64 (18), size_t (22).
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
