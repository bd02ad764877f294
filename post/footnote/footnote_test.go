package footnote

import (
	"testing"

	"busbar/internal/document"
	"busbar/internal/notice"

	"github.com/shoenig/test"
)

func TestFootnotesMergeRanges(t *testing.T) {
	list := &List{Shows: func(notice.Code) bool { return true }, Report: func(notice.Fact) {}}
	for _, change := range []float64{0.02, -0.08, 0.05} {
		list.Marks(notice.Of(notice.Drift{Change: notice.Change(change)}))
	}
	want := document.Footnotes{"3 points: times drift: the median changes by -8.0 % to +5.0 % from the first to the " +
		"last third of the samples"}
	test.SliceEqOp(t, want, list.Blocks()[0].(document.Footnotes))
}
