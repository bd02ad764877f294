package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// made is a sweep that was never measured: times follow t = 20 us + S/(100 GB/s · factor), with noise that is always
// the same.
type made struct {
	backend, library string
	collective       coll.Collective
	placement        coll.Placement
	mode             coll.Mode
	world, nodes     int
	launches         int
	factor           float64 // of the bandwidth
	noise            float64 // standard deviation of the logarithm
	interval         bool
	imported         bool
	crowded          bool
	rehearsed        bool
	environment      map[string]string
	command          []string
	edit             func(launch string, r *result.Record)
}

func sound() made {
	return made{
		backend:    "nccl",
		library:    "NCCL 2.27",
		collective: coll.AllReduce,
		placement:  coll.OutOfPlace,
		mode:       coll.Throughput,
		world:      16,
		nodes:      2,
		launches:   1,
		factor:     1,
		noise:      0.01,
		interval:   true,
	}
}

func (m made) with(change func(*made)) made { change(&m); return m }

// fill adds 28 sizes, from 8 B to 1 GiB.
func (m made) fill(c *Collector) {
	for l := range m.launches {
		run := &result.Run{
			ID:           fmt.Sprint(m.backend, m.world, l),
			Launch:       fmt.Sprint("launch-", l),
			Backend:      result.Backend{Name: m.backend, Library: m.library},
			World:        m.world,
			Nodes:        m.nodes,
			RanksPerNode: m.world / m.nodes,
			Environment:  m.environment,
			Command:      m.command,
			Rehearse:     m.rehearsed,
		}
		if m.imported {
			run.Imported = &result.Source{Tool: "nccl-tests 2.13"}
		}
		if m.crowded {
			run.Warnings = notice.Of(notice.FromText("oversubscribed: 16 ranks on 2 cores: times are those of waiting"))
		}
		for k := 3; k <= 30; k++ {
			at := coll.Case{
				Collective: m.collective,
				Type:       coll.Float32,
				Op:         coll.Sum,
				Root:       -1,
				Placement:  m.placement,
				Mode:       m.mode,
				World:      m.world,
			}.WithSize(
				1 << k,
			)
			if at.Count == 0 {
				continue
			}
			seconds := 20e-6 + float64(at.SizeBytes)/(100e9*m.factor)
			seconds *= math.Exp(m.noise * wobble(k+31*l+7*int(m.placement)))
			r := &result.Record{Case: at, Status: result.OK, Time: &result.Time{Seconds: seconds}}
			if m.edit != nil {
				m.edit(run.Launch, r)
			}
			if m.interval {
				r.Time.Lo, r.Time.Hi = r.Time.Seconds*(1-m.noise), r.Time.Seconds*(1+m.noise)
			}
			c.Add(result.Row{Run: run, Record: r})
		}
	}
}

// wobble is of mean 0 and variance 1 or so, and the same for the same n.
func wobble(n int) float64 {
	x := math.Sin(float64(n)*12.9898) * 43758.5453
	return (x - math.Floor(x) - 0.5) * math.Sqrt(12)
}

// slower makes some sizes take longer by a factor.
func slower(from, to int64, factor float64) func(string, *result.Record) {
	return func(_ string, r *result.Record) {
		if r.SizeBytes >= from && r.SizeBytes <= to {
			r.Time.Seconds *= factor
		}
	}
}

// foundIn is what is found in sweeps together.
func foundIn(t *testing.T, o Options, sweeps ...made) []Finding {
	t.Helper()
	c := NewCollector()
	for _, m := range sweeps {
		m.fill(c)
	}
	found, left := Find(c.Curves(), o)
	if left > 0 {
		t.Fatalf("%d findings left out", left)
	}
	for i, f := range found {
		if f.Number != i+1 || f.From > f.To || strings.Contains(f.Text()+fmt.Sprint(f.Evidence()), "%!") {
			t.Errorf("%+v", f)
		}
	}
	return found
}

// only wants one finding and no other.
func only(t *testing.T, found []Finding, kind Kind) Finding {
	t.Helper()
	if len(found) != 1 || found[0].Code() != kind {
		for _, f := range found {
			t.Logf("%s %s: %s %q", f.Severity, f.Code(), f.Text(), f.Evidence())
		}
		t.Fatalf("%d findings, want one of kind %s", len(found), kind)
	}
	return found[0]
}

// fact is the parameters of a finding.
func fact[F notice.Fact](t *testing.T, f Finding) (params F) {
	t.Helper()
	params, is := f.Fact.(F)
	if !is {
		t.Fatalf("%T, want %T", f.Fact, params)
	}
	return params
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q lacks %q", text, p)
		}
	}
}
