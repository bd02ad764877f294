package timeline

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// noisyJob is a run of four ranks whose steps take about 12 ms. Its noise is what a diff assumes: computing and
// communication of two runs differ by 0.5 % (standard deviation), those of steps by 1 %, with correlation 0.5.
func noisyJob(r *rand.Rand, steps int) job {
	offset, noise := 1+0.005*r.NormFloat64(), map[int]float64{}
	work := func(rank, _, call int) int64 {
		if call == 0 {
			noise[rank] = 0.5*noise[rank] + math.Sqrt(0.75)*r.NormFloat64()
		}
		return int64(2.5 * float64(msec) * offset * (1 + 0.01*noise[rank]))
	}
	return job{ranks: 4, steps: steps, sizes: mib(1, 2, 3, 4), work: work,
		pure: int64(0.5 * float64(msec) * (1 + 0.005*r.NormFloat64()))}
}

// spent moves time of each step from computing to another part.
func spent(devices []Device, ms float64, part func(*Parts) *float64) {
	for _, d := range devices {
		for i := range d.Steps {
			p := &d.Steps[i].Parts
			p.Compute -= ms
			*part(p) += ms
		}
	}
}

func worksLonger(j job, by int64, only int) job {
	work := j.work
	j.work = func(rank, step, call int) int64 {
		w := work(rank, step, call)
		if call == 1 && (only < 0 || rank == only) {
			w += by
		}
		return w
	}
	return j
}

func diffOfDevices(t *testing.T, before, after []Device) *Diff {
	t.Helper()
	d, err := diffOf([2]string{"a", "b"}, [2]*Timeline{compared(before...), compared(after...)})
	must.NoError(t, err)
	return d
}

func headline(d *Diff) profiles.StepChange { return d.Notes[0].Fact.(profiles.StepChange) }

// The injected cause comes first, and two runs of the same step have no finding, each in at least 95 % of trials.
func TestDiffFindsCause(t *testing.T) {
	const trials, longer = 200, 800 * us
	all := func(j job) []Device { return worksLonger(j, longer, -1).ranksOf() }
	for name, c := range map[string]struct {
		steps  int
		inject func(job) []Device
		part   profiles.TimePart // WholeStep: none
		rank   string
	}{
		"nothing, 4 steps":  {4, job.ranksOf, profiles.WholeStep, ""},
		"nothing, 10 steps": {10, job.ranksOf, profiles.WholeStep, ""},
		"nothing, 40 steps": {40, job.ranksOf, profiles.WholeStep, ""},
		"computing":         {10, all, profiles.Computing, ""},
		"communication": {10, func(j job) []Device {
			j.pure += longer / 4
			return j.ranksOf()
		}, profiles.PureExposed, ""},
		"a late rank": {10, func(j job) []Device {
			devices := worksLonger(j, longer, 2).ranksOf()
			spent(devices[2:3], milliseconds(longer), func(p *Parts) *float64 { return &p.HostBound })
			return devices
		}, profiles.WaitingForRanks, "rank 2"},
		"copies": {10, func(j job) []Device {
			devices := all(j)
			spent(devices, milliseconds(longer), func(p *Parts) *float64 { return &p.MemcpyOnly })
			return devices
		}, profiles.Copying, ""},
		"the hosts": {10, func(j job) []Device {
			devices := all(j)
			spent(devices, milliseconds(longer), func(p *Parts) *float64 { return &p.HostBound })
			return devices
		}, profiles.HostBoundIdle, ""},
	} {
		wrong := 0
		for seed := range uint64(trials) {
			r := rand.New(rand.NewPCG(seed, 26))
			d := diffOfDevices(t, noisyJob(r, c.steps).ranksOf(), c.inject(noisyJob(r, c.steps+2)))
			f := headline(d)
			late := c.rank == "" || len(f.LateParts) > 0 && f.LateParts[0].Part == profiles.HostBoundIdle
			switch {
			case c.part == profiles.WholeStep && bool(f.Same):
			case f.Change <= 0 || len(f.Parts) == 0 || f.Parts[0].Part != c.part || f.Parts[0].Rank != c.rank || !late:
				if wrong++; c.rank != "" {
					t.Logf("%+v", f)
				}
			}
		}
		must.LessEq(t, trials/20, wrong, must.Sprint(name))
	}
}

// The parts add up to the step, and the kernel that became longer accounts for the change.
func TestDiffOperators(t *testing.T) {
	side := func(ms int64, name string) []Device {
		devices := worksLonger(job{ranks: 2, steps: 6, sizes: mib(1), pure: msec, work: late}, ms*msec, -1).ranksOf()
		for i := range devices {
			d := &devices[i]
			d.operators = []operator{{Name: "gemm", Steps: make([]int64, 7)}, {Name: name, Steps: make([]int64, 7)}}
			for n := range d.Steps {
				d.Steps[n].Compute += float64(ms)
				d.Steps[n].Span += float64(ms)
				d.operators[0].Steps[n+1], d.operators[1].Steps[n+1] = (4+ms)*msec, msec
			}
		}
		return devices
	}
	d := diffOfDevices(t, side(0, "adam"), side(3, "fused_adam"))
	f := headline(d)
	must.True(t, near(float64(f.Change), 3e-3) && near(float64(f.Interval.Lo), 3e-3))
	must.True(t, len(f.Parts) == 1 && f.Parts[0].Part == profiles.Computing && d.Notes[0].Severity == notice.Warning)
	sum := 0.0
	for _, p := range d.Parts[1:8] {
		sum += p.After
	}
	isNear(t, "the parts", sum, 9)
	must.Len(t, 3, d.Operators)
	must.True(t, d.Operators[0].Operator == "gemm" && d.Operators[0].Change == 3 && d.Operators[0].Significant)
	must.True(t, d.Operators[1].Operator == "adam" && d.Operators[2].Operator == "fused_adam")
}

// Without steps there is no interval, and with partial steps these are left out.
func TestDiffOfFewSteps(t *testing.T) {
	whole := job{ranks: 2, steps: 6, sizes: mib(1), pure: msec, work: late}
	short := whole
	short.noSteps = true
	d := diffOfDevices(t, short.ranksOf(), short.ranksOf())
	f := headline(d)
	must.True(t, bool(f.Same) && !f.Interval.Known && d.Per == perRecording && d.Parts[0].Lo == nil)
	partial := whole.ranksOf()
	partial[1].Steps[0].Partial = &profiles.PartialStep{}
	partial[0].Steps[0].Span = 1000
	d = diffOfDevices(t, whole.ranksOf(), partial)
	must.True(t, d.Before.Steps == 6 && d.After.Steps == 5 && bool(headline(d).Same))
}

// Runs of different steps are a wrong call, which names what differs.
func TestDiffOfDifferentSteps(t *testing.T) {
	base := job{ranks: 2, steps: 4, sizes: mib(1, 2), pure: msec, work: late}
	for text, change := range map[string]func(*job){
		"a has ranks 0, 1, b has 0, 1, 2":                 func(j *job) { j.ranks = 3 },
		"all_reduce 3 MiB x2: 0 per step before, 1 after": func(j *job) { j.sizes = mib(1, 2, 3) },
		"a has 4 whole steps, b has 0":                    func(j *job) { j.noSteps = true },
	} {
		other := base
		change(&other)
		_, err := diffOf([2]string{"a", "b"}, [2]*Timeline{compared(base.ranksOf()...), compared(other.ranksOf()...)})
		must.True(t, errors.Is(err, ErrDifferent) && strings.Contains(err.Error(), text), must.Sprint(err))
	}
}
