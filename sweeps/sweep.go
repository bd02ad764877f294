// Package sweeps turns a sweep, written in YAML or by flags, into a plan: the cases to measure, in order.
//
// The sweeps that come with the tool are the *.yaml files of this folder, embedded in the binary. The package knows no
// backend and measures nothing; docs/sweeps.md is its manual.
package sweeps

import (
	"embed"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/strictyaml"
)

//go:embed *.yaml
var embedded embed.FS

// Sweep is what to measure and how long to take over it.
type Sweep struct {
	Name        string // quick, profile, …; the file's name without its suffix; "default"
	Description string
	Source      string // the YAML text as read; empty for Default
	Parts       []Part // measured one after another
	Worlds      []int  // sub-worlds in ranks, in the order listed; empty: the whole launch
	Options
	origins map[string]string // of Worlds and Options; a key that is missing has its default
}

// Part is one block of a sweep: every combination of what it lists is a point.
type Part struct {
	Collectives []coll.Collective
	Sizes       Sizes
	Types       []coll.DataType
	Ops         []coll.RedOp // used by the collectives that reduce
	Roots       []int        // used by the rooted collectives; EveryRoot is every rank
	Placements  []coll.Placement
	Modes       []coll.Mode
	// a key that is missing has its default; of sizes and elements, the one in force counts
	origins map[string]string
}

// EveryRoot in a list of roots stands for every rank of the world.
const EveryRoot = -1

// Options is how each case of a sweep is measured.
type Options struct {
	Precision  float64       // wanted half width of the median's 95 % interval, relative to the median
	Budget     time.Duration // the longest that one case may take
	Iterations int           // operations a case; 0: as many as Precision needs
	Warmup     int           // untimed operations before each case
	Check      int           // rounds of checking the data; 0: off
	Aggregate  int           // operations issued together
	TimeLimit  time.Duration // of the whole run; 0: none
}

// Default is the sweep that flags change when no sweep is named: all_reduce of float32 with sum, out of place, in
// throughput mode, from 8 B to 32 MiB doubling.
func Default() *Sweep {
	return &Sweep{
		Name: "default",
		Parts: []Part{{
			Collectives: []coll.Collective{coll.AllReduce},
			Sizes:       Sizes{Begin: 8, End: 32 << 20, Factor: 2},
			Types:       []coll.DataType{coll.Float32},
			Ops:         []coll.RedOp{coll.Sum},
			Roots:       []int{0},
			Placements:  []coll.Placement{coll.OutOfPlace},
			Modes:       []coll.Mode{coll.Throughput},
			origins:     map[string]string{},
		}},
		Options: Options{Precision: 0.02, Budget: 10 * time.Second, Warmup: 5, Check: 1, Aggregate: 1},
		origins: map[string]string{},
	}
}

// Names lists the sweeps that come with the tool, in alphabetical order.
func Names() []string { return strictyaml.Names(embedded) }

// Read finds a sweep by its name or by its path, and returns the name of the file, as Parse needs it, and its text.
func Read(nameOrPath string) (file string, text []byte, err error) {
	return strictyaml.Find("sweep", nameOrPath, embedded)
}

// Origins says for each key where its value came from: "quick.yaml:7", "flag --datatype", or "default". Where parts of
// a sweep differ, the keys are "part 1 sizes", "part 2 sizes", ….
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

// clone is a part whose origins can be changed; lists are replaced as a whole, never changed in place.
func (p Part) clone() Part {
	p.origins = maps.Clone(p.origins)
	return p
}

func sweepName(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
}
