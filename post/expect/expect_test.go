package expect

import (
	"math"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// without is a table without the rows of one source.
func (all Reference) without(origin string) (rest Reference) {
	for _, r := range all {
		if r.origin() != origin {
			rest = append(rest, r)
		}
	}
	return rest
}

func value(size int64, busBW units.Bandwidth) notice.Value {
	return notice.Value{Size: units.Bytes(size), BusBW: busBW}
}

// TestLeaveOneOut is the test of the rule for verdicts: of the rows with three other sources at least 90 % are within,
// and at least 90 % of halved values are below. docs/expect.md states the coverage.
func TestLeaveOneOut(t *testing.T) {
	all := Published()
	type size struct {
		Shape
		bytes int64
	}
	shapes, covered := map[size]bool{}, 0
	judged, within, below := 0, 0, 0
	for _, r := range all {
		if r.Kind != Measured {
			continue
		}
		if of := (size{r.Shape, r.Size}); !shapes[of] {
			shapes[of] = true
			if all.judge(r.Shape, value(r.Size, r.BusBW)).Verdict != notice.NoReference {
				covered++
			}
		}
		others := all.without(r.origin())
		v := others.judge(r.Shape, value(r.Size, r.BusBW)).Verdict
		if v == notice.NoReference {
			continue
		}
		judged++
		if v == notice.WithinPublished {
			within++
		}
		if others.judge(r.Shape, value(r.Size, r.BusBW/2)).Verdict == notice.BelowPublished {
			below++
		}
	}
	t.Logf("%d of %d shapes and sizes have a verdict; of %d rows %d are within, halved %d below", covered, len(shapes),
		judged, within, below)
	if judged < 30 || 10*within < 9*judged || 10*below < 9*judged {
		t.Errorf("of %d rows %d are within, halved %d below", judged, within, below)
	}
	if covered < 30 {
		t.Errorf("%d shapes have three sources", covered)
	}
}

var h100 = Shape{"H100", 8, 2, "EFA", coll.AllReduce}

// TestComparable changes one property of a shape at a time.
func TestComparable(t *testing.T) {
	for change, want := range map[*Shape]bool{
		{"H100", 8, 2, "EFA", coll.AllReduce}:      true,
		{"H100", 8, 3, "EFA", coll.AllReduce}:      true,
		{"H100", 8, 4, "EFA", coll.AllReduce}:      false,
		{"H100", 8, 1, "EFA", coll.AllReduce}:      false,
		{"H200", 8, 2, "EFA", coll.AllReduce}:      false,
		{"H100", 4, 2, "EFA", coll.AllReduce}:      false,
		{"H100", 8, 2, "RoCE", coll.AllReduce}:     false,
		{"H100", 8, 2, "efa", coll.AllReduce}:      true,
		{"H100", 8, 2, "EFA", coll.AllGather}:      false,
		{"H100 PCIe", 8, 2, "EFA", coll.AllReduce}: false,
	} {
		if h100.Comparable(*change) != want {
			t.Errorf("%v: want %v", change, want)
		}
	}
}

// table is measured values of h100 in GB/s, each of its own source, all of one size.
func table(size int64, busBWs ...float64) (all Reference) {
	for i, v := range busBWs {
		all = append(all, Row{Shape: h100, Size: size, BusBW: units.Bandwidth(v * 1e9), Kind: Measured,
			Source: string(rune('a' + i))})
	}
	return all
}

func TestVerdicts(t *testing.T) {
	const size = 1 << 30
	three := table(size, 400, 420, 440)
	limit := three[0]
	limit.Kind, limit.BusBW, limit.Source = Threshold, 100e9, "limit"
	again := three[0]
	again.BusBW = 100e9 // of the same source, at another size
	again.Size = size / 2
	small := table(size/2, 300, 310, 320)
	other := again // of a fourth source
	other.Source = "d"
	for name, c := range map[string]struct {
		all   Reference
		size  int64
		busBW units.Bandwidth
		want  notice.PublishedVerdict
	}{
		"inside":                   {three, size, 410e9, notice.WithinPublished},
		"15 % under":               {three, size, 341e9, notice.WithinPublished},
		"more under":               {three, size, 339e9, notice.BelowPublished},
		"15 % over":                {three, size, 505e9, notice.WithinPublished},
		"more over":                {three, size, 507e9, notice.AbovePublished},
		"two sources":              {three[:2], size, 410e9, notice.NoReference},
		"a threshold is no source": {append(three[:2:2], limit), size, 410e9, notice.NoReference},
		"nor widens the range":     {append(three[:3:3], limit), size, 200e9, notice.BelowPublished},
		"one source twice":         {append(three[:2:2], again), size, 410e9, notice.NoReference},
		"its nearest size counts":  {append(three[:3:3], again), size, 200e9, notice.BelowPublished},
		"nor another size":         {append(three[:3:3], small[1], other), size, 330e9, notice.BelowPublished},
		"larger than all sources":  {small, size, 310e9, notice.NoReference},
		"sizes of both sides":      {append(small[:2:2], three[2]), size * 3 / 4, 310e9, notice.WithinPublished},
		"sizes too far on both sides": {append(table(3*size, 1), table(size/3, 1, 2, 3)[1:]...), size, 2e9,
			notice.NoReference},
		"more than twice as large":    {three, 2*size + 1, 410e9, notice.NoReference},
		"a power of ten as its power": {three, 1e9, 410e9, notice.WithinPublished},
	} {
		if got := c.all.judge(h100, value(c.size, c.busBW)).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// curve is one of a size that ran on two nodes, a run of each launch.
func curve(device string, ports ...result.Port) *analysis.Curve {
	return changed(func(run *result.Run, _ *result.Record) { run.Device, run.Hardware.Ports = device, ports }, "")
}

func changed(change func(*result.Run, *result.Record), launches ...string) *analysis.Curve {
	c := analysis.NewCollector()
	for i, launch := range launches {
		run := &result.Run{Device: "NVIDIA H100 80GB HBM3", World: 16, Nodes: 2, RanksPerNode: 8, Launch: launch,
			Hardware: &result.Hardware{Ports: []result.Port{{Name: "efa_0/1", Link: "EFA"}}}}
		r := &result.Record{Status: result.OK, Time: &result.Time{Seconds: 0.01 * float64(i+1)}}
		r.Case = coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, World: 16,
			SizeBytes: 1 << 30, Count: 1 << 28, Mode: coll.Throughput, Placement: coll.OutOfPlace}
		change(run, r)
		c.Add(result.Row{Run: run, Record: r})
	}
	return c.Curves()[0]
}

// TestShapeOf changes a run of h100 in which nothing is missing.
func TestShapeOf(t *testing.T) {
	same := func(*result.Run, *result.Record) {}
	cards := func(run *result.Run, r *result.Record) {
		run.Device, run.Nodes, r.World = "NVIDIA A100 80GB PCIe", 1, 8
	}
	two := func(run *result.Run, _ *result.Record) { run.Device += " and 1 other kinds" }
	alone := func(_ *result.Run, r *result.Record) {
		r.Groups.Number, r.Groups.Alone, r.World, r.Nodes, r.RanksPerNode = 2, true, 8, 1, 8
	}
	set := func(name, value, link string) func(*result.Run, *result.Record) {
		return func(run *result.Run, _ *result.Record) {
			run.Environment, run.Hardware.Ports[0].Link = map[string]string{name: value}, link
		}
	}
	for name, c := range map[string]struct {
		change         func(*result.Run, *result.Record)
		stated, logged string
		fabric         string
		want           notice.ReferenceGap
	}{
		"recorded":      {same, "", "", "EFA", ""},
		"log before it": {same, "", "RoCE", "RoCE", ""},
		"stated first":  {same, "TCP", "RoCE", "TCP", ""},
		"8 and 4 ranks": {func(_ *result.Run, r *result.Record) { r.World = 12 }, "", "", "EFA",
			notice.UnrecordedNodes},
		"NCCL_NET":       {set("NCCL_NET", "Socket", "EFA"), "", "", "TCP", ""},
		"without IB":     {set("NCCL_IB_DISABLE", "1", "InfiniBand"), "", "", "TCP", ""},
		"EFA without IB": {set("NCCL_IB_DISABLE", "1", "EFA"), "", "", "EFA", ""},
		"two kinds":      {two, "", "", "EFA", notice.UnnamedGPU},
		"group by group": {alone, "", "", "NVSwitch", ""},
		"cards":          {cards, "", "InfiniBand", "", notice.UnrecordedFabric},
		"cards, stated":  {cards, "PCIe", "InfiniBand", "PCIe", ""},
		"groups at once": {func(_ *result.Run, r *result.Record) { r.Groups.Number = 2 }, "", "", "EFA",
			notice.NoSpeedMeasured},
	} {
		if s, gap := shapeOf(changed(c.change, ""), c.stated, c.logged); gap != c.want || s.Fabric != c.fabric {
			t.Errorf("%s: %v %s, want %s %s", name, s, gap, c.fabric, c.want)
		}
	}
}

// TestOwnValues: three launches that are saved together are three sources.
func TestOwnValues(t *testing.T) {
	three := changed(func(*result.Run, *result.Record) {}, "a", "b", "c")
	own := Reference{}.Judge(three, "", "", analysis.Ceiling{}).Own
	if v := own.judge(h100, value(1<<30, own[0].BusBW)); v.Verdict != notice.WithinPublished ||
		math.Abs(float64(v.Highest()/v.Lowest()-3)) > 1e-9 {
		t.Errorf("%+v", own)
	}
}

// TestJudge: facts and limits of a curve, and what is missing where there is no verdict.
func TestJudge(t *testing.T) {
	efa := result.Port{Name: "efa_0/1", Link: "EFA", Rate: 100}
	const name = "NVIDIA H100 80GB HBM3"
	all := append(table(1<<30, 180, 200, 210), Row{Shape: Shape{GPU: "H100", Fabric: "EFA",
		Collective: coll.AllReduce}, BusBW: 300e9, Kind: Threshold, Source: "limit"})
	a := all.Judge(curve(name, efa), "", "", analysis.Ceiling{BusBW: 402.7e9})
	if is, ok := a.Notice.Fact.(notice.Published); !ok || is.Verdict != notice.WithinPublished || is.Sources != 3 ||
		is.Lowest != 180e9 || len(a.Limits) != 1 || a.Points[0].Peak.String() != "50 %" {
		t.Errorf("%+v", a.Notice)
	}
	if rows := a.Own; len(rows) != 1 || rows[0].Shape != h100 || rows[0].Size != 1<<30 {
		t.Errorf("%+v", rows)
	}
	for want, a := range map[notice.ReferenceGap]Answer{
		notice.UnnamedGPU:       all.Judge(curve("cpu (EPYC)", efa), "", "", analysis.Ceiling{}),
		notice.UnrecordedFabric: all.Judge(curve(name), "", "", analysis.Ceiling{}),
		notice.TooFewSources:    all.Judge(curve(name, efa), "RoCE", "", analysis.Ceiling{}),
	} {
		if got, ok := a.Notice.Fact.(notice.NoPublished); !ok || got.Reason != want || a.Verdict != notice.NoReference {
			t.Errorf("%+v, want %s", a.Notice, want)
		}
	}
	if n := Headline([]*analysis.Curve{curve(name), curve(name, efa)}); n == nil || n.Severity != notice.Warning {
		t.Errorf("%+v", n) // 201 GB/s, where 437 to 442 are published
	}
}

func TestReadRejects(t *testing.T) {
	const heading = "gpu,ranks_per_node,nodes,fabric,collective,size_bytes,busbw_GBps,kind\n"
	for text, want := range map[string]string{
		"":                          "t.csv: the heading",
		"gpu,nodes\nH100,1\n":       "t.csv: the heading is not gpu,ranks_per_node,",
		heading + "# why\nH100,8\n": "t.csv: record on line 3: wrong number of fields",
		heading + "H100,8,1,EFA,all_reduce,1024,fast,measured\n":  `t.csv:2: busbw_GBps: "fast"`,
		heading + "H100,8,,EFA,all_reduce,1024,1,measured\n":      `t.csv:2: nodes: ""`,
		heading + "H100,8,1,EFA,all_reduce,1024,1,guess\n":        `t.csv:2: kind: "guess"`,
		heading + ",8,1,EFA,all_reduce,1024,1,measured\n":         "t.csv:2: gpu or fabric",
		heading + "H100,8,1,EFA,all_rejuce,1024,1,measured\n":     "t.csv:2: ",
		heading + "H100,8,1,EFA,all_reduce,1024,1,\"measured\n\n": "t.csv: record on line 2; parse error",
	} {
		if _, err := read("t.csv", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestPublishedRows: each row has a source that can be followed, and measured ones are of known kinds of GPU.
func TestPublishedRows(t *testing.T) {
	for _, r := range Published() {
		if r.URL == "" || r.Kind == Measured && gpuOf(r.GPU) != r.GPU {
			t.Errorf("%+v", r)
		}
	}
}

func TestGPUNames(t *testing.T) {
	for device, want := range map[string]string{
		"NVIDIA H100 80GB HBM3": "H100", "NVIDIA A100-PCIE-40GB": "A100 PCIe", "NVIDIA H100 NVL": "H100 NVL",
		"A100-SXM4-40GB": "A100", "AMD Instinct MI300X VF": "MI300X", "NVIDIA GH200 480GB": "", "NVIDIA GB200": "GB200",
		"NVIDIA A100-SXM4-40GB MIG 1g.5gb": "", "cpu (AMD EPYC)": "",
	} {
		if got := gpuOf(device); got != want {
			t.Errorf("%s: %q, want %q", device, got, want)
		}
	}
}

func TestFabricInLog(t *testing.T) {
	for line, want := range map[string]string{
		"a:1:2 [0] NCCL INFO Using network AWS Libfabric":                       "EFA",
		"a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE":    "InfiniBand",
		"a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0":    "RoCE",
		"a:1:2 [0] NCCL INFO Using network IB":                                  "",
		"NET/OFI Selected Provider is cxi\nUsing network AWS Libfabric":         "Slingshot",
		"device  0 [0x01] NVIDIA GB200\na:1:2 NET/IB : Using [0]mlx5_0:1/IB":    "",
		"a:1:2 [0] NCCL INFO Using network Socket\nx NCCL INFO NET/FasTrak : 8": "TCPXO",
	} {
		if got := FabricInLog(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
