// Package export writes results as merged tables, and in the forms of other programs.
package export

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// Format is a form in which results are given to other programs.
type Format struct {
	File  string // name of its file
	write func(context.Context, *result.Dataset, io.Writer) (points int, notes []notice.Notice, err error)
}

// Write writes the collectives of files; the notices are on what was left out.
func (f Format) Write(
	ctx context.Context, o result.MergeOptions, files []string, w io.Writer,
) ([]notice.Notice, error) {
	o.NoSteps = true
	data, err := result.MergeContext(ctx, files, o)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriter(w)
	points, notes, err := f.write(ctx, data, b)
	notes = append(data.Notes(), notes...)
	if err == nil && points == 0 {
		err = &result.NothingError{Problems: notes}
	}
	return notes, cmp.Or(err, b.Flush())
}

// Names are the names of formats.
var Names = []string{"csv", "json", "nccl-tests", "prometheus"}

// Formats are the formats by their names.
var Formats = map[string]Format{
	"csv":        {"busbar.csv", writeCSV},
	"json":       {"busbar.json", writeJSON},
	"nccl-tests": {"busbar_nccl-tests.log", ncclTests},
	"prometheus": {"busbar.prom", prometheus},
}

func writeCSV(_ context.Context, data *result.Dataset, w io.Writer) (int, []notice.Notice, error) {
	rows, err := data.Write(result.Output{Format: result.CSV, Writer: w})
	return rows, nil, err
}

func writeJSON(_ context.Context, data *result.Dataset, w io.Writer) (int, []notice.Notice, error) {
	rows, err := data.Write(result.Output{Format: result.JSONL, Writer: &jsonList{w, "[\n"}})
	if err == nil && rows > 0 {
		_, err = io.WriteString(w, "\n]\n")
	}
	return rows, nil, err
}

// jsonList makes one JSON list of lines of JSON, which it gets whole.
type jsonList struct {
	w      io.Writer
	before string // of the next line
}

func (l *jsonList) Write(lines []byte) (int, error) {
	text := strings.ReplaceAll(strings.TrimSuffix(string(lines), "\n"), "\n", ",\n")
	if text == "" {
		return len(lines), nil
	}
	_, err := io.WriteString(l.w, l.before+text)
	l.before = ",\n"
	return len(lines), err
}

// ncclTests writes run after run in the layout of nccl-tests, oldest first. What it cannot hold is noted.
func ncclTests(
	ctx context.Context, data *result.Dataset, w io.Writer,
) (shown int, notes []notice.Notice, err error) {
	var records []result.Record
	err = data.EachWhole(func(row result.Row) error {
		records = append(records, *row.Record)
		return context.Cause(ctx)
	}, func(f *result.File) error {
		f.Records, records = records, nil
		if left := notInNCCLTests(f); left != (notice.NotInNCCLTests{}) {
			notes = append(notes, notice.InFile(f.Path, 0, left))
		}
		if shown > 0 {
			fmt.Fprintln(w)
		}
		if writeNCCLTests(w, f) {
			shown++
		}
		return context.Cause(ctx)
	})
	return shown, notes, err
}

// notInNCCLTests counts the points that the layout of nccl-tests cannot hold.
func notInNCCLTests(f *result.File) (left notice.NotInNCCLTests) {
	for i := range f.Records {
		switch r := &f.Records[i]; {
		case inNCCLTests(r):
		case r.Mode == coll.Latency && r.Collective != coll.Other && !r.OfGroup():
			left.Latency++
		default:
			left.Others++
		}
	}
	return left
}
