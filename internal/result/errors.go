package result

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
)

// FileError is that a file cannot be read as results.
type FileError struct {
	Path string
	What notice.Fact // NotResults, NewerFormat, FileEmpty, HeaderTorn
}

func (e *FileError) Error() string { return notice.InFile(e.Path, 0, e.What).Full() }

// Fact is what the error states.
func (e *FileError) Fact() notice.Fact { return e.What }

// HeaderTorn reports whether the file ends within its first line, so that nothing was measured.
func (e *FileError) HeaderTorn() bool {
	return e.What == notice.FileEmpty{} || e.What == notice.HeaderTorn{}
}

// NotFoundError reports that no results file was found.
type NotFoundError struct {
	Looked []string        // the files and folders that were named
	Passed []notice.Notice // what could not be looked at
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf(
		"no results in %s: looked for *.jsonl files that rank wrote, in subfolders too; run rank first, "+
			"or name a file or folder that has some%s",
		strings.Join(e.Looked, ", "),
		notice.Lines(e.Passed),
	)
}

// NothingError reports that none of the files could be used, and why.
type NothingError struct{ Problems []notice.Notice }

func (e *NothingError) Error() string { return "nothing usable to read:" + notice.Lines(e.Problems) }

// RehearsedError is that simulated runs are beside measured ones.
type RehearsedError struct {
	Rehearsed, Measured []string // paths
}

func (e *RehearsedError) Error() string {
	return fmt.Sprintf(
		"%s is simulated (not about hardware) and is beside measured runs such as %s (%d simulated, %d measured): "+
			"name the files to read, or include both with --include-simulated (older name: --include-rehearsed)",
		e.Rehearsed[0],
		e.Measured[0],
		len(e.Rehearsed),
		len(e.Measured),
	)
}
