package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// fake is a made-up launch on a made-up machine, from which points are drawn.
type fake struct {
	backend, library string
	world, launch    int
	rehearsed        bool
	edit             func(*result.Run)
}

func (f fake) run() *result.Run {
	r := &result.Run{
		Launch: fmt.Sprint("launch", f.launch), Start: time.Date(2026, 3, 1, 12, f.launch, 0, 0, time.UTC),
		Tool:    "busbar 0.1.0",
		Backend: result.Backend{Name: f.backend, Library: f.library}, World: f.world, Nodes: 1, RanksPerNode: f.world,
		Device: "cpu (Example E-1234 @ 2.60GHz)", Machine: result.Machine{Host: "node17"}, Rehearse: f.rehearsed,
		Method: result.Method{Average: "max over ranks"},
	}
	if f.edit != nil {
		f.edit(r)
	}
	return r
}

// sweep is the points of one launch, from 8 bytes to last, by factors of 2.
func (f fake) sweep(
	last int64, collectives []coll.Collective, modes []coll.Mode, placements ...coll.Placement,
) []Point {
	run := f.run()
	rnd := rand.New(rand.NewPCG(uint64(f.launch), uint64(f.world)))
	var points []Point
	for _, c := range collectives {
		for _, placement := range placements {
			for _, mode := range modes {
				for size := int64(8); size <= last; size *= 2 {
					k := coll.Case{Collective: c, Type: coll.Float32, Root: -1, Placement: placement, Mode: mode,
						World: f.world}.WithSize(size)
					if c.Reduces() {
						k.Op = coll.Sum
					}
					if k.Count > 0 {
						points = append(points, Point{Run: run, Case: k, Time: f.time(k, rnd)})
					}
				}
			}
		}
	}
	return points
}

// time follows α + S/β with a dent at the size of a cache, and noise.
func (f fake) time(c coll.Case, rnd *rand.Rand) result.Time {
	size, n := float64(c.SizeBytes), float64(f.world)
	latency := 0.7e-6 * (1 + 0.25*float64(c.Collective%5)) * math.Log2(n+1)
	rate := 6e9 / (1 + 0.2*float64(c.Collective%4)) / (1 + 0.1*n)
	if size > 4<<20 {
		rate *= 0.6
	}
	if c.Mode == coll.Latency {
		latency *= 1.8
	}
	if c.Placement == coll.InPlace {
		rate *= 1.25
	}
	noise := 0.01 + 0.1*math.Exp(-size/4096)
	s := (latency + size*c.Collective.BusFactor(f.world)/rate) * (1 + noise*rnd.NormFloat64()/2)
	return result.Time{Seconds: s, Lo: s * (1 - noise), Hi: s * (1 + noise), Min: s * 0.85, P90: s * 1.3, P99: s * 2.2,
		Max: s * (4 + 10*rnd.Float64())}
}

var both = []coll.Mode{coll.Throughput, coll.Latency}

func quick(world int) []Point {
	return fake{backend: "mpi", library: "Open MPI 4.1.4", world: world}.sweep(16<<20, coll.Collectives(), both,
		coll.OutOfPlace)
}
