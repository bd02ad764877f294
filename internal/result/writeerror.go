package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrEnded reports that the run has its end already.
var ErrEnded = errors.New("the run has ended: nothing more is written to its file")

// WriteError reports that a line could not be kept where it belongs.
type WriteError struct {
	Path      string // the run's file
	Kept      int    // records that are safe in Path; 0 when Gone
	Gone      bool   // Path was removed: all records are in Rescue
	Rescue    string // file with the records that are not in Path, or ""
	Rescued   int    // records in Rescue
	RescueErr error  // why there is no Rescue
	Err       error  // error of the system
}

func (e *WriteError) Error() string {
	s := fmt.Sprintf("%s: cannot write: %v; %s safe in it", e.Path, plain(e.Err), records(e.Kept))
	if e.Gone {
		s = fmt.Sprintf("%s: was removed while the run was writing it", e.Path)
	}
	if e.Rescue == "" {
		return s + fmt.Sprintf(
			"; what came after is lost, for it could not be written elsewhere either: %v",
			e.RescueErr,
		)
	}
	read := e.Rescue
	if !e.Gone {
		read = filepath.Dir(e.Path) + " " + e.Rescue
	}
	return s + fmt.Sprintf(
		"; %s in %s; make room, or name another folder with --out (`post merge %s` reads what there "+
			"is)",
		records(e.Rescued),
		e.Rescue,
		read,
	)
}

func (e *WriteError) Unwrap() error { return e.Err }

func records(n int) string {
	if n == 1 {
		return "1 record is"
	}
	return fmt.Sprintf("%d records are", n)
}

// plain is a system error without operation and path, where the sentence around it names them.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// rescueDirs are where lines go that their own folder does not take.
func rescueDirs() []string { return []string{os.TempDir(), "/dev/shm"} }
