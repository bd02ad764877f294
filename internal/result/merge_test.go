package result

import (
	"encoding/csv"
	"strings"
	"testing"
)

// csvRows merges files and returns the rows of the CSV by column name.
func csvRows(t *testing.T, o MergeOptions, files ...string) []map[string]string {
	t.Helper()
	d, err := Merge(files, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n, err := d.WriteCSV(&b)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = l[i]
		}
		rows = append(rows, row)
	}
	if n != len(rows) {
		t.Errorf("%d rows written, %d said", len(rows), n)
	}
	return rows
}
