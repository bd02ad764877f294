package analysis

import (
	"cmp"
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// Ceiling is the bus bandwidth that the slowest link on the way of a collective's data is made for: what busbw is there
// to be compared with (docs/analysis.md, "Ceilings").
type Ceiling struct {
	BusBW  float64 // bytes per second; 0: not known
	Beyond float64 // what is possible past BusBW for data that go over that link less often than in a ring; 0: nothing is
	By     string  // what would do that
	Name   string  // in a word or two, for a picture: "NVLink 4"
	Says   string  // what it is, in a sentence's end; why it is not known
	Source string  // who says so
	Moot   bool    // nothing can be held against what was measured, whatever its links are made for
}

// Known says whether there is a figure.
func (c Ceiling) Known() bool { return c.BusBW > 0 }

func unknown(format string, args ...any) Ceiling { return Ceiling{Says: fmt.Sprintf(format, args...)} }

// Figure is the bandwidth alone: "450 GB/s".
func (c Ceiling) Figure() string { return gigabytes(c.BusBW) }

// Share is a bus bandwidth as a part of the ceiling; 0 where that is not known.
func (c Ceiling) Share(busBW float64) float64 {
	if !c.Known() {
		return 0
	}
	return busBW / c.BusBW
}

func moot(format string, args ...any) Ceiling {
	return Ceiling{Says: fmt.Sprintf(format, args...), Moot: true}
}

// Text is the ceiling in a sentence: "450 GB/s: NVLink 4, …", "not known: …; --peak gives one", "none: …".
func (c Ceiling) Text() string {
	switch {
	case c.Moot:
		return "none: " + c.Words()
	case !c.Known():
		return "not known: " + c.Words()
	}
	return c.Figure() + ": " + c.Words()
}

// Words are what it is and what gets past it, or why there is none and what to do about that.
func (c Ceiling) Words() string {
	switch {
	case !c.Known() && !c.Moot:
		return c.Says + "; --peak gives one"
	case c.Beyond > c.BusBW:
		return fmt.Sprintf("%s; %s gets past it, up to %s", c.Says, c.By, gigabytes(c.Beyond))
	}
	return c.Says
}

// Ceilings knows the ceilings of runs. Records are added as they are read; what is asked for then holds for whole runs.
type Ceilings struct {
	given Peaks
	moved map[string]traffic // by run
}

// NewCeilings takes those that the user gave, which come before what a record tells.
func NewCeilings(given Peaks) *Ceilings {
	return &Ceilings{given: given, moved: map[string]traffic{}}
}

// Add notes which ports a record's data moved on.
func (c *Ceilings) Add(row result.Row) {
	run := row.Run
	if run.Nodes < 2 || len(row.Record.Network) == 0 {
		return
	}
	if c.moved[run.ID] == nil {
		c.moved[run.ID] = traffic{}
	}
	c.moved[run.ID].add(row.Record.Network)
}

// OfCurve is the ceiling of a curve.
func (c *Ceilings) OfCurve(of *Curve) Ceiling { return c.Of(of.Runs, of.Condition.Case) }

// Of is the ceiling of what runs measured alike; where they differ, the lowest that is known. of names collective and world.
func (c *Ceilings) Of(runs []*result.Run, of coll.Case) Ceiling {
	var least Ceiling
	for _, run := range runs {
		one := c.of(run, of)
		if least.Says == "" || one.Known() && (!least.Known() || one.BusBW < least.BusBW) {
			least = one
		}
	}
	return least
}

func (c *Ceilings) of(run *result.Run, of coll.Case) Ceiling {
	nodes, perNode := run.Nodes, run.RanksPerNode
	switch {
	case run.Rehearse:
		return moot("no device was measured")
	case of.Collective == coll.Other || of.World == 0:
		return moot("the source does not tell the collective or the number of ranks")
	case of.World == 1:
		return moot("one rank alone sends nothing over a link")
	}
	if crowded := run.Crowded(); crowded != nil {
		return moot("%s", notice.Message(crowded))
	}
	if peak, ok := c.given.of(run, of); ok {
		return Ceiling{BusBW: peak.BusBW, Name: "given", Says: "given as --peak " + peak.Text, Source: "--peak"}
	}
	switch nodes {
	case 0:
		return unknown("the source does not tell on how many nodes the ranks were")
	case 1:
		return inside(run, of)
	}
	between := c.between(run, of, nodes, perNode)
	if within := inside(run, of); perNode > 1 && within.Known() && between.Known() && within.BusBW < between.BusBW {
		return within
	}
	return between
}

// inside is the ceiling of the links between the ranks of one node.
func inside(run *result.Run, of coll.Case) Ceiling {
	if inHostMemory(run) {
		return unknown("ranks of one node meet in its memory, whose bandwidth is not in the record")
	}
	model, found := modelOf(run.Device)
	links, drawn := gpuLinks(run.Topology)
	switch {
	case drawn && links.none() || found && model.links == 0:
		return overPCIe(run)
	case !found:
		return unknown("%s is no GPU whose links are known here", orNoDevice(run.Device))
	case drawn:
		return overNVLink(run, of, model, links)
	}
	return assumeNVLink(run, of, model)
}

// inHostMemory says whether buffers lie in host memory: another tool's file may tell neither.
func inHostMemory(run *result.Run) bool {
	return strings.HasPrefix(run.Device, "cpu") || run.Device == "" && (run.Backend.Name == "mpi" || run.Backend.Name == "gloo")
}

func orNoDevice(device string) string {
	return cmp.Or(device, "a device that the source does not name")
}

// gigabytes writes bytes per second as people quote a link: "450 GB/s", "31.5 GB/s".
func gigabytes(bytesPerSecond float64) string {
	if v := bytesPerSecond / 1e9; v < 999.5 {
		return fmt.Sprintf("%.3g GB/s", v)
	}
	return fmt.Sprintf("%.0f GB/s", bytesPerSecond/1e9)
}
