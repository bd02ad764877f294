package result

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// NewID returns a UUID of version 7, whose text sorts by time.
func NewID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic(fmt.Sprintf("result: no randomness for a UUID: %v", err))
	}
	return id.String()
}

// Writer writes the file of one run and keeps its text view beside it. It is safe for concurrent use.
type Writer struct {
	// Warn is told what went wrong without losing a record (the text view cannot be drawn, the file was removed and put
	// back). Set it before the first Append; nil drops the words.
	Warn func(string)
}

// ErrEnded says that the run has its end already.
var ErrEnded = errors.New("result: the run has ended; nothing more is written")

// WriteError says that a line could not be kept where it belongs.
type WriteError struct {
	Path   string // the run's file
	Kept   int    // records that are safe in it
	Rescue string // file with what could not be kept; empty when that failed too
	Err    error  // what the system said
}

func (e *WriteError) Error() string { return e.Err.Error() }

func (e *WriteError) Unwrap() error { return e.Err }

// CheckDir says whether results can be written into dir, which need not exist yet, and leaves nothing behind. The error
// names the path and the reason.
func CheckDir(dir string) error { return nil }

// Create makes the file of one run in dir: its name says backend, world and start. Kind and Schema are filled in, and ID
// and Start when empty.
func Create(dir string, run Run, ranks []Rank) (*Writer, error) { return nil, errors.New("not yet") }

// Path is the file's path; it changes only when the file had to be put back under another name.
func (w *Writer) Path() string { return "" }

// TextPath is the path of the text view.
func (w *Writer) TextPath() string { return "" }

// Append numbers the record (N, Kind, At), writes it as one line and returns when it is on disk. The error is a
// *WriteError, or ErrEnded.
func (w *Writer) Append(r *Record) error { return nil }

// AppendRanks keeps the times of all ranks of the record that the next Append writes, and sets r.Ranks.Sidecar. Call it
// for worlds of more than MaxInlineRanks ranks.
func (w *Writer) AppendRanks(r *Record, median, late []float64) error { return nil }

// End writes the last line, draws the text view and closes the file. Kind is filled in, and At and Points when empty. A
// second End does nothing.
func (w *Writer) End(e End) error { return nil }
