// Package expect compares bus bandwidths with values that others published for the same hardware. docs/expect.md has
// the rules.
package expect

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"busbar/internal/coll"
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
	Size                          int64   // bytes, as nccl-tests counts them; 0: not stated
	BusBW                         float64 // bytes per second
	Kind                          Kind
	System, Source, Date, Checked string // Checked is when the value was last read at its source; "": never
}

// Reference is a table of values.
type Reference []Row

// Columns are those of a table. The first seven are required.
var Columns = []string{
	"gpu", "ranks_per_node", "nodes", "fabric", "collective", "size_bytes", "busbw_GBps",
	"kind", "system", "source", "date", "checked",
}

const requiredColumns = 7

//go:embed published.csv
var publishedCSV []byte

// Published is the table of the product. It panics on an invalid row: the table is part of the program.
func Published() Reference {
	all, err := read("published.csv", bytes.NewReader(publishedCSV))
	if err != nil {
		panic(err)
	}
	return all
}

// With is the published table and those in the files named. The error names file and line.
func With(paths []string) (Reference, error) {
	all := Published()
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		more, err := read(path, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// read parses a table with a heading.
func read(name string, from io.Reader) (all Reference, err error) {
	r := csv.NewReader(from)
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = '#', -1, true
	var heading []string
	for {
		cells, err := r.Read()
		if err == io.EOF {
			break
		}
		line, _ := r.FieldPos(0)
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			line, err = parse.Line, parse.Err
		}
		if err == nil && heading == nil {
			heading, err = cells, checkHeading(cells)
		} else if err == nil {
			var row Row
			row, err = parseRow(heading, cells, name)
			all = append(all, row)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no rows; a table begins with the line %s", name, strings.Join(Columns, ","))
	}
	return all, nil
}

func checkHeading(cells []string) error {
	has := map[string]bool{}
	for _, c := range cells {
		has[c] = true
	}
	for _, c := range Columns[:requiredColumns] {
		if !has[c] {
			return fmt.Errorf("the heading lacks the column %s (required: %s)", c,
				strings.Join(Columns[:requiredColumns], ", "))
		}
	}
	return nil
}

// parseRow reads one row; a row without kind is measured, and one without source is of its file.
func parseRow(heading, cells []string, name string) (row Row, err error) {
	if len(cells) != len(heading) {
		return row, fmt.Errorf("%d cells, not the %d of the heading", len(cells), len(heading))
	}
	cell := map[string]string{"kind": string(Measured), "source": name}
	for i, c := range cells {
		if c != "" {
			cell[heading[i]] = c
		}
	}
	row = Row{Shape: Shape{GPU: cell["gpu"], Fabric: cell["fabric"]}, Kind: Kind(cell["kind"]), System: cell["system"],
		Source: cell["source"], Date: cell["date"], Checked: cell["checked"]}
	numbers := map[string]float64{}
	for _, column := range []string{"ranks_per_node", "nodes", "size_bytes", "busbw_GBps"} {
		text := cell[column]
		if text == "" && row.Kind != Measured && column != "busbw_GBps" {
			continue // limits are often stated without
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0 && v < 1e15) || column != "busbw_GBps" && v != float64(int64(v)) {
			return row, fmt.Errorf("%s: %q is not a number above 0", column, text)
		}
		numbers[column] = v
	}
	row.PerNode, row.Nodes = int(numbers["ranks_per_node"]), int(numbers["nodes"])
	row.Size, row.BusBW = int64(numbers["size_bytes"]), numbers["busbw_GBps"]*1e9
	switch {
	case row.Kind != Measured && row.Kind != Threshold && row.Kind != Claim:
		return row, fmt.Errorf("kind: %q is not measured, threshold or claim", row.Kind)
	case row.GPU == "" || row.Fabric == "":
		return row, errors.New("gpu or fabric is empty")
	}
	row.Collective, err = coll.ParseCollective(cell["collective"])
	return row, err
}

// Write writes a table.
func (all Reference) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	err := out.Write(Columns)
	for _, r := range all {
		err = errors.Join(err, out.Write([]string{
			r.GPU, strconv.Itoa(r.PerNode), strconv.Itoa(r.Nodes), r.Fabric, r.Collective.String(),
			strconv.FormatInt(r.Size, 10), strconv.FormatFloat(r.BusBW/1e9, 'g', 6, 64), string(r.Kind),
			r.System, r.Source, r.Date, r.Checked,
		}))
	}
	out.Flush()
	return errors.Join(err, out.Error())
}

// origin is who measured: values of one repository, thread or launch count once.
func (r Row) origin() string {
	if strings.Contains(r.Source, "://") {
		return r.Source
	}
	of, _, _ := strings.Cut(r.Source, ":")
	return of
}

// URL is where the value was published; "" where the source is no public one.
func (r Row) URL() string {
	const host = "https://github.com/"
	repository, path, file := strings.Cut(r.Source, ":")
	thread, number, numbered := strings.Cut(r.Source, "#")
	path, commit, versioned := strings.Cut(path, "@")
	switch {
	case strings.Contains(r.Source, "://"):
		return r.Source
	case strings.Count(repository, "/") == 1 && file && versioned:
		return host + repository + "/blob/" + commit + "/" + path
	case strings.Count(thread, "/") == 1 && numbered:
		return host + thread + "/issues/" + number
	}
	return ""
}
