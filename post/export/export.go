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

// exporter writes results in the forms of other programs.
type exporter struct{ result.MergeOptions }

// Format is a form in which results are given to other programs.
type Format struct {
	File  string // name of its file
	write func(e *exporter, ctx context.Context, files []string, w io.Writer) (notes []notice.Notice, err error)
}

// Write writes the results of files; the notices are on what was left out.
func (f Format) Write(
	ctx context.Context, o result.MergeOptions, files []string, w io.Writer,
) ([]notice.Notice, error) {
	b := bufio.NewWriter(w)
	notes, err := f.write(&exporter{o}, ctx, files, b)
	return notes, cmp.Or(err, b.Flush())
}

// Names are the names of formats.
var Names = []string{"csv", "json", "nccl-tests", "prometheus"}

// Formats are the formats by their names.
var Formats = map[string]Format{
	"csv":        {"busbar.csv", (*exporter).csv},
	"json":       {"busbar.json", (*exporter).json},
	"nccl-tests": {"busbar_nccl-tests.log", (*exporter).ncclTests},
	"prometheus": {"busbar.prom", (*exporter).prometheus},
}

func (e *exporter) csv(ctx context.Context, files []string, w io.Writer) ([]notice.Notice, error) {
	return e.table(ctx, files, result.Output{Format: result.CSV, Writer: w})
}

func (e *exporter) json(ctx context.Context, files []string, w io.Writer) ([]notice.Notice, error) {
	notes, err := e.table(ctx, files, result.Output{Format: result.JSONL, Writer: &jsonList{w, "[\n"}})
	if err == nil {
		_, err = io.WriteString(w, "\n]\n")
	}
	return notes, err
}

// table writes the merged table.
func (e *exporter) table(ctx context.Context, files []string, o result.Output) ([]notice.Notice, error) {
	data, err := result.MergeContext(ctx, files, e.MergeOptions)
	if err != nil {
		return nil, err
	}
	rows, err := data.Write(o)
	if err == nil && rows == 0 {
		err = &result.NothingError{Problems: data.Notes()}
	}
	return data.Notes(), err
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
func (e *exporter) ncclTests(ctx context.Context, files []string, w io.Writer) (notes []notice.Notice, err error) {
	e.NoSteps = true
	data, err := result.MergeContext(ctx, files, e.MergeOptions)
	if err != nil {
		return nil, err
	}
	var records []result.Record
	shown := 0
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
	notes = append(data.Notes(), notes...)
	if err == nil && shown == 0 {
		err = &result.NothingError{Problems: notes}
	}
	return notes, err
}

// notInNCCLTests counts the points that the layout of nccl-tests cannot hold.
func notInNCCLTests(f *result.File) (left notice.NotInNCCLTests) {
	for i := range f.Records {
		switch r := &f.Records[i]; {
		case inNCCLTests(r):
		case r.Mode == coll.Latency && r.Collective != coll.Other && r.Group == nil:
			left.Latency++
		default:
			left.Others++
		}
	}
	return left
}
