package timeline

import (
	"context"
	"math"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/input"
	"busbar/post/title"
)

// Join compares the training's collectives with a benchmark of the same machine, and updates notices and advice. It
// skips simulated curves unless rehearsed is set, and marks them.
//
// A collective is compared with throughput curves of NCCL and compatible libraries, of its operation, type and number
// of ranks: on the same number of nodes if known; in place first, as frameworks reduce gradients in place; of the
// remaining libraries and settings the fastest. Between two sizes the bus bandwidth is interpolated along the
// logarithm of the size. Curves are not extrapolated.
func (t *Timeline) Join(curves []*analysis.Curve, rehearsed bool) {
	t.Against = nil
	var missing profiles.NotInBenchmark
	for _, c := range inTrainingOf(t) {
		lacks := profiles.MissingCurve{Collective: c.Name, Type: c.Type, Ranks: c.Ranks}
		fit := nearest(c.fitting(curves, rehearsed), nodesOf(t, c.Ranks))
		best, reached := c.fastest(fit)
		if best != nil {
			t.Against = append(t.Against, joinedOf(t, c, best, reached))
			continue
		}
		if len(fit) > 0 {
			ends := fit[0].Points
			lacks.Size, lacks.From = units.RoughBytes(*c.Bytes), units.RoughBytes(ends[0].SizeBytes)
			lacks.To = units.RoughBytes(ends[len(ends)-1].SizeBytes)
		}
		if !slices.Contains(missing.Missing, lacks) {
			missing.Missing = append(missing.Missing, lacks)
		}
	}
	if missing.Missing != nil {
		t.Notes = append(t.Notes, notice.New(missing))
	}
	t.Replay = ReplayOf(t)
	t.Replay.join(t, curves, rehearsed)
	t.review()
}

// JoinFiles joins the curves of results files. The notices concern the files.
func (t *Timeline) JoinFiles(ctx context.Context, paths []string, o result.MergeOptions) ([]notice.Notice, error) {
	files, passed, err := input.Find(paths)
	if err != nil {
		return nil, err
	}
	data, err := result.MergeContext(ctx, files, o)
	if err != nil {
		return nil, err
	}
	c := analysis.NewCollector()
	err = data.Each(func(row result.Row) error {
		c.Add(row)
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	notes := slices.Concat(passed, data.Notes())
	curves := c.Curves()
	if len(curves) == 0 {
		return nil, &result.NothingError{Problems: notes}
	}
	t.Join(curves, o.IncludeRehearsed)
	return notes, nil
}

// inTraining is one kind of collective in the training, with its bus bandwidth.
type inTraining struct {
	Collective
	what  coll.Collective
	of    coll.DataType
	busbw float64 // GB/s
	pure  bool    // its time includes waiting for others

	imbalance coll.Imbalance // of an alltoallv
	division  coll.Division  // of the world into groups that run at once
	backend   string         // of busbar's own step; "": NCCL and compatible libraries
}

// inTrainingOf returns the collectives of known size, type, ranks and operation that run alone in a kernel: from
// matched calls, without waiting, else from one device.
func inTrainingOf(t *Timeline) (all []inTraining) {
	type kind struct {
		what  coll.Collective
		of    coll.DataType
		ranks int
		bytes int64
	}
	seen := map[kind]bool{}
	add := func(c Collective, busbw *float64, pure bool) {
		what, err := coll.ParseCollective(c.Name)
		of, err2 := coll.ParseDataType(c.Type)
		if err != nil || err2 != nil || busbw == nil || c.Parts > 1 {
			return
		}
		if k := (kind{what, of, c.Ranks, *c.Bytes}); !seen[k] {
			seen[k] = true
			all = append(all, inTraining{Collective: c, what: what, of: of, busbw: *busbw, pure: pure,
				backend: t.backend()})
		}
	}
	if t.Across != nil {
		for _, m := range t.Across.Matches {
			add(m.Collective, m.PureBusbw, true)
		}
	}
	for i := range t.Devices {
		for _, c := range t.Devices[i].Collectives {
			add(c, c.BusbwMax, false)
		}
	}
	return all
}

// join adds the times of a benchmark of the same collectives.
func (r *Replay) join(t *Timeline, curves []*analysis.Curve, rehearsed bool) {
	for p := range units.Each(r.Parts) {
		c := inTraining{Collective: Collective{Ranks: p.World, Bytes: &p.SizeBytes}, what: p.Collective, of: p.Type,
			imbalance: p.Imbalance, division: p.Division, backend: t.backend()}
		best, reached := c.fastest(nearest(c.fitting(curves, rehearsed), nodesOf(t, p.World)))
		if best == nil || reached <= 0 {
			continue
		}
		again := float64(p.SizeBytes) * p.Collective.BusFactor(p.World) / (reached * 1e6) // ms
		p.Again = new(again)
		r.Replayed += p.Calls * again
		if !t.NonBlocking() { // else a time is not that of communication
			p.Rest = new(p.Took - again)
			r.Training += p.Calls * p.Took
		}
	}
}

// contents identifies an imbalance: a matrix by its hash, whatever its name.
func contents(i coll.Imbalance) string {
	if word := string(i); strings.HasPrefix(word, "matrix:") {
		return word[strings.LastIndex(word, ":"):]
	}
	return string(i)
}

// fitting returns the curves of NCCL and compatible libraries, or of an own step's backend, that are comparable with a
// collective.
func (c inTraining) fitting(curves []*analysis.Curve, rehearsed bool) []*analysis.Curve {
	return units.Where(curves, func(curve *analysis.Curve) bool {
		library := strings.HasPrefix(curve.Backend, "nccl") || strings.HasPrefix(curve.Backend, "rccl")
		if c.backend != "" {
			library = curve.Backend == c.backend
		}
		_, trusted := curve.Trusted()
		return curve.Collective == c.what && curve.Type == c.of && curve.World == c.Ranks &&
			curve.Mode == coll.Throughput && curve.Groups.Division == c.division && !curve.Groups.Alone &&
			contents(curve.Imbalance) == contents(c.imbalance) && len(curve.Points) > 0 && library &&
			(trusted || curve.Rehearsed && rehearsed)
	})
}

// nearest returns the curves on the same number of nodes, and among them those in place; all if there are none. nodes
// is 0 if unknown.
func nearest(fit []*analysis.Curve, nodes int) []*analysis.Curve {
	for _, near := range []func(*analysis.Curve) bool{
		func(curve *analysis.Curve) bool { return nodes > 0 && curve.Nodes == nodes },
		func(curve *analysis.Curve) bool { return curve.Placement == coll.InPlace },
	} {
		if some := units.Where(fit, near); some != nil {
			fit = some
		}
	}
	return fit
}

// fastest returns the curve with the highest bus bandwidth at a collective's size, in GB/s; nil if none has the size.
// Of groups at once it is the slowest, for which a step waits.
func (c inTraining) fastest(fit []*analysis.Curve) (best *analysis.Curve, reached float64) {
	for _, curve := range fit {
		gb, within := busbwAt(curve, *c.Bytes)
		slower := func(other *analysis.Curve) bool {
			of := other.Condition
			of.Groups.Number = curve.Groups.Number
			at, within := busbwAt(other, *c.Bytes)
			return within && at < gb && other.Groups != curve.Groups && of == curve.Condition && other.Who == curve.Who
		}
		if within && gb > reached && !slices.ContainsFunc(fit, slower) {
			best, reached = curve, gb
		}
	}
	return best, reached
}

// joinedOf compares a collective with a curve.
func joinedOf(t *Timeline, c inTraining, best *analysis.Curve, reached float64) profiles.AgainstBenchmark {
	percent := 100 * c.busbw / reached
	j := profiles.AgainstBenchmark{
		Collective: c.Name, Size: units.RoughBytes(*c.Bytes), Type: c.Type, Ranks: c.Ranks,
		Percent: profiles.Whole(percent), Busbw: units.Bandwidth(c.busbw * 1e9),
		Reached: units.Bandwidth(reached * 1e9), Run: best.Runs[0].ID, Who: best.Who,
		Shape: analysis.ShapeOf(best.Condition).Words(), Placement: title.Placement(best.Placement),
		Waiting: !c.pure, Simulated: best.Rehearsed,
		More: percent > 100,
	}
	if gpu := gpuOf(t.Devices); gpu != "" && best.Device != "" && gpu != best.Device {
		j.Machine = profiles.OtherGPU{Benchmark: best.Device, Training: gpu}
	}
	return j
}

// sameSize is the maximum difference between the logarithms of equal sizes: 3 %.
const sameSize = 0.03

// busbwAt returns a curve's bus bandwidth at a size, in GB/s, interpolated along the logarithm of the size.
func busbwAt(c *analysis.Curve, bytes int64) (gb float64, within bool) {
	for i := range c.Points {
		if math.Abs(math.Log(float64(c.Points[i].SizeBytes)/float64(bytes))) < sameSize {
			return c.BusBW(i) / 1e9, true
		}
	}
	for i := 1; i < len(c.Points); i++ {
		a, b := c.Points[i-1].SizeBytes, c.Points[i].SizeBytes
		if a < bytes && bytes < b {
			f := math.Log(float64(bytes)/float64(a)) / math.Log(float64(b)/float64(a))
			return (c.BusBW(i-1)*(1-f) + c.BusBW(i)*f) / 1e9, true
		}
	}
	return 0, false
}

// gpuOf returns the name of the GPUs; "" if unknown or mixed.
func gpuOf(devices []Device) (name string) {
	for d := range units.Each(devices) {
		if !d.works() || d.GPU == name {
			continue
		}
		if d.GPU == "" || name != "" {
			return ""
		}
		name = d.GPU
	}
	return name
}

// nodesOf returns the number of hosts for a number of ranks; 0 if unknown.
func nodesOf(t *Timeline, ranks int) int {
	hosts, devices := map[string]bool{}, 0
	for d := range units.Each(t.Devices) {
		if d.works() {
			hosts[d.Host] = true
			devices++
		}
	}
	if hosts[""] || devices < ranks || ranks < t.world() {
		return 0
	}
	return len(hosts)
}
