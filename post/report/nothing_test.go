package report

import (
	"strings"
	"testing"
)

func TestNothing(t *testing.T) {
	for want, curves := range map[string][]Curve{
		"No findings.":  {{Rehearsed: true}, {}},
		"Not analysed:": {{Rehearsed: true}, {Crowded: "4 ranks on 2 cores"}},
	} {
		r := &Report{Curves: curves, Families: []Family{{}}, Axes: [][]int64{{}}}
		var b strings.Builder
		if err := r.whole().WriteMarkdown(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) || !strings.Contains(b.String(), NoHeadline) {
			t.Errorf("%+v: no %q in %s", curves, want, b.String())
		}
	}
}
