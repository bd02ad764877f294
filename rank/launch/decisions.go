package launch

import (
	"encoding/binary"
	"slices"

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
	b, err := encoded(x)
	if err != nil {
		return nil, err
	}
	parts, err := d.comm.Gather(b, 0)
	if parts == nil || err != nil {
		return nil, err
	}
	all := make([]float64, len(parts)*len(x))
	_, err = binary.Decode(slices.Concat(parts...), binary.LittleEndian, all)
	return all, err
}

// Bcast implements bench.Comm.
func (d decisions) Bcast(x []float64) error {
	b, err := encoded(x)
	if err != nil {
		return err
	}
	if err := d.comm.Bcast(b, 0); err != nil {
		return err
	}
	_, err = binary.Decode(b, binary.LittleEndian, x)
	return err
}

func encoded(x []float64) ([]byte, error) { return binary.Append(nil, binary.LittleEndian, x) }
