package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"

	"github.com/shoenig/test"
)

// made is a simulated sweep: times follow t = 20 us + S/(100 GB/s · factor), with constant noise.
type made struct {
	backend, library string
	collective       coll.Collective
	imbalance        coll.Imbalance
	groups           coll.Groups
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
				Imbalance:  m.imbalance,
				Groups:     m.groups,
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

// wobble has mean 0 and variance about 1, and is constant for the same n.
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

// edited is a sound sweep with other records.
func edited(edit func(launch string, r *result.Record), changes ...func(*made)) made {
	m := sound().with(func(m *made) { m.edit = edit })
	for _, change := range changes {
		m = m.with(change)
	}
	return m
}

// inLaunch edits the records of one launch.
func inLaunch(launch int, factor float64) func(string, *result.Record) {
	return func(of string, r *result.Record) {
		if of == fmt.Sprint("launch-", launch) {
			r.Time.Seconds *= factor
		}
	}
}

func inPlace(m *made)   { m.placement = coll.InPlace }
func latency(m *made)   { m.mode = coll.Latency }
func broadcast(m *made) { m.collective = coll.Broadcast }
func imported(m *made)  { m.imported, m.interval = true, false }

func launches(n int) func(*made) { return func(m *made) { m.launches = n } }

func onNodes(world, nodes int, factor float64) func(*made) {
	return func(m *made) { m.world, m.nodes, m.factor = world, nodes, factor }
}

// foundIn returns the findings of sweeps together.
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

// only requires exactly one finding, and returns its parameters.
func only[F notice.Fact](t *testing.T, sweeps ...made) (Finding, F) {
	t.Helper()
	return onlyOf[F](t, foundIn(t, Options{}, sweeps...))
}

func onlyOf[F notice.Fact](t *testing.T, found []Finding) (Finding, F) {
	t.Helper()
	if len(found) == 1 {
		if params, is := found[0].Fact.(F); is {
			return found[0], params
		}
	}
	for _, f := range found {
		t.Logf("%s %s: %s %q", f.Severity, f.Code(), f.Text(), f.Evidence())
	}
	t.Fatalf("%d findings, want one %T", len(found), *new(F))
	panic("unreachable")
}

// oneOfKind requires one finding of a kind among others.
func oneOfKind[F notice.Fact](t *testing.T, found []Finding) (Finding, F) {
	t.Helper()
	return onlyOf[F](t, slices.DeleteFunc(found, func(f Finding) bool { _, is := f.Fact.(F); return !is }))
}

// lacks requires that no finding has a kind.
func lacks(t *testing.T, kind Kind, name string, sweeps ...made) {
	t.Helper()
	for _, f := range foundIn(t, Options{}, sweeps...) {
		if f.Code() == kind {
			t.Errorf("%s: %s", name, f.Text())
		}
	}
}

// closeTo requires that two numbers differ by at most a distance.
func closeTo[T ~float64](got T, want, distance float64) bool {
	return math.Abs(float64(got)-want) <= distance
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		test.StrContains(t, text, p)
	}
}
