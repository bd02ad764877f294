package timeline

import (
	"fmt"
	"path/filepath"
	"strings"

	"busbar/internal/units"
	"busbar/post/trace"
)

// ownPoints are the points of which there are traces of busbar's own steps, in the order in which they were met.
type ownPoints struct {
	keys []string
	all  map[string]*ownPoint
}

type ownPoint struct {
	folder, step string
}

// add takes a file; one that a profiler wrote is of no point.
func (p *ownPoints) add(f *trace.File) {
	if f.Own == nil {
		return
	}
	key := fmt.Sprintf("%s %d", f.Own.Run, f.Own.Point)
	if p.all[key] != nil {
		return
	}
	if p.all == nil {
		p.all = map[string]*ownPoint{}
	}
	p.keys = append(p.keys, key)
	p.all[key] = &ownPoint{folder: filepath.Dir(f.Path), step: f.Own.Model + ", " + f.Own.Step}
}

// one is the error of several points: a timeline is of one job, and each point is a job of its own.
func (p *ownPoints) one() error {
	if len(p.keys) < 2 {
		return nil
	}
	var b strings.Builder
	for i, key := range p.keys {
		if i == mostListed {
			fmt.Fprintf(&b, "\n  and %d more", len(p.keys)-i)
			break
		}
		b.WriteString("\n  " + p.all[key].folder + "   " + p.all[key].step)
	}
	return fmt.Errorf("these are traces of %s of rank --step, and a timeline is of one: name its folder%s",
		units.Count(len(p.keys), "point"), b.String())
}
