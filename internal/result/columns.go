package result

import (
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
)

// column is one column of the merged table. Its text is empty where there is nothing to say.
type column struct {
	name   string
	number bool
	text   func(b []byte, run *Run, r *Record) []byte // appends to b
}

// known is a whole number that is 0 only where nothing is known.
func known(name string, f func(run *Run, r *Record) int64) column {
	return least(name, 1, f)
}

// least is a whole number, empty where it is smaller.
func least(name string, smallest int64, f func(run *Run, r *Record) int64) column {
	return column{name, true, func(b []byte, run *Run, r *Record) []byte {
		if n := f(run, r); n >= smallest {
			return strconv.AppendInt(b, n, 10)
		}
		return b
	}}
}

func word(name string, f func(run *Run, r *Record) string) column {
	return column{name, false, func(b []byte, run *Run, r *Record) []byte { return append(b, f(run, r)...) }}
}

func whole(name string, f func(run *Run, r *Record) int64) column {
	return column{name, true, func(b []byte, run *Run, r *Record) []byte { return strconv.AppendInt(b, f(run, r), 10) }}
}

// figure is a column of measured numbers, empty where nothing was measured, and where some is true also at 0.
func figure(name string, some bool, f func(r *Record, t *Time) float64) column {
	return column{name, true, func(b []byte, _ *Run, r *Record) []byte {
		if r.Time == nil {
			return b
		}
		x := f(r, r.Time)
		if x == 0 && some {
			return b
		}
		return strconv.AppendFloat(b, x, 'g', -1, 64)
	}}
}

// perRank is a column of what is known of ranks.
func perRank(name string, number bool, f func(b []byte, r *Ranks) []byte) column {
	return column{name, number, func(b []byte, _ *Run, r *Record) []byte {
		if r.Ranks == nil || r.Time == nil {
			return b
		}
		return f(b, r.Ranks)
	}}
}

// columns are those of merged.csv and merged.jsonl; docs/file-format.md describes them.
var columns = []column{
	word("run", func(run *Run, _ *Record) string { return run.ID }),
	word("campaign", func(run *Run, _ *Record) string { return run.Campaign }),
	word("launch", func(run *Run, _ *Record) string { return run.Launch }),
	word("backend", func(run *Run, _ *Record) string { return run.Backend.Name }),
	word("library", func(run *Run, _ *Record) string { return run.Backend.Title() }),
	word("variant", func(run *Run, _ *Record) string { return run.Variant }),
	known("world", func(_ *Run, r *Record) int64 { return int64(r.World) }),
	known("nodes", func(run *Run, r *Record) int64 { return int64(r.nodes(run)) }),
	known("ranks_per_node", func(run *Run, r *Record) int64 { return int64(r.ranksPerNode(run)) }),
	word("device", func(run *Run, _ *Record) string { return run.Device }),
	word("collective", func(_ *Run, r *Record) string { return r.Collective.String() }),
	word("type", func(_ *Run, r *Record) string { return ifAny(r.Type != 0, r.Type.String) }),
	word("op", func(_ *Run, r *Record) string { return r.Op.String() }),
	whole("root", func(_ *Run, r *Record) int64 { return int64(r.Root) }),
	word("placement", func(_ *Run, r *Record) string { return ifAny(r.Placement != 0, r.Placement.String) }),
	word("mode", func(_ *Run, r *Record) string { return ifAny(r.Mode != 0, r.Mode.String) }),
	least("size_bytes", 0, func(_ *Run, r *Record) int64 { return r.SizeBytes }),
	least("count", 0, func(_ *Run, r *Record) int64 { return r.Count }),
	figure("time_s", false, func(_ *Record, t *Time) float64 { return t.Seconds }),
	figure("time_lo_s", true, func(_ *Record, t *Time) float64 { return t.Lo }),
	figure("time_hi_s", true, func(_ *Record, t *Time) float64 { return t.Hi }),
	figure("min_s", true, func(_ *Record, t *Time) float64 { return t.Min }),
	figure("p90_s", true, func(_ *Record, t *Time) float64 { return t.P90 }),
	figure("p99_s", true, func(_ *Record, t *Time) float64 { return t.P99 }),
	figure("max_s", true, func(_ *Record, t *Time) float64 { return t.Max }),
	bandwidth("algbw_GBps", (*Record).HasAlgBW, coll.Case.AlgBW),
	bandwidth("busbw_GBps", (*Record).HasBusBW, coll.Case.BusBW),
	figure("iterations", true, func(_ *Record, t *Time) float64 { return float64(t.Iterations) }),
	word("stop", func(_ *Run, r *Record) string { return timeWord(r, func(t *Time) string { return t.Stop }) }),
	word("check", func(_ *Run, r *Record) string { return checkWord(r) }),
	word("status", func(_ *Run, r *Record) string { return string(r.Status) }),
	word("reason", func(_ *Run, r *Record) string { return r.Reason }),
	perRank("slowest_rank", true, func(b []byte, r *Ranks) []byte { return strconv.AppendInt(b, int64(r.Slowest), 10) }),
	perRank("slowest_host", false, func(b []byte, r *Ranks) []byte { return append(b, r.SlowestHost...) }),
	perRank("latest_rank", true, func(b []byte, r *Ranks) []byte {
		if r.Latest < 0 {
			return b
		}
		return strconv.AppendInt(b, int64(r.Latest), 10)
	}),
	perRank("lateness_s", true, func(b []byte, r *Ranks) []byte {
		if r.Latest < 0 {
			return b
		}
		return strconv.AppendFloat(b, r.Lateness, 'g', -1, 64)
	}),
	word("warnings", warningsOf),

	whole("n", func(_ *Run, r *Record) int64 { return int64(r.N) }),
	whole("cycle", func(_ *Run, r *Record) int64 { return int64(max(r.Cycle, 1)) }),
	word("at", func(_ *Run, r *Record) string { return r.At }),
	figure("samples", true, func(_ *Record, t *Time) float64 { return float64(t.Samples) }),
	least("outliers", 0, func(_ *Run, r *Record) int64 {
		if r.Time == nil {
			return -1
		}
		return int64(r.Time.Outliers)
	}),
	word("sync", func(_ *Run, r *Record) string { return timeWord(r, func(t *Time) string { return t.Sync }) }),
	word("summary", func(_ *Run, r *Record) string { return timeWord(r, func(t *Time) string { return t.Summary }) }),
	word("notes", func(_ *Run, r *Record) string { return strings.Join(r.Notes, "; ") }),

	least("rotate_bytes", 0, func(run *Run, _ *Record) int64 { return run.Method.Rotate }),
	known("aggregate", func(run *Run, _ *Record) int64 {
		if run.Imported != nil {
			return int64(run.Method.Aggregate)
		}
		return int64(max(run.Method.Aggregate, 1))
	}),
	word("average", func(run *Run, r *Record) string {
		if r.Mode != coll.Throughput {
			return ""
		}
		return run.Method.Average
	}),
	figure("event_s", true, func(_ *Record, t *Time) float64 {
		if t.Event == nil {
			return 0
		}
		return t.Event.Seconds
	}),
	word("backend_version", func(run *Run, _ *Record) string { return run.Backend.Version }),
	word("algorithm", func(_ *Run, r *Record) string { return pathWord(r, func(p *Path) string { return p.Algorithm }) }),
	word("protocol", func(_ *Run, r *Record) string { return pathWord(r, func(p *Path) string { return p.Protocol }) }),
	{"channels", true, func(b []byte, _ *Run, r *Record) []byte {
		if r.Path == nil || r.Path.Channels == 0 {
			return b
		}
		return strconv.AppendInt(b, int64(r.Path.Channels), 10)
	}},
	word("settings", func(run *Run, _ *Record) string { return run.Method.Settings().String() }),
	word("imported", func(run *Run, _ *Record) string {
		if run.Imported == nil {
			return ""
		}
		return run.Imported.Tool
	}),
	word("source", SourceLine),
	word("operation", func(_ *Run, r *Record) string { return r.ForeignOperation() }),
	word("stated", func(_ *Run, r *Record) string { return statedWords(r.Imported) }),
	word("block", func(run *Run, _ *Record) string { return run.Block }),
	word("pattern", func(run *Run, _ *Record) string {
		if run.Pattern == nil {
			return ""
		}
		return run.Pattern.Kind
	}),
	word("group", func(_ *Run, r *Record) string { return r.Group.String() }),
}

// bandwidth is a column that is empty where what it is made of is not known.
func bandwidth(name string, has func(*Record) bool, of func(c coll.Case, seconds float64) float64) column {
	return column{name, true, func(b []byte, _ *Run, r *Record) []byte {
		if !has(r) {
			return b
		}
		return strconv.AppendFloat(b, of(r.Case, r.Time.Seconds)/1e9, 'g', -1, 64)
	}}
}

func ifAny(there bool, text func() string) string {
	if !there {
		return ""
	}
	return text()
}

// nodes are those that measured the record.
func (r *Record) nodes(run *Run) int {
	if r.Group != nil {
		return len(r.Group.Hosts)
	}
	return run.Nodes
}

func (r *Record) ranksPerNode(run *Run) int {
	if r.Group != nil {
		return r.Group.RanksPerNode
	}
	return run.RanksPerNode
}

func timeWord(r *Record, f func(*Time) string) string {
	if r.Time == nil {
		return ""
	}
	return f(r.Time)
}

func pathWord(r *Record, f func(*Path) string) string {
	if r.Path == nil {
		return ""
	}
	return f(r.Path)
}

// warningsOf are those of the whole run and of the point.
func warningsOf(run *Run, r *Record) string {
	if len(run.Warnings) == 0 {
		return r.Warnings.String()
	}
	return slices.Concat(run.Warnings, r.Warnings).String()
}

func checkWord(r *Record) string {
	if r.Check.Result == "" {
		return "none"
	}
	return r.Check.Result
}

// Title is what the library calls itself, with its version.
func (b *Backend) Title() string {
	switch {
	case b.Library == "":
		return b.Version
	case b.Version == "" || strings.Contains(b.Library, b.Version):
		return b.Library
	}
	return b.Library + " " + b.Version
}
