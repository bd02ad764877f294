package timeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// healthy is a run without advice: five steps of 100 ms, all but a millisecond of communication hidden, equal ranks,
// known sizes, and a benchmark.
func healthy() *Timeline {
	t := &Timeline{Files: []File{{Path: "a", Format: "kineto"}}}
	for r := range 2 {
		bytes, busbw := int64(25<<20), 180.0
		d := Device{Rank: &r, World: 2, Label: fmt.Sprintf("rank %d", r), Kernels: 100, Parts: Parts{Span: 500,
			Compute: 485, Comm: 100, Overlap: 95, Exposed: 5, Idle: 10, HostBound: 5, Waiting: 5}}
		for s := range 5 {
			d.Steps = append(d.Steps, Step{Name: fmt.Sprint("ProfilerStep#", s), Parts: Parts{Span: 100, Compute: 97,
				Comm: 20, Overlap: 19, Exposed: 1, Idle: 2, HostBound: 1, Waiting: 1}})
		}
		d.Groups = []Group{{Name: "0", Size: 2}}
		d.Collectives = []Collective{{Name: "all_reduce", Group: "0", Ranks: 2, Bytes: &bytes, Type: "float32",
			Calls: 50, Sum: 100, Median: 2, Min: 1.9, Exposed: 5, Busbw: &busbw, BusbwMax: &busbw}}
		happened(&d)
		t.Devices = append(t.Devices, d)
	}
	t.Across = &Across{Matched: 50, Pure: 95, Waiting: 5, waitingInSteps: 5,
		Ranks:     []RankShare{{Device: 0, Compute: 400}, {Device: 1, Compute: 404}},
		Imbalance: []StepSpread{{Name: "ProfilerStep#0", Spread: 1}, {Name: "ProfilerStep#1", Spread: 2, Slowest: 1}}}
	return t
}

// happened adds the calls that a device's rows count, distributed over its steps.
func happened(d *Device) {
	d.seen = nil
	for row := range d.Collectives {
		c := &d.Collectives[row]
		for n := range c.Calls {
			one := seen{end: int64(c.Sum*1e6) / int64(c.Calls), exposed: int64(c.Exposed*1e6) / int64(c.Calls),
				collective: int32(row), step: -1}
			if len(d.Steps) > 0 {
				one.step = int32(n % len(d.Steps))
			}
			d.seen = append(d.seen, one)
		}
	}
}

// each changes all devices and their steps.
func each(t *Timeline, change func(*Device), parts func(*Parts)) {
	for i := range t.Devices {
		d := &t.Devices[i]
		if change != nil {
			change(d)
		}
		if parts != nil {
			for s := range d.Steps {
				parts(&d.Steps[s].Parts)
			}
		}
	}
}

func TestNoAdviceForHealthyRun(t *testing.T) {
	must.SliceEmpty(t, assess(healthy()).advise())
	must.SliceEmpty(t, assess(&Timeline{}).advise())
}

// With enough computation all could be hidden; with too much communication nearly all is hidden.
func TestAdviceModelSize(t *testing.T) {
	for _, parts := range []Parts{
		{Span: 100, Compute: 50, Comm: 50, Exposed: 50},
		{Span: 100, Compute: 20, Comm: 80, Overlap: 79, Exposed: 1, Idle: 79},
	} {
		tl := healthy()
		each(tl, nil, func(p *Parts) { *p = parts })
		for _, a := range assess(tl).advise() {
			must.NotEq(t, notice.CodeOf(profiles.LittleCompute{}), a.Found.Code())
		}
	}
}

// From here on 30 ms of a step of 100 are exposed.
func exposedMuch(p *Parts) { p.Comm, p.Overlap, p.Exposed, p.Idle = 40, 10, 30, 0 }

// factText is a fact as results files keep it.
func factText(t *testing.T, f notice.Fact) string {
	t.Helper()
	text, err := json.Marshal(notice.Kept{Fact: f})
	must.NoError(t, err)
	return string(text)
}

// Each change of a healthy run has the advice of testdata/advice.txt, with its gain in milliseconds.
func TestAdvice(t *testing.T) {
	shared := func(d *Device) { d.Shared = []SharedStream{{ID: 7, Comm: 200, OfComm: 100, OfCompute: 90}} }
	steps := func(parts func(*Parts)) func(*Timeline) { return func(t *Timeline) { each(t, nil, parts) } }
	for name, change := range map[string]func(*Timeline){
		"one stream for both": func(t *Timeline) { each(t, shared, exposedMuch) },
		"gain bounded by what there is to hide behind": func(t *Timeline) {
			each(t, shared, func(p *Parts) { exposedMuch(p); p.Compute = 22 })
		},
		"less to compute than to communicate": steps(func(p *Parts) {
			p.Compute, p.Comm, p.Overlap, p.Exposed = 20, 80, 10, 70
		}),
		"a large last bucket": func(t *Timeline) {
			each(t, func(d *Device) {
				d.Buckets = []Bucket{{Number: 1, Bytes: 8 << 20, Exposed: 1}, {Number: 2, Bytes: 26 << 20, Exposed: 2},
					{Number: 3, Bytes: 30 << 20, Exposed: 20}}
			}, exposedMuch)
		},
		"wide gradients": func(t *Timeline) {
			each(t, func(d *Device) { d.Collectives[0].Exposed = 60 }, nil)
		},
		"bound by the host":             steps(func(p *Parts) { p.Idle, p.HostBound = 16, 15 }),
		"most of all bound by the host": steps(func(p *Parts) { p.Idle, p.HostBound = 5, 3 }),
		"idle without a cause":          steps(func(p *Parts) { p.Idle, p.HostBound, p.Waiting = 60, 20, 30 }),
		"copies":                        steps(func(p *Parts) { p.MemcpyOnly = 12 }),
		"exposed without a cause": func(t *Timeline) {
			each(t, func(d *Device) {
				d.Collectives[0].Exposed = 20
				d.Collectives = append(d.Collectives, Collective{Name: "alltoall", Calls: 10, Sum: 150, Exposed: 130})
			}, exposedMuch)
		},
		"a straggler": func(t *Timeline) {
			t.Across.Straggler = &Straggler{Device: 1, Cost: 5000, costInSteps: 50,
				Found: profiles.Straggler{Rank: "rank 1"}}
		},
		"all late in turn": func(t *Timeline) { t.Across.Waiting, t.Across.waitingInSteps = 6000, 60 },
		"slower than the benchmark": func(t *Timeline) {
			t.Against = []profiles.AgainstBenchmark{{Collective: "all_reduce", Size: 25 << 20, Type: "float32",
				Ranks: 2, Busbw: 50e9, Reached: 200e9, Percent: 25}}
			each(t, nil, exposedMuch)
		},
		"no steps": func(t *Timeline) { each(t, func(d *Device) { d.Steps = nil }, nil) },
	} {
		tl := healthy()
		change(tl)
		each(tl, happened, nil)
		found := assess(tl).advise()
		var got []string
		for _, a := range found {
			got = append(got, fmt.Sprintf("%s %.6g %s", a.Topic, a.Gain, factText(t, a.Found.Fact)))
		}
		golden.Lines(t, "testdata/advice.txt", name, got)
		must.True(t, slices.IsSortedFunc(found, func(a, b Advice) int { return cmp.Compare(b.Gain, a.Gain) }))
	}
}
