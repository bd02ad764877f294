package result

import "fmt"

// File is what was read of one run's file.
type File struct {
	Path     string
	Run      Run
	Ranks    []Rank
	Records  []Record // empty after Scan
	Points   int      // records read
	End      *End     // nil: the run was cut off, or is still running
	Problems []Problem
}

// Problem is something wrong with a file that does not keep the rest from being read.
type Problem struct {
	Path string
	Line int // from 1; 0: the whole file
	Text string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.Path + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text)
}

// ForeignError says that a file is not one of busbar's.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string { return e.Path + " is no results file of busbar" }

// SchemaError says that a file was written by a newer busbar.
type SchemaError struct {
	Path   string
	Schema int
}

func (e *SchemaError) Error() string { return e.Path }

// HeaderError says that a file ends within its first line, so that nothing in it can be used.
type HeaderError struct{ Path string }

func (e *HeaderError) Error() string { return e.Path }

// ReadFile reads a run's file whole. The error is a *ForeignError, *SchemaError, *HeaderError or of the system; lines
// that cannot be read are Problems.
func ReadFile(path string) (*File, error) { return nil, nil }

// Scan reads a run's file and hands each record to each as it comes; the record is the callee's to keep. The File has
// no Records. Errors are those of ReadFile and of each.
func Scan(path string, each func(*Record) error) (*File, error) { return nil, nil }
