package usage

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	known := []string{"csv", "jsonl", "markdown"}
	got, err := Words("format", []string{"md", "csv", "markdown"}, known)
	if err != nil || !slices.Equal(got, []string{"markdown", "csv"}) {
		t.Error(got, err)
	}
	for _, values := range [][]string{nil, {""}, {"csv", "xml"}} {
		if got, err := Words("format", values, known); err == nil {
			t.Errorf("%q: %q", values, got)
		}
	}
}
