package result

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
)

// ForeignError says that a file is not one that busbar's rank writes.
type ForeignError struct {
	Path   string
	Reason string
}

func (e *ForeignError) Error() string {
	return notice.InFile(e.Path, 0, e.Fact()).Text()
}

// Fact is what the error states.
func (e *ForeignError) Fact() notice.Fact { return notice.NotResults{Problem: e.Reason} }

// SchemaError says that a file was written by a newer busbar.
type SchemaError struct {
	Path   string
	Schema int // the file's
}

func (e *SchemaError) Error() string {
	return notice.InFile(e.Path, 0, e.Fact()).Full()
}

// Fact is what the error states.
func (e *SchemaError) Fact() notice.Fact { return notice.NewerFormat{Format: e.Schema, Reads: Schema} }

// HeaderError says that a file ends within its first line, so that nothing in it can be used.
type HeaderError struct {
	Path  string
	Empty bool // not even a first byte
}

func (e *HeaderError) Error() string {
	return notice.InFile(e.Path, 0, e.Fact()).Full()
}

// Fact is what the error states.
func (e *HeaderError) Fact() notice.Fact {
	if e.Empty {
		return notice.FileEmpty{}
	}
	return notice.HeaderTorn{}
}

// NotFoundError says that no results file was found.
type NotFoundError struct {
	Looked []string        // the files and folders that were named
	Passed []notice.Notice // what could not be looked at
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no results in %s: looked for *.jsonl files that rank wrote, in subfolders too; run rank first, "+
		"or name a file or folder that has some%s", strings.Join(e.Looked, ", "), notice.Lines(e.Passed))
}

// NothingError says that none of the files could be used, and why.
type NothingError struct{ Problems []notice.Notice }

func (e *NothingError) Error() string { return "nothing usable to read:" + notice.Lines(e.Problems) }

// RehearsedError is that simulated runs are beside measured ones.
type RehearsedError struct {
	Rehearsed, Measured []string // paths
}

func (e *RehearsedError) Error() string {
	return fmt.Sprintf("%s is simulated (not about hardware) and is beside measured runs such as %s (%d simulated, %d measured): "+
		"name the files to read, or include both with --include-simulated (older name: --include-rehearsed)", e.Rehearsed[0], e.Measured[0], len(e.Rehearsed), len(e.Measured))
}
