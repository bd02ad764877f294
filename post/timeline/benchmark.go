package timeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/input"
	"busbar/post/say"
)

// Join sets the collectives of the training beside a benchmark of the same machine, and says anew what follows from
// everything. Curves of rehearsals are left out unless rehearsed is set, and are called that.
//
// A collective is compared with curves of NCCL and of libraries like it in throughput mode, of its operation, type and
// number of ranks: with those on as many nodes as it ran on where that is known, in place before out of place, as
// frameworks reduce gradients in place; of the libraries and settings left the fastest counts. Between two sizes of a
// curve the bus bandwidth is taken along the logarithm of the size. Nothing is said past the ends of a curve.
func (t *Timeline) Join(curves []*analysis.Curve, rehearsed bool) {
	t.Against = []Joined{}
	j := joining{timeline: t, curves: curves, rehearsed: rehearsed}
	for _, c := range j.kinds() {
		joined, missing := j.join(c)
		switch {
		case missing == nil:
			t.Against = append(t.Against, joined)
		case !slices.ContainsFunc(j.missing.Missing, func(m notice.MissingCurve) bool {
			return reflect.DeepEqual(m, *missing)
		}):
			j.missing.Missing = append(j.missing.Missing, *missing)
		}
	}
	t.Notes = slices.DeleteFunc(t.Notes, func(n Note) bool {
		_, is := n.Fact.(notice.NotInBenchmark)
		return is
	})
	if len(j.missing.Missing) > 0 {
		t.Notes = append(t.Notes, Note{j.missing, -1})
	}
	t.review()
}

// JoinFiles joins the curves of results files. The notices are on the files.
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

// joining is what is joined.
type joining struct {
	timeline  *Timeline
	curves    []*analysis.Curve
	rehearsed bool
	missing   notice.NotInBenchmark
}

// inTraining is one kind of collective of the training, with its bus bandwidth.
type inTraining struct {
	Collective
	what  coll.Collective
	of    coll.DataType
	busbw float64 // GB/s
	time  float64 // ms, that busbw is at
	calls int     // of a rank
	pure  bool    // no waiting for others is in the time
}

// kinds are the kinds of collectives whose size, type, ranks and operation are known, and which ran one to a kernel:
// as matched over ranks, which has no waiting in it, else as one device has them.
func (j *joining) kinds() (all []inTraining) {
	t := j.timeline
	seen := map[string]bool{}
	add := func(c Collective, busbw *float64, ms float64, pure bool) {
		what, err := coll.ParseCollective(c.Name)
		of, err2 := coll.ParseDataType(c.Type)
		key := fmt.Sprint(c.Name, c.Type, c.Ranks, c.Bytes != nil)
		if c.Bytes != nil {
			key += fmt.Sprint(*c.Bytes)
		}
		if err != nil || err2 != nil || busbw == nil || c.Parts > 1 || seen[key] {
			return
		}
		seen[key] = true
		all = append(all, inTraining{c, what, of, *busbw, ms, c.Calls, pure})
	}
	if t.Across != nil {
		for _, m := range t.Across.Matches {
			add(m.Collective, m.PureBusbw, m.Pure, true)
		}
	}
	for i := range t.Devices {
		for _, c := range t.Devices[i].Collectives {
			add(c, c.BusbwMax, c.Least, false)
		}
	}
	return all
}

// join is one kind of collective beside the benchmark; missing is why it cannot be compared.
func (j *joining) join(c inTraining) (joined Joined, missing *notice.MissingCurve) {
	fitting, missing := j.fitting(c)
	if missing != nil {
		return joined, missing
	}
	var best *analysis.Curve
	reached := 0.0
	for _, curve := range fitting {
		if b, within := busbwAt(curve, *c.Bytes); within && b > reached {
			best, reached = curve, b
		}
	}
	if best == nil {
		ends := fitting[0].Points
		j.want(c)
		return joined, &notice.MissingCurve{
			Collective: c.Name, Type: c.Type, Ranks: c.Ranks, Size: units.RoughBytes(*c.Bytes),
			From: units.RoughBytes(ends[0].SizeBytes), To: units.RoughBytes(ends[len(ends)-1].SizeBytes),
		}
	}
	joined = Joined{
		Name: c.Name, Bytes: *c.Bytes, Type: c.Type, Ranks: c.Ranks, Busbw: c.busbw, Reached: reached,
		Percent: 100 * c.busbw / reached,
		Run:     best.Runs[0].ID, Who: best.Who,
	}
	joined.Found = j.found(c, joined, best)
	return joined, nil
}

func (j *joining) found(c inTraining, joined Joined, best *analysis.Curve) notice.AgainstBenchmark {
	f := notice.AgainstBenchmark{
		Collective: c.Name, Size: units.RoughBytes(*c.Bytes), Type: c.Type, Ranks: c.Ranks,
		Percent: notice.Whole(joined.Percent),
		Busbw: units.Bandwidth(
			c.busbw * 1e9,
		), Reached: units.Bandwidth(joined.Reached * 1e9), Run: joined.Run, Who: joined.Who,
		Shape: analysis.ShapeOf(best.Condition).
			Words(),
		Placement: say.Placement(best.Placement), Waiting: notice.LeastTime(!c.pure),
		Simulated: notice.SimulatedRun(best.Rehearsed), More: joined.Percent > 100,
	}
	if gpu := gpuOf(j.timeline.Devices); gpu != "" && best.Device != "" && gpu != best.Device {
		f.Machine = notice.OtherGPU{Benchmark: best.Device, Training: gpu}
	}
	return f
}

// fitting are the curves that a collective can be held against, all of them equally near to it.
func (j *joining) fitting(c inTraining) (fit []*analysis.Curve, missing *notice.MissingCurve) {
	lacks := j.lacking(c)
	for _, curve := range j.curves {
		if !c.isOf(curve) || !ofNCCL(curve) {
			continue
		}
		if curve.World != c.Ranks {
			lacks = notice.MissingCurve{Collective: c.Name, Type: c.Type, Ranks: c.Ranks}
			continue
		}
		if reason, trusted := curve.Trusted(); !trusted && !(curve.Rehearsed && j.rehearsed) {
			lacks = notice.MissingCurve{Collective: c.Name, Type: c.Type, Ranks: c.Ranks, Untrusted: reason}
			continue
		}
		fit = append(fit, curve)
	}
	if fit == nil {
		j.want(c)
		return nil, &lacks
	}
	nodes := j.nodes(c.Ranks)
	distance := func(curve *analysis.Curve) (n int) {
		if nodes > 0 && curve.Nodes != nodes {
			n += 2
		}
		if curve.Placement != coll.InPlace {
			n++
		}
		return n
	}
	slices.SortStableFunc(fit, func(a, b *analysis.Curve) int { return cmp.Compare(distance(a), distance(b)) })
	for n := range fit {
		if distance(fit[n]) != distance(fit[0]) {
			return fit[:n], nil
		}
	}
	return fit, nil
}

// isOf says that a curve is of a collective's operation and type, in the mode that it is compared in.
func (c inTraining) isOf(curve *analysis.Curve) bool {
	return curve.Collective == c.what && curve.Type == c.of && curve.Mode == coll.Throughput && len(curve.Points) > 0
}

// ofNCCL says that a curve is of NCCL or a library like it.
func ofNCCL(curve *analysis.Curve) bool {
	return strings.HasPrefix(curve.Backend, "nccl") || strings.HasPrefix(curve.Backend, "rccl")
}

// lacking is that no curve of NCCL is of a collective's operation and type, and which others are.
func (j *joining) lacking(c inTraining) notice.MissingCurve {
	missing := notice.MissingCurve{Collective: c.Name, Type: c.Type}
	for _, curve := range j.curves {
		if c.isOf(curve) && !ofNCCL(curve) && !slices.Contains(missing.Others, curve.Backend) {
			missing.Others = append(missing.Others, curve.Backend)
		}
	}
	slices.Sort(missing.Others)
	return missing
}

// sameSize is how far the logarithms of two sizes may lie apart to be one: three percent.
const sameSize = 0.03

// busbwAt is the bus bandwidth of a curve at a size, in GB/s: a point's own, or along the logarithm of the size between
// the two nearest.
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

// want notes what would have to be measured.
func (j *joining) want(c inTraining) {
	wanted := notice.Wanted{Collective: c.Name, Type: c.Type, Ranks: c.Ranks}
	if !slices.Contains(j.missing.Measure, wanted) {
		j.missing.Measure = append(j.missing.Measure, wanted)
	}
}

// gpuOf is the name of the GPUs; "" where it is not known, or they differ.
func gpuOf(devices []Device) (name string) {
	for i := range devices {
		d := &devices[i]
		if d.Kernels == 0 || d.GPU == name {
			continue
		}
		if d.GPU == "" || name != "" {
			return ""
		}
		name = d.GPU
	}
	return name
}

// nodes is how many hosts so many ranks ran on; 0 where it is not known.
func (j *joining) nodes(ranks int) int {
	t := j.timeline
	hosts := map[string]bool{}
	files := map[int]bool{}
	devices := 0
	for i := range t.Devices {
		d := &t.Devices[i]
		if d.Kernels == 0 {
			continue
		}
		devices++
		hosts[d.Host] = true
		files[d.File] = true
	}
	if devices < ranks || devices == 0 || ranks < t.world() {
		return 0
	}
	if hosts[""] {
		if len(hosts) == 1 && len(files) == 1 { // one file of several devices is of one host
			return 1
		}
		return 0
	}
	return len(hosts)
}
