package logreport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/anonymizer"
	"busbar/post/input"
	"busbar/post/nccllog"
)

// Sources are the files and folders that a report is about.
type Sources struct {
	Paths     []string // of one run
	Against   []string // of the run that it is compared with; none: it is not compared
	Anonymize bool     // replace hosts, addresses and users
}

// Read reads the logs and finds what they show. The notices are on files.
func Read(ctx context.Context, of Sources) (*Report, []notice.Notice, error) {
	if of.Anonymize {
		return readAnonymized(ctx, of)
	}
	return read(ctx, of, "")
}

// readAnonymized reads copies with other names, which it deletes.
func readAnonymized(ctx context.Context, of Sources) (r *Report, notes []notice.Notice, err error) {
	dir, err := os.MkdirTemp("", "post-log-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	copies, left, err := anonymizer.Copy(ctx, dir, slices.Concat(of.Paths, of.Against))
	if err != nil {
		return nil, nil, err
	}
	n := len(of.Paths)
	r, notes, err = read(ctx, Sources{Paths: copies[:n], Against: copies[n:]}, dir+string(filepath.Separator))
	return r, slices.Concat(left, notes), err
}

func read(ctx context.Context, of Sources, prefix string) (*Report, []notice.Notice, error) {
	log, notes, err := readRun(ctx, of.Paths, prefix)
	if err != nil {
		return nil, nil, err
	}
	r := newReport(log)
	if len(of.Against) > 0 {
		other, more, err := readRun(ctx, of.Against, prefix)
		if err != nil {
			return nil, nil, err
		}
		r.other, r.contrast, notes = other, nccllog.Compare(log, other), append(notes, more...)
	}
	return r, notes, nil
}

// readRun reads the files of one run, and those of folders with their subfolders. A file in a folder that holds nothing
// to read is skipped, which notices report; one that was named is an error. Names begin behind prefix.
func readRun(ctx context.Context, paths []string, prefix string) (*nccllog.Log, []notice.Notice, error) {
	r := nccllog.NewReader()
	files, passed := 0, 0
	for _, path := range paths {
		below, isFolder, err := input.Expand(path)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range below {
			err := addLog(ctx, r, file, prefix)
			if _, nothing := errors.AsType[*nccllog.NothingError](err); nothing && isFolder {
				passed++
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			files++
		}
	}
	if files == 0 {
		return nil, nil, fmt.Errorf("nothing of NCCL in %s: %s looked at. NCCL writes with NCCL_DEBUG=INFO, on "+
			"stdout or into NCCL_DEBUG_FILE", strings.Join(paths, ", "), units.Count(passed, "file"))
	}
	var notes []notice.Notice
	if passed > 0 {
		notes = append(notes, notice.New(notice.NothingOfNCCL{Files: passed}))
	}
	return r.Log(), notes, nil
}

// addLog reads one file.
func addLog(ctx context.Context, r *nccllog.Reader, path, prefix string) error {
	f, err := os.Open(path)
	if err != nil {
		return input.ReadError(path, err)
	}
	defer f.Close()
	if err := r.Add(strings.TrimPrefix(path, prefix), input.NewReader(ctx, f)); err != nil {
		return err
	}
	return context.Cause(ctx) // the reader takes a file that breaks off for what it is
}
