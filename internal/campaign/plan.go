// Package campaign plans many launches that are to be compared: which there are, in which order, and which of them the
// results files on the disk do not hold yet.
//
// A plan is a YAML file (docs/campaigns.md); the state of a campaign is its results files and nothing else. The package
// starts nothing and knows no queue.
package campaign

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Plan is a campaign's plan: Launches blocks for each number of nodes, and in each block every variant once.
type Plan struct {
	Name         string
	Description  string
	Launches     int   // of each variant on each number of nodes
	Nodes        []int // increasing
	RanksPerNode int   // 0: as the job script decides
	Seed         uint64
	Flags        []string // of rank, for every variant
	Axes         []Axis
	Steps        int // launches of a job at most; 0: a whole block
	Sbatch       Sbatch
	Source       []byte // the YAML text as read
}

// Axis is one thing that is varied.
type Axis struct {
	Name   string
	Levels []Level
}

// Level is one value of an axis, with its settings.
type Level struct {
	Name        string
	Flags       []string // of rank
	Environment []Setting
}

// Setting is one variable of the environment.
type Setting struct{ Name, Value string }

func (s Setting) String() string { return s.Name + "=" + s.Value }

// Sbatch is what jobs ask of Slurm.
type Sbatch struct {
	Time     string // as Slurm reads it
	Throttle int    // jobs of one number of nodes at a time
	Options  []string
	Report   []string // options of the job that reports, in the place of Options; nil: none were given
}

// Variant is one combination of levels, one of each axis. That of a plan without axes has no name.
type Variant struct {
	Name        string // "2.27+ring"
	Flags       []string
	Environment []Setting
}

// join separates the names of the levels of a variant.
const join = "+"

// maxVariants limits a plan. Axes multiply: a dozen of them would use all memory before their cost could be reported.
const maxVariants = 10_000

// variants is how many there are, or more than maxVariants.
func (p *Plan) variants() int {
	n := 1
	for _, a := range p.Axes {
		if n *= len(a.Levels); n > maxVariants {
			break
		}
	}
	return n
}

// Variants are all combinations of levels; the last axis changes first.
func (p *Plan) Variants() []Variant {
	all := []Variant{{}}
	for _, axis := range p.Axes {
		var longer []Variant
		for _, v := range all {
			for _, l := range axis.Levels {
				longer = append(longer, v.with(l))
			}
		}
		all = longer
	}
	return all
}

func (v Variant) with(l Level) Variant {
	w := Variant{Name: l.Name}
	if v.Name != "" {
		w.Name = v.Name + join + l.Name
	}
	w.Flags = append(append(w.Flags, v.Flags...), l.Flags...)
	w.Environment = append(append(w.Environment, v.Environment...), l.Environment...)
	return w
}

// Title is the variant's name for people.
func (v Variant) Title() string {
	if v.Name == "" {
		return "(no variants)"
	}
	return v.Name
}

// Launch is one launch of the plan: one variant on so many nodes, in one block.
type Launch struct {
	Nodes, Number int // Number from 1
	Variant       Variant
}

// Block names the launches that are taken in turn in one allocation.
func Block(nodes, number int) string { return fmt.Sprintf("nodes%d/launch%d", nodes, number) }

// Block is the launch's own.
func (l Launch) Block() string { return Block(l.Nodes, l.Number) }

// Dir is the folder of the launch's results in the campaign's.
func (l Launch) Dir(campaign string) string {
	return filepath.Join(campaign, filepath.FromSlash(l.Block()), l.Variant.Name)
}

func (l Launch) String() string { return strings.TrimSuffix(l.Block()+"/"+l.Variant.Name, "/") }

// All are the launches of the plan, by nodes, number and variant.
func (p *Plan) All() (launches []Launch) {
	for _, nodes := range p.Nodes {
		for number := range p.Launches {
			for _, v := range p.Variants() {
				launches = append(launches, Launch{nodes, number + 1, v})
			}
		}
	}
	return launches
}
