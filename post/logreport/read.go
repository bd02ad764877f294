package logreport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/input"
	"busbar/post/nccllog"
)

// Read reads the files of one run, and those of folders with their subfolders. A file in a folder that holds nothing
// to read is skipped, which notices report; one that was named is an error. Names begin behind prefix.
func Read(ctx context.Context, paths []string, prefix string) (*nccllog.Log, []notice.Notice, error) {
	r := nccllog.NewReader()
	read, passed := 0, 0
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, input.ReadError(path, err)
		}
		if !info.IsDir() {
			if err := addLog(ctx, r, path, prefix); err != nil {
				return nil, nil, err
			}
			read++
			continue
		}
		files, err := input.FilesUnder(path)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range files {
			err := addLog(ctx, r, file, prefix)
			var nothing *nccllog.NothingError
			switch {
			case errors.As(err, &nothing):
				passed++
			case err != nil:
				return nil, nil, err
			default:
				read++
			}
		}
	}
	if read == 0 {
		return nil, nil, fmt.Errorf("nothing of NCCL in %s: %s looked at. NCCL writes with NCCL_DEBUG=INFO, on stdout or into "+
			"NCCL_DEBUG_FILE", strings.Join(paths, ", "), units.Count(passed, "file"))
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
