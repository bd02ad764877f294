package result

import (
	"slices"
	"strings"

	"busbar/internal/step"
)

// standingTexts are what the column best has.
var standingTexts = map[step.Verdict]string{
	step.Best: "best", step.Smallest: "least median", step.NoDifference: "no difference", step.Slower: "slower",
	step.TooFewRounds: "too few rounds",
}

// cells are the columns of steps.csv; docs/file-format.md describes them.
func (r *StepRow) cells(c cells) cells {
	run, record, p := &r.File.Run, r.Record, r.Record.Point
	c.head(run)
	c.text("block", run.Block)
	c.int("world", int64(run.World), 0)
	c.int("nodes", int64(run.Nodes), 0)
	c.int("ranks_per_node", int64(run.RanksPerNode), 0)
	c.text("device", run.Device)
	c.text("model", run.Step.Model)
	c.text("computing", run.Step.Computing)
	c.text("strategy", p.Strategy.String())
	c.text("bucket", p.Bucket.String())
	c.text("type", p.Type.String())
	c.text("compression", p.Compression)
	c.text("progress", p.Progress.String())
	var bytes int64
	for _, op := range record.Ops {
		bytes += op.Bytes
	}
	c.int("ops", int64(len(record.Ops)), 1)
	c.int("bytes", bytes, 1)

	f := &step.Figures{}
	if record.Timed() {
		f = record.Figures
	}
	timed := record.Timed()
	bounds := timed && f.HasIntervals()
	c.int("rounds", int64(f.Rounds), 1)
	c.time("compute", &f.Compute, timed, bounds)
	c.time("comm", &f.Comm, timed, bounds)
	c.time("sequential", &f.Sequential, timed, bounds)
	c.time("overlapped", &f.Overlapped, timed, bounds)
	c.figure("exposed", "_s", &f.Exposed, timed, bounds)
	c.figure("overlap", "", f.Overlap, timed, bounds)
	c.figure("overlap_intervals", "", f.ByInterval, timed, bounds)
	c.figure("overlap_bound", "", f.Bound, timed, bounds)
	c.figure("compute_slowdown", "", f.SlowerComp, timed, bounds)
	c.figure("comm_slowdown", "", f.SlowerComm, timed, bounds)
	c.figure("speed_up", "", f.SpeedUp, timed, bounds)
	c.figure("weak_scaling", "", f.Efficiency, timed, bounds)

	verdict := r.Standing.Verdict
	compared := verdict == step.NoDifference || verdict == step.Slower
	c.text("best", standingTexts[verdict])
	c.figure("slower", "", &r.Standing.Slower, compared || verdict == step.TooFewRounds, compared)
	c.text("stop", record.Stop)
	c.text("check", record.Check.Result)
	c.text("status", string(record.Status))
	c.text("reason", record.Reason)
	c.text("notes", strings.Join(record.Notes, "; "))
	c.text("warnings", slices.Concat(run.Warnings, record.Warnings).String())
	c.text("rehearsed", ifAny(run.Rehearse, func() string { return "true" }))
	return c
}

// figure adds a value and the bounds of its confidence interval, which are empty where rounds are too few.
func (c *cells) figure(name, unit string, f *step.Figure, known, bounds bool) {
	v, there := orZero(f), f != nil
	c.float(name+unit, v.Value, there && known)
	c.float(name+"_lo"+unit, v.Lo, there && bounds)
	c.float(name+"_hi"+unit, v.Hi, there && bounds)
}

// time adds the time of a mode.
func (c *cells) time(name string, t *step.Time, known, bounds bool) {
	c.figure(name, "_s", &t.Figure, known, bounds)
	c.float(name+"_min_s", t.Min, t.Min != 0)
	c.float(name+"_p99_s", t.P99, t.P99 != 0)
	c.float(name+"_max_s", t.Max, t.Max != 0)
}
