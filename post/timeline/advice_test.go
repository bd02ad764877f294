package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
)

// healthy is a run in which nothing calls for advice: five steps of 100 ms, communication hidden but for a millisecond, ranks alike, sizes known, and a benchmark.
func healthy() *Timeline {
	t := &Timeline{Files: []File{{Path: "a", Format: "kineto"}}}
	for r := range 2 {
		bytes, busbw := int64(25<<20), 180.0
		d := Device{Rank: &r, World: 2, Label: fmt.Sprintf("rank %d", r), Kernels: 100, Busy: 400, Parts: Parts{Span: 500, Compute: 400, Comm: 100, Overlap: 95, Exposed: 5, Idle: 95, HostBound: 20, Waiting: 75}}
		for s := range 5 {
			d.Steps = append(d.Steps, Step{Name: fmt.Sprint("ProfilerStep#", s), Parts: Parts{Span: 100, Compute: 80, Comm: 20, Overlap: 19, Exposed: 1, Idle: 19, HostBound: 4, Waiting: 15}})
		}
		d.Groups = []Group{{Name: "0", Size: 2}}
		d.Collectives = []Collective{{Name: "all_reduce", Group: "0", Ranks: 2, Bytes: &bytes, Type: "float32", Calls: 50, Sum: 100, Median: 2, Least: 1.9, Exposed: 5, Busbw: &busbw, BusbwMax: &busbw}}
		happened(&d)
		t.Devices = append(t.Devices, d)
	}
	t.Across = &Across{Matched: 50, Pure: 95, Waiting: 5, waitingInSteps: 5, Ranks: []RankShare{{Device: 0, Compute: 400}, {Device: 1, Compute: 404}},
		Imbalance: []StepSpread{{Name: "ProfilerStep#0", Spread: 1}, {Name: "ProfilerStep#1", Spread: 2, Slowest: 1}}}
	return t
}

// happened gives a device the calls that its rows count, one after the other in each of its steps in turn.
func happened(d *Device) {
	d.seen = nil
	for row := range d.Collectives {
		c := &d.Collectives[row]
		for n := range c.Calls {
			one := seen{end: int64(c.Sum*1e6) / int64(c.Calls), exposed: int64(c.Exposed*1e6) / int64(c.Calls), collective: int32(row), step: -1}
			if len(d.Steps) > 0 {
				one.step = int32(n % len(d.Steps))
			}
			d.seen = append(d.seen, one)
		}
	}
}

// each changes all devices, and their steps alike.
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

func TestNoAdviceWithoutAReason(t *testing.T) {
	if found := healthy().advise(); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found := (&Timeline{}).advise(); found == nil || len(found) > 0 {
		t.Errorf("of nothing: %#v", found)
	}
}

// What is exposed could be hidden where there is enough to compute.
func TestAModelIsNotCalledSmallThatIsNot(t *testing.T) {
	for _, parts := range []Parts{
		{Span: 100, Compute: 50, Comm: 50, Exposed: 50},
		{Span: 100, Compute: 20, Comm: 80, Overlap: 79, Exposed: 1, Idle: 79}, // and of what there is too much nearly all is hidden
	} {
		tl := healthy()
		each(tl, nil, func(p *Parts) { *p = parts })
		for _, a := range tl.advise() {
			if strings.Contains(a.Says, "larger batch") {
				t.Errorf("%+v", a)
			}
		}
	}
}

// What is not hidden is 30 ms of a step of 100 from here on.
func exposedMuch(p *Parts) { p.Comm, p.Overlap, p.Exposed, p.Idle = 40, 10, 30, 0 }

func TestAdvice(t *testing.T) {
	small := int64(4 << 10)
	for _, c := range []struct {
		name   string
		change func(*Timeline)
		topic  string
		says   string
		why    string
		gain   float64
	}{
		{"one stream for both", func(t *Timeline) {
			each(t, func(d *Device) { d.Shared = []SharedStream{{ID: 7, Comm: 200, OfComm: 100, OfCompute: 90}} }, exposedMuch)
		}, topicOverlap, "async_op=True", "100 % of communication runs on stream 7", 30},
		{"gain bounded by what there is to hide behind", func(t *Timeline) {
			each(t, func(d *Device) { d.Shared = []SharedStream{{ID: 7, Comm: 200, OfComm: 100, OfCompute: 90}} }, func(p *Parts) { exposedMuch(p); p.Compute = 22 })
		}, topicOverlap, "async_op=True", "stream 7", 12},
		{"less to compute than to communicate", func(t *Timeline) {
			each(t, nil, func(p *Parts) { p.Compute, p.Comm, p.Overlap, p.Exposed = 20, 80, 10, 70 })
		}, topicOverlap, "larger batch", "computes 20.00 ms and communicates 76.00 ms, waiting for others aside", 70},
		{"one bucket for all", func(t *Timeline) {
			each(t, func(d *Device) { d.Buckets = []Bucket{{Number: 1, Bytes: 100 << 20, Exposed: 25}} }, exposedMuch)
		}, topicOverlap, "bucket_cap_mb=25", "all gradients, 100 MiB, are one bucket", 25},
		{"a large last bucket", func(t *Timeline) {
			each(t, func(d *Device) {
				d.Buckets = []Bucket{{Number: 1, Bytes: 8 << 20, Exposed: 1}, {Number: 2, Bytes: 26 << 20, Exposed: 2}, {Number: 3, Bytes: 30 << 20, Exposed: 20}}
			}, exposedMuch)
		}, topicOverlap, "bucket_cap_mb=13", "20.00 ms are of the last, of 30 MiB", 20},
		{"many small buckets", func(t *Timeline) {
			each(t, func(d *Device) { d.Buckets = slices.Repeat([]Bucket{{Bytes: 100 << 10, Exposed: 2}}, 12) }, exposedMuch)
		}, topicOverlap, "buckets larger", "12 buckets of 100 KiB", 24},
		{"many small calls", func(t *Timeline) {
			each(t, func(d *Device) {
				d.Collectives = append(d.Collectives, Collective{Name: "all_gather", Type: "int64", Bytes: &small, Calls: 100, Sum: 40, Exposed: 40})
			}, nil)
		}, topicOverlap, "Bring small collectives together", "20 collectives under 64 KiB a step take 7.600 ms", 7.6},
		{"wide gradients", func(t *Timeline) {
			each(t, func(d *Device) { d.Collectives[0].Exposed = 60 }, nil)
		}, topicOverlap, "bf16_compress_hook", "of which 11.40 ms are not hidden, waiting for others aside", 5.7},
		{"bound by the host", func(t *Timeline) { each(t, nil, func(p *Parts) { p.HostBound = 15 }) }, topicOverlap, ".item()", "for 15.00 ms of a step of 100.0 ms", 15},
		{"late: its host", func(t *Timeline) {
			t.Across.Straggler = &Straggler{Device: 1, Cost: 5000, costInSteps: 50, Found: stragglerBy(notice.HostBound)}
		}, topicBalance, "how rank 1 gets its data", "others wait 10.00 ms a step", 10},
		{"late: its work", func(t *Timeline) {
			t.Across.Straggler = &Straggler{Device: 1, Cost: 5000, costInSteps: 50, Found: stragglerBy(notice.SlowCompute)}
		}, topicBalance, "nvidia-smi -q -d PERFORMANCE", "it computes longer: 40.00 ms, other ranks 1.000 ms (median)", 10},
		{"late: its copies", func(t *Timeline) {
			t.Across.Straggler = &Straggler{Device: 1, Cost: 5000, costInSteps: 50, Found: stragglerBy(notice.SlowCopies)}
		}, topicBalance, "pinned memory", "its copies take longer", 10},
		{"late: nobody knows", func(t *Timeline) {
			t.Across.Straggler = &Straggler{Device: 1, Cost: 5000, costInSteps: 50, Found: notice.Straggler{Rank: "rank 1"}}
		}, topicBalance, "rank --preflight", "Cause unknown", 10},
		{"all late in turn", func(t *Timeline) { t.Across.Waiting, t.Across.waitingInSteps = 6000, 60 }, topicBalance, "which of them is late changes, or cannot be told", "waits 12.00 ms a step for others, and no rank is the last more often than chance may have it; computation differs by up to 2.0 % in a step (ProfilerStep#1)", 12},
		{"slower than the benchmark", func(t *Timeline) {
			t.Against = []Joined{{Name: "all_reduce", Bytes: 25 << 20, Type: "float32", Ranks: 2, Busbw: 50, Reached: 200, Percent: 25}}
			each(t, nil, exposedMuch)
		}, topicTopology, "nvidia-smi topo -m", "ran at 25 % of it, 50.00 instead of 200.0 GB/s", 10 * (25 << 20) / 50e9 * 1e3 * 0.75},
		{"no benchmark to hold it against", func(t *Timeline) { each(t, nil, exposedMuch) }, topicTopology, "rank --backend nccl --collective all_reduce -d float32 -b 1M -e 32M -f 2 --placement in with 2 ranks", "reaches 180.0 GB/s", 0},
		{"a call of a minute", func(t *Timeline) { t.Devices[1].Collectives[0].Sum, t.Devices[1].Collectives[0].Calls = 60e3, 1 }, topicTimeOuts, "There is no NCCL_TIMEOUT", "a call on rank 1 took 60.00 s", 0},
		{"no sizes, of PyTorch", func(t *Timeline) { each(t, func(d *Device) { d.Collectives[0].Bytes = nil }, nil) }, topicProfile, "record_shapes=True", "100 % of the time", 0},
		{"no sizes, of Nsight", func(t *Timeline) {
			t.Files[0].Format = "nsight"
			each(t, func(d *Device) { d.Collectives[0].Bytes = nil }, nil)
		}, topicProfile, "--include-blobs=true", "100 % of the time", 0},
		{"no steps", func(t *Timeline) { each(t, func(d *Device) { d.Steps = nil }, nil) }, topicProfile, "--step-pattern", "whole recording", 0},
		{"few steps", func(t *Timeline) { each(t, func(d *Device) { d.Steps = d.Steps[:2] }, nil) }, topicProfile, "schedule(wait=1", "there are 2", 0},
		{"ranks that were not read", func(t *Timeline) { each(t, func(d *Device) { d.World = 8 }, nil) }, topicProfile, "Record all ranks", "2 of 8 ranks were read", 0},
		{"one rank", func(t *Timeline) { t.Devices, t.Across = t.Devices[:1], nil; t.Devices[0].World = 0 }, topicProfile, "Record all ranks", "one rank alone", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := healthy()
			c.change(tl)
			each(tl, happened, nil)
			found := tl.advise()
			i := slices.IndexFunc(found, func(a Advice) bool {
				return a.Topic == c.topic && strings.Contains(a.Says, c.says) && strings.Contains(a.Why, c.why)
			})
			if i < 0 {
				t.Fatalf("it advises %+v", found)
			}
			isNear(t, "the gain", found[i].Gain, c.gain)
			for n := range found[1:] {
				if found[n].Gain < found[n+1].Gain {
					t.Errorf("the gain of %q stands before %q", found[n].Says, found[n+1].Says)
				}
			}
		})
	}
}

// The rank that waits for others is the one with the longest times, and no measure of a link.
func TestABandwidthWithoutABenchmarkIsThePureOne(t *testing.T) {
	why := func(t *Timeline) string {
		each(t, nil, exposedMuch)
		for _, a := range t.advise() {
			if a.Topic == topicTopology {
				return a.Why
			}
		}
		return ""
	}
	tl := healthy()
	slow, fast, pure := 100.0, 150.0, 170.0
	tl.Devices[0].Collectives[0].BusbwMax, tl.Devices[0].Collectives[0].Sum = &slow, 200
	tl.Devices[1].Collectives[0].BusbwMax = &fast
	if got, want := why(tl), "all_reduce 25 MiB reaches 150.0 GB/s of bus bandwidth at its fastest, and no benchmark says how much is possible"; got != want {
		t.Errorf("not matched: %q, want %q", got, want)
	}
	tl.Across.Matches = []Matched{{Collective: tl.Devices[0].Collectives[0], PureBusbw: &pure}}
	if got, want := why(tl), "all_reduce 25 MiB reaches 170.0 GB/s of bus bandwidth without the waiting for others, and no benchmark says how much is possible"; got != want {
		t.Errorf("matched: %q, want %q", got, want)
	}
}

func stragglerBy(cause notice.Cause) notice.Straggler {
	return notice.Straggler{Rank: "rank 1", Causes: notice.StragglerCauses{{Cause: cause, Own: 0.04, Others: 0.001}}}
}
