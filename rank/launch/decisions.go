package launch

import (
	"encoding/binary"
	"math"

	"busbar/internal/bench"
)

// Decisions returns the numbers' way through a group, by which its ranks decide together when a case has been measured.
func Decisions(c Comm) bench.Comm { return decisions{c} }

type decisions struct{ comm Comm }

// Max implements bench.Comm.
func (d decisions) Max(x []float64) error { return d.comm.Max(x) }

// Sum implements bench.Comm.
func (d decisions) Sum(x []float64) error { return d.comm.Sum(x) }

// Gather implements bench.Comm.
func (d decisions) Gather(x []float64) ([]float64, error) {
	parts, err := d.comm.Gather(encoded(x), 0)
	if parts == nil {
		return nil, err
	}
	all := make([]float64, 0, len(parts)*len(x))
	for _, p := range parts {
		for at := 0; at < len(p); at += 8 {
			all = append(all, math.Float64frombits(order8.Uint64(p[at:])))
		}
	}
	return all, err
}

// Bcast implements bench.Comm.
func (d decisions) Bcast(x []float64) error {
	b := encoded(x)
	if err := d.comm.Bcast(b, 0); err != nil {
		return err
	}
	for i := range x {
		x[i] = math.Float64frombits(order8.Uint64(b[8*i:]))
	}
	return nil
}

// order8 is how eight bytes are one number; the ranks of a group have one byte order.
var order8 = binary.LittleEndian

func encoded(x []float64) []byte {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = order8.AppendUint64(b, math.Float64bits(v))
	}
	return b
}
