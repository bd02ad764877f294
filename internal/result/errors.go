package result

import (
	"fmt"
	"strings"
)

// ForeignError says that a file is not one that busbar's rank writes.
type ForeignError struct {
	Path   string
	Reason string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s: not a results file of busbar: %s", e.Path, e.Reason)
}

// SchemaError says that a file was written by a newer busbar.
type SchemaError struct {
	Path   string
	Schema int // the file's
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s: has format %d, this busbar reads up to %d: update busbar to read it", e.Path, e.Schema, Schema)
}

// HeaderError says that a file ends within its first line, so that nothing in it can be used.
type HeaderError struct {
	Path  string
	Empty bool // not even a first byte
}

func (e *HeaderError) Error() string {
	if e.Empty {
		return e.Path + ": is empty: the run begins just now, or was killed before it wrote anything, and then the file can be removed"
	}
	return e.Path + ": its first line is cut off: the run begins just now, or was killed while it began, and then no point was measured and the file can be removed"
}

// NotFoundError says that no results file was found.
type NotFoundError struct {
	Looked []string  // the files and folders that were named
	Passed []Problem // what could not be looked at
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("no results in %s: looked for *.jsonl files that rank wrote, in subfolders too; run rank first, or name a file or folder that has some",
		strings.Join(e.Looked, ", "))
	for _, p := range e.Passed {
		s += "\n  " + p.String()
	}
	return s
}

// NothingError says that none of the files could be used, and why.
type NothingError struct{ Problems []Problem }

func (e *NothingError) Error() string {
	text := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		text[i] = p.String()
	}
	return "nothing usable to read:\n  " + strings.Join(text, "\n  ")
}

// RehearsedError says that rehearsed runs lie beside measured ones.
type RehearsedError struct {
	Rehearsed, Measured []string // paths
}

func (e *RehearsedError) Error() string {
	return fmt.Sprintf("%s was rehearsed (its figures say nothing about hardware) and lies beside measured runs such as %s (%d rehearsed, %d measured): "+
		"name the files wanted, or include both with --include-simulated", e.Rehearsed[0], e.Measured[0], len(e.Rehearsed), len(e.Measured))
}
