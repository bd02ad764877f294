package analysis

import (
	"cmp"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Ceiling is the peak of busbw: the line rate of the slowest link that a collective uses (docs/analysis.md,
// "Ceilings").
type Ceiling struct {
	BusBW float64 // bytes per second; 0: not known
	// what is possible past BusBW for data that go over that link less often than in a ring; 0: nothing is
	Beyond float64
	By     notice.PeakSaver // what would do that
	Name   string           // in a word or two, for a plot: "NVLink 4"
	Fact   notice.Fact      // what it is; why it is not known
	Source string           // of the value
	Moot   bool             // no peak applies to what was measured, whatever its links are
}

// Known reports whether the peak is known.
func (c Ceiling) Known() bool { return c.BusBW > 0 }

func unknown(why notice.PeakReason, of string) Ceiling {
	return Ceiling{Fact: notice.PeakUnknown{Reason: why, Of: of}}
}

// Figure is the bandwidth alone: "450 GB/s".
func (c Ceiling) Figure() string { return units.LinkRate(c.BusBW).String() }

// Share is a bus bandwidth as a part of the ceiling; 0 where that is not known.
func (c Ceiling) Share(busBW float64) float64 {
	if !c.Known() {
		return 0
	}
	return busBW / c.BusBW
}

func moot(why notice.Fact) Ceiling { return Ceiling{Fact: why, Moot: true} }

// Text is the peak in a sentence: "450 GB/s: NVLink 4, …", "unknown: …; set it with --peak", "none: …".
func (c Ceiling) Text() string {
	switch {
	case c.Moot:
		return "none: " + c.Words()
	case !c.Known():
		return "unknown: " + c.Words()
	}
	return c.Figure() + ": " + c.Words()
}

// Exceeded is what can exceed the peak; nil where nothing can.
func (c Ceiling) Exceeded() notice.Fact {
	if c.Beyond <= c.BusBW {
		return nil
	}
	return notice.PeakExceeded{By: c.By, UpTo: units.LinkRate(c.Beyond)}
}

// Words are the message of the peak with its advice, and what can exceed it.
func (c Ceiling) Words() string {
	text := notice.Message(c.Fact)
	if by := c.Exceeded(); by != nil {
		text += "; " + notice.Message(by)
	}
	if do := notice.Advice(c.Fact); do != "" && !c.Moot {
		text += "; " + do
	}
	return text
}

// Ceilings knows the ceilings of runs. Records are added as they are read; what is asked for then holds for whole runs.
type Ceilings struct {
	given Peaks
	moved map[string]traffic // by run
}

// NewCeilings returns ceilings in which peaks given by the user override recorded ones.
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

// Of is the ceiling of what runs measured alike; where they differ, the lowest that is known. of names collective and
// world.
func (c *Ceilings) Of(runs []*result.Run, of coll.Case) Ceiling {
	var least Ceiling
	for _, run := range runs {
		one := c.of(run, of)
		if least.Fact == nil || one.Known() && (!least.Known() || one.BusBW < least.BusBW) {
			least = one
		}
	}
	return least
}

func (c *Ceilings) of(run *result.Run, of coll.Case) Ceiling {
	nodes, perNode := run.Nodes, run.RanksPerNode
	uneven := of.Uneven()
	if of.Collective == coll.AllToAllV {
		of.Collective = coll.AllToAll
	}
	switch {
	case uneven: // each matrix has another peak
		return moot(notice.NoPeak{Reason: notice.UnevenParts})
	case of.Groups.Divided():
		return moot(notice.NoPeak{Reason: notice.SharedLinks})
	case run.Rehearse:
		return moot(notice.NoPeak{Reason: notice.Simulated})
	case of.Collective == coll.Other || of.World == 0:
		return moot(notice.NoPeak{Reason: notice.UnknownCase})
	case of.World == 1:
		return moot(notice.NoPeak{Reason: notice.OneRank})
	}
	if crowded := run.Crowded(); crowded != nil {
		return moot(crowded)
	}
	if peak, ok := c.given.of(run, of); ok {
		return Ceiling{BusBW: peak.BusBW, Name: "given", Fact: notice.PeakGiven{Text: peak.Text}, Source: "--peak"}
	}
	switch nodes {
	case 0:
		return unknown(notice.UnknownNodes, "")
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
		return unknown(notice.HostMemory, "")
	}
	model, found := modelOf(run.Device)
	links, drawn := gpuLinks(run.Topology)
	switch {
	case drawn && links.none() || found && model.links == 0:
		return overPCIe(run)
	case !found:
		return unknown(notice.UnknownGPU, cmp.Or(run.Device, "not named"))
	case drawn:
		return overNVLink(run, of, model, links)
	}
	return assumeNVLink(run, of, model)
}

// inHostMemory reports whether buffers are in host memory. Files of other tools may not record it.
func inHostMemory(run *result.Run) bool {
	return strings.HasPrefix(run.Device, "cpu") ||
		run.Device == "" && (run.Backend.Name == "mpi" || run.Backend.Name == "gloo")
}
