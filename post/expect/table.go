// Package expect compares bus bandwidths with values that others published for the same hardware. docs/expect.md has
// the rules.
package expect

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// Kind is what a row states.
type Kind string

// The kinds. Only measured values are compared with; the others are shown beside them.
const (
	Measured  Kind = "measured"
	Threshold Kind = "threshold" // the limit of an acceptance test
	Claim     Kind = "claim"     // what a vendor states, without a run beside it
)

// Row is one value of a table.
type Row struct {
	Shape
	Size    int64           `json:"size_bytes,omitempty"` // as nccl-tests counts it; 0: not stated
	BusBW   units.Bandwidth `json:"busbw"`                // bytes per second
	Kind    Kind            `json:"kind"`
	System  string          `json:"system,omitempty"`
	Source  string          `json:"source"`
	Date    string          `json:"date,omitempty"`    // of the measurement
	Checked string          `json:"checked,omitempty"` // when it was last read at its source; "": never
	URL     string          `json:"url,omitempty"`     // of the source, where that is public
}

// Reference is a table of values.
type Reference []Row

// columns are those of a table, in their order. The first seven are required.
var columns = strings.Split(
	"gpu,ranks_per_node,nodes,fabric,collective,size_bytes,busbw_GBps,kind,system,source,date,checked", ",")

const requiredColumns = 7

//go:embed published.csv
var publishedCSV []byte

// Published is the table of the product. It panics on an invalid row: the table is part of the program.
var Published = sync.OnceValue(func() Reference {
	all, err := read("published.csv", publishedCSV)
	if err != nil {
		panic(err)
	}
	return all
})

// With is the published table and those in the files named. The error names file and line.
func With(paths []string) (Reference, error) {
	all := slices.Clip(Published()) // it is shared
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		more, err := read(path, text)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// read parses a table with a heading.
func read(name string, text []byte) (all Reference, err error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment = '#'
	heading, _ := r.Read()
	if n := len(heading); n < requiredColumns || !slices.Equal(heading, columns[:min(n, len(columns))]) {
		return nil, fmt.Errorf("%s: the heading is not %s (%d are required)", name, strings.Join(columns, ","),
			requiredColumns)
	}
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		row, err := parseRow(cells, name)
		if err != nil {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		all = append(all, row)
	}
}

// parseRow reads one row; a row without kind is measured, and one without source is of its file.
func parseRow(cells []string, name string) (r Row, err error) {
	cells = append(slices.Clone(cells), make([]string, len(columns)-len(cells))...)
	r = Row{Shape: Shape{GPU: cells[0], Fabric: cells[3]}, Kind: cmp.Or(Kind(cells[7]), Measured), System: cells[8],
		Source: cmp.Or(cells[9], name), Date: cells[10], Checked: cells[11]}
	number := func(i int) float64 {
		v, bad := strconv.ParseFloat(cells[i], 64)
		if optional := r.Kind != Measured && cells[i] == "" && columns[i] != "busbw_GBps"; optional {
			return 0 // limits are often stated without
		}
		if bad != nil || !(v > 0 && v < 1e15) {
			err = fmt.Errorf("%s: %q is not a number above 0", columns[i], cells[i])
		}
		return v
	}
	r.PerNode, r.Nodes = int(number(1)), int(number(2))
	r.Size, r.BusBW = int64(number(5)), units.Bandwidth(number(6)*1e9)
	r.URL = urlOf(r.Source)
	switch {
	case !slices.Contains([]Kind{Measured, Threshold, Claim}, r.Kind):
		err = fmt.Errorf("kind: %q is not measured, threshold or claim", r.Kind)
	case r.GPU == "" || r.Fabric == "":
		err = errors.New("gpu or fabric is empty")
	}
	var unknown error
	r.Collective, unknown = coll.ParseCollective(cells[4])
	return r, errors.Join(err, unknown)
}

// Write writes a table.
func (all Reference) Write(w io.Writer) error {
	cells := [][]string{columns}
	for _, r := range all {
		cells = append(cells, []string{r.GPU, fmt.Sprint(r.PerNode), fmt.Sprint(r.Nodes), r.Fabric,
			r.Collective.String(), fmt.Sprint(r.Size), fmt.Sprintf("%.6g", float64(r.BusBW)/1e9), string(r.Kind),
			r.System, r.Source, r.Date, r.Checked})
	}
	return csv.NewWriter(w).WriteAll(cells)
}

// origin is who measured: values of one repository, thread or launch count once.
func (r Row) origin() string {
	of, _, _ := strings.Cut(r.Source, ":")
	return of
}

// urlOf is where "owner/repository:path@commit" or "owner/repository#thread" is; "" for other sources.
func urlOf(source string) string {
	for separator, to := range map[string]string{":": "/blob/", "#": "/issues/"} {
		if repository, at, is := strings.Cut(source, separator); is && strings.Count(repository, "/") == 1 {
			if path, commit, is := strings.Cut(at, "@"); is {
				at = commit + "/" + path
			}
			return "https://github.com/" + repository + to + at
		}
	}
	return ""
}
