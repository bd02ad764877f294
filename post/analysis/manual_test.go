package analysis

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// Kinds of findings that only tests name.
var (
	PlacementOf = notice.CodeOf(notice.PlacementGap{})
	Scaling     = notice.CodeOf(notice.PoorScaling{})
	LateRank    = notice.CodeOf(notice.LateRank{})
	SlowRank    = notice.CodeOf(notice.SlowRank{})
	TwoModes    = notice.CodeOf(notice.BimodalPoints{})
	Drifts      = notice.CodeOf(notice.DriftingPoints{})
	Variation   = notice.CodeOf(notice.LaunchVariation{})
	LowCeiling  = notice.CodeOf(notice.BelowPeak{})
)

const (
	manual    = "../../docs/analysis.md"
	hints     = "../../docs/reference/hints.md"
	tableHead = "| finding | for | try | to | source |\n|---|---|---|---|---|\n"
)

// kinds are all kinds of findings.
var kinds = []Kind{
	Drop, Spike, Step, Decline, PlacementOf, Scaling, LateRank, SlowRank, TwoModes, Drifts, Variation,
	LowCeiling, Imbalance,
}

// The pages have the hints of the catalogue, and each kind of finding with its rule.
func TestManualListsFindingsAndHints(t *testing.T) {
	page, err := os.ReadFile(hints)
	must.NoError(t, err)
	head, _, found := strings.Cut(string(page), tableHead)
	if !found {
		t.Fatalf("%s has no table of hints", hints)
	}
	golden.Text(t, hints, head+tableHead+hintTable())
	text, err := os.ReadFile(manual)
	must.NoError(t, err)
	for _, kind := range kinds {
		test.StrContains(t, string(text), "\n| `"+string(kind)+"` |", test.Sprint(manual, kind))
	}
}

func hintTable() string {
	var b strings.Builder
	for i := range catalogue {
		tip := &catalogue[i]
		try := "`" + tip.Variable + "`"
		if tip.Values != nil {
			try += ": `" + strings.Join(tip.Values, "`, `") + "`"
		}
		if tip.With != "" {
			try += ", with `" + tip.With + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", joined(tip.Kinds), tip.scope(), try, tip.Tip.Text(),
			tip.Tip.Source())
	}
	return b.String()
}

func joined[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}

// scope is the runs that a tip applies to.
func (t *tip) scope() string {
	words := []string{"any backend"}
	if t.Backends != nil {
		words[0] = joined(t.Backends)
	}
	if t.Library != "" {
		words[0] = t.Library
	}
	for _, c := range t.Collectives {
		words = append(words, c.String())
	}
	if t.Nodes != "" {
		words = append(words, t.Nodes)
	}
	if t.Min > 0 {
		words = append(words, "from "+coll.FormatSize(t.Min, true))
	}
	if t.Max > 0 {
		words = append(words, "to "+coll.FormatSize(t.Max, true))
	}
	if t.Reduces {
		words = append(words, "GPUs with NVLink SHARP")
	}
	if t.Untold {
		words = append(words, "where the way is not recorded")
	}
	return strings.Join(words, ", ")
}
