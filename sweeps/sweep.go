// Package sweeps turns a sweep from YAML or flags into a plan: the cases to measure, in order.
//
// The built-in sweeps are the *.yaml files of this folder, embedded in the binary. docs/sweeps.md documents them.
package sweeps

import (
	"embed"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/strictyaml"
)

//go:embed *.yaml
var embedded embed.FS

// Sweep defines what to measure, and for how long.
type Sweep struct {
	Name        string // quick, profile, …; the file's name without its suffix; "custom"
	Description string
	Source      string // the YAML text; "" for Default
	Parts       []Part // measured one after another
	Worlds      []int  // world sizes, in order; empty: the whole launch
	World       int    // ranks of the training that is replayed; 0: of none
	Fit         bool   // scale sizes from World to the world measured
	Options
	origins map[string]string // of Worlds and Options; a missing key has its default
}

// Part is one block of a sweep: every combination of its values is a point.
type Part struct {
	Collectives []coll.Collective
	Sizes       Sizes
	Types       []coll.DataType
	Ops         []coll.RedOp // for reducing collectives
	Roots       []int        // for rooted collectives; EveryRoot is every rank
	Placements  []coll.Placement
	Modes       []coll.Mode
	Imbalances  []coll.Imbalance // for alltoallv
	Calls       float64          // per step of the training that is replayed; 0: unknown
	Groups      []coll.Division  // "" is the undivided world
	// Missing keys have their default; either sizes or elements applies.
	origins map[string]string
}

// EveryRoot in a list of roots represents every rank of the world.
const EveryRoot = -1

// Options defines how to measure each case of a sweep.
type Options struct {
	Precision  float64       // target half-width of the median's 95 % confidence interval, relative to the median
	Budget     time.Duration // maximum time of a case
	Iterations int           // operations per case; 0: as many as Precision needs
	Warmup     int           // untimed operations before each case
	Check      int           // rounds of data checks; 0: off
	Aggregate  int           // operations grouped into one
	TimeLimit  time.Duration // of the whole run; 0: none
}

// Default is the sweep "custom", of a command line without a sweep: all_reduce of float32 with sum, out-of-place, in
// throughput mode, from 8 B to 32 MiB by factor 2.
func Default() *Sweep {
	return &Sweep{
		Name: "custom",
		Parts: []Part{{
			Collectives: []coll.Collective{coll.AllReduce},
			Sizes:       Sizes{Begin: 8, End: 32 << 20, Factor: 2},
			Types:       []coll.DataType{coll.Float32},
			Ops:         []coll.RedOp{coll.Sum},
			Roots:       []int{0},
			Placements:  []coll.Placement{coll.OutOfPlace},
			Modes:       []coll.Mode{coll.Throughput},
			Imbalances:  []coll.Imbalance{coll.Even},
			Groups:      []coll.Division{""},
			origins:     map[string]string{},
		}},
		Options: Options{Precision: 0.02, Budget: 10 * time.Second, Warmup: 5, Check: 1, Aggregate: 1},
		origins: map[string]string{},
	}
}

// Has reports whether a part of the sweep has a collective.
func (s *Sweep) Has(c coll.Collective) bool {
	return slices.ContainsFunc(s.Parts, func(p Part) bool { return slices.Contains(p.Collectives, c) })
}

// Read finds a sweep by name or path. It returns the file's name for Parse, and its text.
func Read(nameOrPath string) (file string, text []byte, err error) {
	return strictyaml.Find("sweep", nameOrPath, embedded)
}

// Origins returns the source of each key: "quick.yaml:7", "flag --datatype", or "default". If the parts of a sweep
// differ, the keys are "part 1 sizes", "part 2 sizes", ….
func (s *Sweep) Origins() map[string]string {
	all := map[string]string{}
	for _, k := range runKeys {
		all[k] = originOf(s.origins, k)
	}
	for _, k := range planKeys {
		same := true
		where := make([]string, len(s.Parts))
		for i, p := range s.Parts {
			if (k == "elements") == p.Sizes.Elements || (k != "sizes" && k != "elements") {
				where[i] = originOf(p.origins, k)
			}
			same = same && where[i] == where[0]
		}
		for i, w := range where {
			switch {
			case w == "":
			case same:
				all[k] = w
			default:
				all[fmt.Sprintf("part %d %s", i+1, k)] = w
			}
		}
	}
	return all
}

func originOf(origins map[string]string, key string) string {
	if where, ok := origins[key]; ok {
		return where
	}
	return "default"
}

// clone returns a copy of a part with its own origins; lists are only replaced as a whole.
func (p Part) clone() Part {
	p.origins = maps.Clone(p.origins)
	return p
}

func sweepName(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
}
