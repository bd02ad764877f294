package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// What busbar itself writes in the layout of nccl-tests holds more in its comments than nccl-tests has columns for.
var (
	ncclExport       = regexp.MustCompile(`^(busbar.*): (\S+) \((.*)\), in the layout of nccl-tests$`)
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
	result.Run
	outcome  result.Outcome
	cause    notice.Fact
	pending  []*result.Record // points without a time
	warnings []exportWarning  // of points whose rows come next
}

// newNCCLExported reads the first line of an export: who measured which library.
func newNCCLExported(m []string) *ncclExported {
	return &ncclExported{Run: result.Run{Tool: m[1], Backend: result.Backend{Name: m[2], Library: m[3]}}}
}

// exportedLine reads a comment that only an export has.
func (t *ncclTest) exportedLine(l line) bool {
	if t.export == nil || !l.mark {
		return false
	}
	if m := ncclExportTime.FindStringSubmatch(l.body); m != nil {
		t.export.Method.Average = m[1]
		return true
	}
	if m := ncclExportDone.FindStringSubmatch(l.body); m != nil {
		t.footer, t.export.outcome = true, result.Outcome(m[1])
		if m[2] != "" {
			t.export.cause = notice.FromLine(m[2])
		}
		return true
	}
	if text, ok := strings.CutPrefix(l.body, "Warning: "); ok {
		t.warn(notice.FromLine(text))
		return true
	}
	if strings.HasPrefix(l.body, "SIMULATED: ") || strings.HasPrefix(l.body, "REHEARSED: ") { // the older word
		t.export.Rehearse = true
		return true
	}
	m := ncclExportStatus.FindStringSubmatch(l.body)
	if m == nil {
		return false
	}
	r := &ncclRow{line: l.n, dataType: m[3], op: m[4], root: m[5]}
	r.size, _ = count(m[1])
	r.count, _ = count(m[2])
	p, err := coll.ParsePlacement(m[6])
	if m[7] == "warning" {
		t.export.warnings = append(t.export.warnings, exportWarning{strings.Join(m[1:7], " "), m[8]})
		return err == nil
	}
	rec := t.record(r, nil, nil, p)
	rec.Warnings = t.export.warningsOf(rec)
	rec.Status, rec.Why, rec.Check.Result = result.Status(m[7]), result.Because(notice.FromLine(m[8])), "none"
	if t.in.counts.Rows++; err == nil {
		t.export.pending = append(t.export.pending, rec)
	}
	return err == nil
}

// exportWarning is a comment over a row, on one of its points.
type exportWarning struct{ point, text string }

// warningsOf takes the warnings of a point, which stand right over its row.
func (e *ncclExported) warningsOf(r *result.Record) (all notice.List) {
	point := fmt.Sprintf("%d %d %s %s %d %s", r.SizeBytes, r.Count, r.Type, r.Op, r.Root, placeWord(r.Placement))
	e.warnings = slices.DeleteFunc(e.warnings, func(w exportWarning) bool {
		words := strings.Fields(w.point)
		words[2] = dataType(words[2]).String()
		if strings.Join(words, " ") != point {
			return false
		}
		all.Add(notice.FromLine(w.text))
		return true
	})
	return all
}

func placeWord(p coll.Placement) string {
	if p == coll.InPlace {
		return "in-place"
	}
	return "out-of-place"
}

// describeExport fills in the run's line from the comments of an export.
func (t *ncclTest) describeExport() {
	t.tool(t.export.Tool)
	t.run.Imported.Format = "nccl-tests text, as busbar exports it"
	t.run.Backend = t.export.Backend
	t.run.Backend.Library = libraryBy(t.run.Backend.Library, "", t.run.Tool+", imported")
	t.run.Rehearse, t.run.Method.Average = t.export.Rehearse, t.export.Method.Average
}

// addPending hands on the points of an export that have no row.
func (t *ncclTest) addPending() error {
	if t.export == nil {
		return nil
	}
	for _, r := range t.export.pending {
		if err := t.add(r); err != nil {
			return err
		}
	}
	t.export.pending = nil
	return nil
}
