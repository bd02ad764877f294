package result

import (
	"cmp"
	"slices"
	"strings"

	"busbar/internal/coll"
)

// cells are the columns of merged.csv and merged.jsonl; docs/file-format.md describes them.
func (r Row) cells(c cells) cells {
	run, record := r.Run, r.Record
	c.text("run", run.ID)
	c.text("campaign", run.Campaign)
	c.text("launch", run.Launch)
	c.text("backend", run.Backend.Name)
	c.text("library", run.Backend.Title())
	c.text("variant", run.Variant)
	r.point(&c)
	r.measured(&c)
	c.text("warnings", r.warnings())

	c.int("n", int64(record.N), 0)
	c.int("cycle", int64(max(record.Cycle, 1)), 0)
	c.text("at", record.At)
	t := orZero(record.Time)
	c.int("samples", int64(t.Samples), 1)
	if record.Time == nil {
		t.Outliers = -1
	}
	c.int("outliers", int64(t.Outliers), 0)
	c.text("sync", t.Sync)
	c.text("summary", t.Summary)
	c.text("notes", strings.Join(record.Notes, "; "))
	r.method(&c)

	imported, origin := orZero(run.Imported), orZero(record.Imported)
	c.text("imported", imported.Tool)
	c.text("source", SourceLine(run, record))
	c.text("operation", origin.Operation)
	c.text("stated", origin.statedText())
	c.text("block", run.Block)
	c.text("pattern", orZero(run.Pattern).Kind)
	c.text("group", cmp.Or(record.Group.String(), record.Groups.Name()))
	c.text("groups", string(record.Groups.Division))
	c.text("imbalance", string(record.Imbalance))
	c.int("even_bytes", record.EvenBytes, 1)
	return c
}

// Shape returns the number of nodes that measured the record, and the maximum number of ranks on one.
func (r Row) Shape() (nodes, ranksPerNode int) {
	switch g := r.Record.Group; {
	case g != nil:
		return len(g.Hosts), g.RanksPerNode
	case r.Record.Nodes > 0:
		return r.Record.Nodes, r.Record.RanksPerNode
	}
	return r.Run.Nodes, r.Run.RanksPerNode
}

// point adds what was to be measured.
func (r Row) point(c *cells) {
	record := r.Record
	nodes, ranksPerNode := r.Shape()
	c.int("world", int64(record.World), 1)
	c.int("nodes", int64(nodes), 1)
	c.int("ranks_per_node", int64(ranksPerNode), 1)
	c.text("device", r.Run.Device)
	c.text("collective", record.Collective.String())
	c.text("type", ifAny(record.Type != 0, record.Type.String))
	c.text("op", record.Op.String())
	c.int("root", int64(record.Root), -1)
	c.text("placement", ifAny(record.Placement != 0, record.Placement.String))
	c.text("mode", ifAny(record.Mode != 0, record.Mode.String))
	c.int("size_bytes", record.SizeBytes, 0)
	c.int("count", record.Count, 0)
}

// measured adds times, what follows from them, and what became of the point.
func (r Row) measured(c *cells) {
	record := r.Record
	t, ranks, timed := orZero(record.Time), orZero(record.Ranks), record.Time != nil
	c.float("time_s", t.Seconds, timed)
	c.float("time_lo_s", t.Lo, t.Lo != 0)
	c.float("time_hi_s", t.Hi, t.Hi != 0)
	c.float("min_s", t.Min, t.Min != 0)
	c.float("p90_s", t.P90, t.P90 != 0)
	c.float("p99_s", t.P99, t.P99 != 0)
	c.float("max_s", t.Max, t.Max != 0)
	c.float("algbw_GBps", record.AlgBW(t.Seconds)/1e9, record.HasAlgBW())
	c.float("busbw_GBps", record.BusBW(t.Seconds)/1e9, record.HasBusBW())
	c.int("iterations", int64(t.Iterations), 1)
	c.text("stop", t.Stop)
	c.text("check", record.checked())
	c.text("status", string(record.Status))
	c.text("reason", record.Reason)
	if timed = timed && record.Ranks != nil; !timed {
		ranks = Ranks{Slowest: -1, Latest: -1}
	}
	c.int("slowest_rank", int64(ranks.Slowest), 0)
	c.text("slowest_host", ranks.SlowestHost)
	c.int("latest_rank", int64(ranks.Latest), 0)
	c.float("lateness_s", ranks.Lateness, ranks.Latest >= 0)
}

// method adds how it was measured.
func (r Row) method(c *cells) {
	m, t, path := &r.Run.Method, orZero(r.Record.Time), orZero(r.Record.Path)
	aggregate := m.Aggregate
	if r.Run.Imported == nil {
		aggregate = max(aggregate, 1)
	}
	c.int("rotate_bytes", m.Rotate, 0)
	c.int("aggregate", int64(aggregate), 1)
	c.text("average", ifAny(r.Record.Mode == coll.Throughput, func() string { return m.Average }))
	event := orZero(t.Event).Seconds
	c.float("event_s", event, event != 0)
	c.text("backend_version", r.Run.Backend.Version)
	c.text("algorithm", path.Algorithm)
	c.text("protocol", path.Protocol)
	c.int("channels", int64(path.Channels), 1)
	c.text("settings", m.Settings().String())
}

// orZero is what p points to; the zero value for nil.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func ifAny(there bool, text func() string) string {
	if !there {
		return ""
	}
	return text()
}

// warnings are those of the whole run and of the point.
func (r Row) warnings() string {
	if len(r.Run.Warnings) == 0 {
		return r.Record.Warnings.String()
	}
	return slices.Concat(r.Run.Warnings, r.Record.Warnings).String()
}

func (r *Record) checked() string { return cmp.Or(r.Check.Result, "none") }

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
