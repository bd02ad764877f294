package foreign

import (
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// What busbar itself writes in the layout of nccl-tests holds more in its comments than nccl-tests has columns for.
var (
	ncclExportTime   = regexp.MustCompile(`^time: .+; of the ranks' times: (.+)$`)
	ncclExportStatus = regexp.MustCompile(
		`^(\d+) +(\d+) +(\S+) +(\S+) +(-?\d+) +(out-of-place|in-place): ` +
			`(skipped|unsupported|oom|timeout|wrong|failed|warning): (.*)$`)
	ncclExportDone = regexp.MustCompile(`^busbar: (complete|interrupted|aborted)(?:: (.*))?$`)
)

// noPCI is what an export writes for a rank without a device on a bus.
const noPCI = "0000:00:00"

// ncclExported is what only busbar's own export has, in comments.
type ncclExported struct {
	tool, backend, library string
	warnings               []exportWarning // of points whose rows come next
}

// exportWarning is a warning on one point.
type exportWarning struct {
	point coll.Case
	fact  notice.Fact
}

// exported reads the first line of an export: who measured which library.
func (t *ncclTest) exported(m []string) {
	t.export = &ncclExported{tool: m[1], backend: m[2], library: m[3]}
}

// exportedLine reads a comment that only an export has.
func (t *ncclTest) exportedLine(l line) (bool, error) {
	if t.export == nil || !l.mark {
		return false, nil
	}
	if m := ncclExportTime.FindStringSubmatch(l.body); m != nil {
		t.run.Method.Average = m[1]
		return true, nil
	}
	if m := ncclExportDone.FindStringSubmatch(l.body); m != nil {
		t.footer([]string{"", ""})
		if t.ends(result.Outcome(m[1]), nil); m[2] != "" {
			t.ended.Why = result.Because(notice.FromLine(m[2]))
		}
		return true, nil
	}
	if text, ok := strings.CutPrefix(l.body, "Warning: "); ok {
		t.warn(notice.FromLine(text))
		return true, nil
	}
	if strings.HasPrefix(l.body, "SIMULATED: ") || strings.HasPrefix(l.body, "REHEARSED: ") { // the older word
		t.run.Rehearse = true
		return true, nil
	}
	m := ncclExportStatus.FindStringSubmatch(l.body)
	if m == nil || t.columns == nil {
		return false, nil
	}
	return true, t.exportedPoint(l.n, m)
}

// exportedPoint reads a comment on one point: a warning on the row that comes next, or why the point has no time.
func (t *ncclTest) exportedPoint(n int, m []string) error {
	p, _ := coll.ParsePlacement(m[6])
	rec := t.record(&ncclRow{line: n, point: map[string]string{"size": m[1], "count": m[2], "type": m[3], "redop": m[4],
		"root": m[5]}}, p)
	if m[7] == "warning" {
		t.export.warnings = append(t.export.warnings, exportWarning{rec.Case, notice.FromLine(m[8])})
		return nil
	}
	rec.Warnings = t.export.warningsOf(rec)
	rec.Status, rec.Why, rec.Check.Result = result.Status(m[7]), result.Because(notice.FromLine(m[8])), "none"
	return t.add(rec)
}

// warningsOf takes the warnings of a point, which are printed right over its row.
func (e *ncclExported) warningsOf(r *result.Record) (all notice.List) {
	e.warnings = slices.DeleteFunc(e.warnings, func(w exportWarning) bool {
		if w.point != r.Case {
			return false
		}
		all.Add(w.fact)
		return true
	})
	return all
}

// describe fills in who measured which library.
func (e *ncclExported) describe(run *result.Run) {
	run.Tool, run.Imported.Format = e.tool, "nccl-tests text, as busbar exports it"
	run.Backend = result.Backend{Name: e.backend, Library: e.library + " (by " + e.tool + ", imported)"}
}
