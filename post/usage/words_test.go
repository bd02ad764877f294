package usage

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	known := []string{"csv", "jsonl", "md"}
	got, err := Words("format", []string{"md", "csv", "md"}, known)
	if err != nil || !slices.Equal(got, []string{"md", "csv"}) {
		t.Error(got, err)
	}
	for _, values := range [][]string{nil, {""}, {"csv", "xml"}} {
		if got, err := Words("format", values, known); err == nil {
			t.Errorf("%q: %q", values, got)
		}
	}
}
