package foreign

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// superKey is a metric of SuperBench's nccl-bw or rccl-bw:
// nccl-bw:annotation/allreduce_1024_time:0, and with traffic patterns allreduce_0_3:1024_time.
var superKey = regexp.MustCompile(
	`^(nccl|rccl)-bw((?::[^/]*)?)/([a-z]+?)_(?:(\d+)_(\d+):)?(\d+)_(time|algbw|busbw)(?::(\d+))?$`)

// superDocument says whether an object holds such a metric.
func superDocument(f fields) bool {
	for key := range f {
		if superKey.MatchString(key) {
			return true
		}
	}
	return false
}

// superRow is what the metrics of one point have in common.
type superRow struct {
	vendor, annotation, operation, serial, parallel, rank string
	size                                                  int64
}

// superRows makes records of one document, which is of one node.
func (in *input) superRows(f fields) error {
	rows := map[superRow]map[string]string{}
	for key, raw := range f {
		m := superKey.FindStringSubmatch(key)
		if m == nil || string(raw) == "null" {
			continue
		}
		size, _ := count(m[6])
		row := superRow{m[1], m[2], m[3], m[4], m[5], m[8], size}
		if rows[row] == nil {
			rows[row] = map[string]string{}
		}
		rows[row][m[7]] = string(raw)
	}
	order := slices.SortedFunc(maps.Keys(rows), func(a, b superRow) int {
		if a.size != b.size && a.key() == b.key() {
			return int(min(max(a.size-b.size, -1), 1))
		}
		return slices.Compare([]string{a.key()}, []string{b.key()})
	})
	const tool = "SuperBench"
	launch := ""
	var t *test
	for _, row := range order {
		if t == nil || t.run.Backend.Name != row.vendor || t.label != row.series() {
			if t != nil {
				if err := t.end(result.Complete, nil); err != nil {
					return err
				}
			}
			t = in.newTest(tool, "SuperBench results JSON", 0)
			t.stated = bandwidths{alg: "algbw", bus: "busbw"}
			t.run.Backend = result.Backend{Name: row.vendor, Library: libraryBy(row.vendor, "", tool)}
			if launch == "" {
				launch = t.run.Launch
			}
			t.run.Launch, t.label = launch, row.series()
			t.set("node", f.text("node"))
		}
		if err := in.superRow(t, row, rows[row]); err != nil {
			return err
		}
	}
	if t == nil {
		return nil
	}
	return t.end(result.Complete, nil)
}

// key orders rows by the run and the operation that they belong to.
func (r superRow) key() string { return r.vendor + " " + r.series() + " " + r.operation }

// series tells apart what SuperBench ran in one way each: by annotation, group of a traffic pattern, and rank.
func (r superRow) series() string {
	words := nonEmpty(strings.Trim(r.annotation, ":"))
	if r.serial != "" {
		words = append(words, "serial "+r.serial, "parallel "+r.parallel)
	}
	if r.rank != "" && r.rank != "0" {
		words = append(words, "rank "+r.rank)
	}
	return strings.Join(words, " ")
}

// superRow makes a record of one point. World and type are not among what SuperBench keeps.
func (in *input) superRow(t *test, row superRow, values map[string]string) error {
	c, operation := operationOf(row.operation)
	rec := &result.Record{
		Case:   coll.Case{Collective: c, Root: -1, Mode: coll.Throughput, SizeBytes: row.size, Count: -1},
		Status: result.OK, Check: result.Check{Result: "unknown"},
		Imported: &result.Origin{Operation: operation, Stated: map[string]string{}},
	}
	if c.Reduces() {
		rec.Op = coll.Sum // it starts its tests with no other
	}
	for name, text := range values {
		v, ok := number(text)
		if !ok {
			return in.torn(0, row.key()+" "+strconv.FormatInt(row.size, 10)+" "+name+" "+text)
		}
		if name == "time" && v >= 0 {
			rec.Time = &result.Time{Seconds: seconds(v, 1e-6), Samples: 1, Outliers: -1, Sync: "issued back to back",
				Summary: "mean over iterations; of the ranks' times the mean, unless -a was given"}
			continue
		}
		rec.Imported.Stated[name] = text
	}
	for name, text := range map[string]string{"annotation": row.annotation, "serial": row.serial, "parallel": row.parallel,
		"rank": row.rank} {
		if text != "" {
			rec.Imported.Stated[name] = text
		}
	}
	in.counts.Rows++
	return t.add(rec)
}
