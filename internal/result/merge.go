package result

import "io"

// MergeOptions says how runs are put together.
type MergeOptions struct {
	IncludeRehearsed bool // let rehearsed runs in beside measured ones
}

// Dataset is many runs as one stream of rows. Its files are read anew by each of its methods.
type Dataset struct {
	Runs  []*Run
	notes []Problem
}

// Row is one point of one run.
type Row struct {
	Run    *Run
	Record *Record
}

// RehearsedError says that rehearsed runs lie beside measured ones.
type RehearsedError struct{ Rehearsed, Measured []string }

func (e *RehearsedError) Error() string { return "" }

// NothingError says that none of the files could be used, and why.
type NothingError struct{ Problems []Problem }

func (e *NothingError) Error() string { return "" }

// Merge puts runs together: no record twice (by run and number), and along a chain of resumed runs what was measured in
// the place of what was not. The error is a *RehearsedError or a *NothingError.
func Merge(paths []string, o MergeOptions) (*Dataset, error) { return nil, nil }

// Notes are what a reader of the rows should know: duplicates, interrupted runs, lines that could not be read. They are
// complete once Each or a Write method has returned.
func (d *Dataset) Notes() []Problem { return d.notes }

// Each calls f for every row, in the order of files and records.
func (d *Dataset) Each(f func(Row) error) error { return nil }

// WriteCSV writes a line per row under a line of column names; it returns the number of rows.
func (d *Dataset) WriteCSV(w io.Writer) (int, error) { return 0, nil }

// WriteJSONL writes an object per row, with the columns of the CSV as its fields; it returns the number of rows.
func (d *Dataset) WriteJSONL(w io.Writer) (int, error) { return 0, nil }

// WriteMarkdown writes the rows as a table for people; it returns the number of rows.
func (d *Dataset) WriteMarkdown(w io.Writer) (int, error) { return 0, nil }
