package result

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// Source is the tool and file of a run that another tool measured. Its records have an Origin, so they are never
// mistaken for measurements of rank. Values that the source lacks are absent.
type Source struct {
	Tool     string            `json:"tool"`   // what measured, with its version where known: "nccl-tests 2.19.6"
	Format   string            `json:"format"` // which of its layouts
	Path     string            `json:"path"`   // as it was named
	SHA256   string            `json:"sha256"` // of the whole file
	Line     int               `json:"line,omitempty"`
	Started  string            `json:"started,omitempty"` // as the source has it: often local time without a zone
	Ended    string            `json:"ended,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`   // the source's words on how it measured
	Given    map[string]string `json:"given,omitempty"`      // what was added on import
	Deduced  notice.List       `json:"deductions,omitempty"` // what follows from the rows, and from what in them
	Older    []string          `json:"deduced,omitempty"`    // sentences of older versions; Deduced once read
}

// Origin is the place of a record in the file of another tool.
type Origin struct {
	Line      int    `json:"line,omitempty"`      // where the row begins; in a document without lines absent
	Operation string `json:"operation,omitempty"` // the tool's name of what is no collective of coll's list
	// by column: what has no field of its own here, or was restated
	Stated map[string]string `json:"stated,omitempty"`
}

// SourceLine is "path:line" of an imported record, and "" of one that rank measured.
func SourceLine(run *Run, r *Record) string {
	if run.Imported == nil || r.Imported == nil {
		return ""
	}
	if r.Imported.Line == 0 {
		return run.Imported.Path
	}
	return run.Imported.Path + ":" + strconv.Itoa(r.Imported.Line)
}

// ForeignOperation is what another tool calls an operation that is none of coll's collectives; "" for a collective.
func (r *Record) ForeignOperation() string {
	if r.Imported == nil {
		return ""
	}
	return r.Imported.Operation
}

// Operation is the collective's name, or what another tool calls an operation that is none.
func (r *Record) Operation() string { return cmp.Or(r.ForeignOperation(), r.Collective.String()) }

// Lacks is what an imported record lacks for charts and comparisons; the zero value where it lacks nothing.
func (r *Record) Lacks() notice.Lack {
	switch {
	case r.Imported == nil:
		return notice.Lack{}
	case r.Imported.Operation != "":
		return notice.Lack{Lacks: notice.OtherOperation, Operation: r.Imported.Operation}
	case r.Collective == coll.AllToAllV && r.Imbalance == "":
		return notice.Lack{Lacks: notice.OtherOperation, Operation: r.Collective.String() + " of unknown imbalance"}
	case r.Collective == coll.Other:
		return notice.Lack{Lacks: notice.LacksCollective}
	case r.World == 0:
		return notice.Lack{Lacks: notice.LacksWorld}
	case r.Mode == 0:
		return notice.Lack{Lacks: notice.LacksMode}
	case r.SizeBytes < 0:
		return notice.Lack{Lacks: notice.LacksSize}
	}
	return notice.Lack{}
}

// HasAlgBW reports whether there is an algorithm bandwidth: rank's own records have one as soon as they have a time.
func (r *Record) HasAlgBW() bool {
	return r.Time != nil && (r.Imported == nil || r.Time.Seconds > 0 && r.SizeBytes >= 0)
}

// HasBusBW reports whether there is a bus bandwidth, which takes a collective and its world besides.
func (r *Record) HasBusBW() bool {
	return r.HasAlgBW() && (r.Imported == nil || r.World > 0 && r.Collective != coll.Other)
}

// statedText is what the source states beside the fields: "busbw=1.23; #wrong=N/A".
func (o *Origin) statedText() string {
	parts := make([]string, 0, len(o.Stated))
	for _, k := range slices.Sorted(maps.Keys(o.Stated)) {
		parts = append(parts, k+"="+o.Stated[k])
	}
	return strings.Join(parts, "; ")
}
