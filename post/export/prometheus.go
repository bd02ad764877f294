package export

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/title"
)

// metrics are the figures of a point for Prometheus, in base units, each with its help.
var metrics = [][2]string{
	{"busbar_time_seconds", "Time of one operation: in latency mode the median."},
	{"busbar_time_low_seconds", "Lower end of the 95 % CI of the time."},
	{"busbar_time_high_seconds", "Upper end of the 95 % CI of the time."},
	{"busbar_algbw_bytes_per_second", "Algorithm bandwidth: size divided by time."},
	{"busbar_busbw_bytes_per_second", "Bus bandwidth, as nccl-tests defines it."},
}

// figures are the values of metrics for a point, and which of them it has.
func figures(r *result.Record) (values [5]float64, has [5]bool) {
	t := r.Time
	return [5]float64{t.Seconds, t.Lo, t.Hi, r.AlgBW(t.Seconds), r.BusBW(t.Seconds)},
		[5]bool{true, t.Lo > 0, t.Hi > 0, r.HasAlgBW(), r.HasBusBW()}
}

// prometheus writes of each point the newest figure that holds, and how many points there are by status. A point of
// which several runs have a figure is one series; its runs are in the merged table.
func prometheus(ctx context.Context, data *result.Dataset, w io.Writer) (int, []notice.Notice, error) {
	newest, order := map[string]result.Record{}, []string{}
	points, last := map[string]int64{}, map[string]int64{} // last: seconds since 1970
	err := data.Each(func(row result.Row) error {          // older runs come first
		run, r := row.Run, row.Record
		points[labels("backend", run.Backend.Name, "status", string(r.Status), "imported", importedTool(run))]++
		if backend := labels("backend", run.Backend.Name); !run.Start.IsZero() {
			last[backend] = max(last[backend], run.Start.Unix())
		}
		if r.Timed() {
			key := pointLabels(run, r)
			if _, there := newest[key]; !there {
				order = append(order, key)
			}
			newest[key] = *r
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return 0, nil, err
	}
	for i, m := range metrics {
		head := series(m[0], m[1])
		for _, key := range order {
			r := newest[key]
			if values, has := figures(&r); has[i] {
				fmt.Fprintf(w, "%s%s{%s} %s\n", head, m[0], key, strconv.FormatFloat(values[i], 'g', -1, 64))
				head = ""
			}
		}
	}
	writeCounts(w, "busbar_points", "Points by status.", points)
	writeCounts(w, "busbar_last_run_timestamp_seconds", "When the newest run began.", last)
	return len(points), nil, nil
}

// series are the lines before the values of a metric.
func series(name, help string) string {
	return fmt.Sprintf("# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

func writeCounts(w io.Writer, name, help string, of map[string]int64) {
	head := series(name, help)
	for _, key := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(w, "%s%s{%s} %d\n", head, name, key, of[key])
		head = ""
	}
}

func importedTool(run *result.Run) string {
	if run.Imported == nil {
		return ""
	}
	return run.Imported.Tool
}

// pointLabels are those of one point's series.
func pointLabels(run *result.Run, r *result.Record) string {
	nodes, perNode := result.Row{Run: run, Record: r}.Shape()
	number := func(n int) string { return title.Known(n > 0, func() string { return strconv.Itoa(n) }) }
	pairs := []string{
		"backend", run.Backend.Name, "library", run.Backend.Title(), "variant", run.Variant, "device", run.Device,
		"world", number(r.World), "nodes", number(nodes),
		"collective", r.Operation(), "type", title.Known(r.Type != 0, r.Type.String), "op", r.Op.String(), "root",
		strconv.Itoa(r.Root),
		"placement", title.Known(r.Placement != 0, r.Placement.String), "mode", title.Known(r.Mode != 0, r.Mode.String),
		"size_bytes", title.Known(r.SizeBytes >= 0, func() string { return strconv.FormatInt(r.SizeBytes, 10) }),
		"imported", importedTool(run),
	}
	if r.Groups.Divided() {
		pairs = append(pairs, "groups", string(r.Groups.Division), "group", r.Groups.Name(), "ranks_per_node",
			number(perNode), "world_nodes", number(run.Nodes), "world_ranks_per_node", number(run.RanksPerNode))
	}
	if r.Imbalance != "" {
		pairs = append(pairs, "imbalance", string(r.Imbalance))
	}
	if r.Group != nil {
		pairs = append(pairs, "group", r.Group.String())
	}
	if run.Rehearse {
		pairs = append(pairs, "rehearsed", "yes")
	}
	return labels(pairs...)
}

// labels writes names and values as Prometheus reads them. One that is empty is the same as one that is not there.
func labels(pairs ...string) string {
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	var words []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			words = append(words, pairs[i]+`="`+escape.Replace(strings.ToValidUTF8(pairs[i+1], "�"))+`"`)
		}
	}
	return strings.Join(words, ",")
}
