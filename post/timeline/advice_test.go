package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/shoenig/test/must"

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

func TestAdvice(t *testing.T) {
	both := []profiles.StreamOf{{Stream: 7, Device: "rank 0", OfComm: 100}, {Stream: 7, Device: "rank 1", OfComm: 100}}
	for _, c := range []struct {
		name   string
		change func(*Timeline)
		topic  string
		want   notice.Fact
		gain   float64
	}{
		{"one stream for both", func(t *Timeline) {
			each(t, func(d *Device) { d.Shared = []SharedStream{{ID: 7, Comm: 200, OfComm: 100, OfCompute: 90}} },
				exposedMuch)
		}, topicOverlap, profiles.SharedStreams{Streams: both, Share: 1, Exposed: 0.03, Per: "step"}, 30},
		{"gain bounded by what there is to hide behind", func(t *Timeline) {
			each(t, func(d *Device) { d.Shared = []SharedStream{{ID: 7, Comm: 200, OfComm: 100, OfCompute: 90}} },
				func(p *Parts) { exposedMuch(p); p.Compute = 22 })
		}, topicOverlap, profiles.SharedStreams{Streams: both, Share: 1, Exposed: 0.03, Per: "step"}, 12},
		{"less to compute than to communicate", func(t *Timeline) {
			each(t, nil, func(p *Parts) { p.Compute, p.Comm, p.Overlap, p.Exposed = 20, 80, 10, 70 })
		}, topicOverlap, profiles.LittleCompute{Compute: 0.02, Comm: 0.076, Per: "step"}, 70},
		{"a large last bucket", func(t *Timeline) {
			each(t, func(d *Device) {
				d.Buckets = []Bucket{{Number: 1, Bytes: 8 << 20, Exposed: 1}, {Number: 2, Bytes: 26 << 20,
					Exposed: 2}, {Number: 3, Bytes: 30 << 20, Exposed: 20}}
			}, exposedMuch)
		}, topicOverlap, profiles.LastBucket{Exposed: 0.023, Last: 0.02, Bucket: 30 << 20, Median: 26 << 20, Cap: 13},
			20},
		{"wide gradients", func(t *Timeline) {
			each(t, func(d *Device) { d.Collectives[0].Exposed = 60 }, nil)
		}, topicOverlap, profiles.WideGradients{Time: 0.02, Exposed: 0.0114, Per: "step"}, 5.7},
		{"bound by the host", func(t *Timeline) { each(t, nil, func(p *Parts) { p.Idle, p.HostBound = 16, 15 }) },
			topicIdle, profiles.HostBoundStep{Idle: 0.015, Span: 0.1, Per: "step"}, 15},
		{"most of all bound by the host", func(t *Timeline) {
			each(t, nil, func(p *Parts) { p.Idle, p.HostBound = 5, 3 })
		}, topicIdle, profiles.HostBoundStep{Idle: 0.003, Span: 0.1, Per: "step"}, 3},
		{"idle without a cause", func(t *Timeline) {
			each(t, nil, func(p *Parts) { p.Idle, p.HostBound, p.Waiting = 60, 20, 30 })
		}, topicIdle, profiles.UnexplainedIdle{Idle: 0.04, Launched: 0.03, Span: 0.1,
			Per: "step"}, 40},
		{"copies", func(t *Timeline) { each(t, nil, func(p *Parts) { p.MemcpyOnly = 12 }) }, topicCopies,
			profiles.CopiesAlone{Copies: 0.012, Span: 0.1, Per: "step"}, 12},
		{"exposed without a cause", func(t *Timeline) {
			each(t, func(d *Device) {
				d.Collectives[0].Exposed = 20
				d.Collectives = append(d.Collectives, Collective{Name: "alltoall", Calls: 10, Sum: 150, Exposed: 130})
			}, exposedMuch)
		}, topicOverlap, profiles.ExposedCollective{Collective: "alltoall", Exposed: 0.026, Total: 0.03, Per: "step"},
			26},
		{"a straggler", func(t *Timeline) {
			t.Across.Straggler = &Straggler{Device: 1, Cost: 5000, costInSteps: 50,
				Found: profiles.Straggler{Rank: "rank 1"}}
		}, topicBalance, profiles.Straggler{Rank: "rank 1"}, 10},
		{"all late in turn", func(t *Timeline) { t.Across.Waiting, t.Across.waitingInSteps = 6000, 60 }, topicBalance,
			profiles.UnevenRanks{Waiting: 0.012, Per: "step", Spread: 0.02, Step: "ProfilerStep#1"}, 12},
		{"slower than the benchmark", func(t *Timeline) {
			t.Against = []profiles.AgainstBenchmark{{Collective: "all_reduce", Size: 25 << 20, Type: "float32",
				Ranks: 2,
				Busbw: 50e9, Reached: 200e9, Percent: 25}}
			each(t, nil, exposedMuch)
		}, topicTopology, profiles.BelowBenchmark{Collective: "all_reduce", Size: 25 << 20, Share: 0.25, BusBW: 50e9,
			Benchmark: 200e9}, 10 * (25 << 20) / 50e9 * 1e3 * 0.75},
		{"no steps", func(t *Timeline) { each(t, func(d *Device) { d.Steps = nil }, nil) }, topicProfile,
			profiles.NoSteps{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := healthy()
			c.change(tl)
			each(tl, happened, nil)
			found := assess(tl).advise()
			i := slices.IndexFunc(found, func(a Advice) bool {
				return a.Topic == c.topic && a.Found.Code() == notice.CodeOf(c.want)
			})
			must.True(t, i >= 0, must.Sprint(found))
			must.EqOp(t, fmt.Sprintf("%+v", c.want), fmt.Sprintf("%+v", found[i].Found.Fact))
			isNear(t, "the gain", found[i].Gain, c.gain)
			must.True(t, slices.IsSortedFunc(found, func(a, b Advice) int { return cmp.Compare(b.Gain, a.Gain) }))
		})
	}
}
