// Package input finds and reads the files that arguments of post name.
package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// DefaultFolder is read when nothing is named, and where rank writes.
const DefaultFolder = "results"

// Find expands the arguments to run files; passed are those that it passed over. The error says where was looked.
func Find(args []string) (files []string, passed []notice.Notice, err error) {
	paths := args
	if len(args) == 0 {
		paths = []string{DefaultFolder}
	}
	files, passed, err = result.Search(paths...)
	if len(args) == 0 && errors.Is(err, fs.ErrNotExist) {
		here, _ := os.Getwd()
		return nil, nil, fmt.Errorf("there is no folder ./%s in %s: run rank here first, or name the files or folders "+
			"to read", DefaultFolder, here)
	}
	if system, is := errors.AsType[*fs.PathError](err); is {
		return nil, nil, ReadError(system.Path, err)
	}
	return files, passed, err
}

// Merge merges the runs of the files that arguments name; passed are files that it passed over.
func Merge(
	ctx context.Context, args []string, o result.MergeOptions,
) (data *result.Dataset, passed []notice.Notice, err error) {
	files, passed, err := Find(args)
	if err != nil {
		return nil, nil, err
	}
	data, err = result.MergeContext(ctx, files, o)
	return data, passed, err
}

// Folder is where output belongs: the folder out if it is named, else the one folder that was read, or the current one
// if there were several.
func Folder(out string, args []string) (string, error) {
	if out != "" {
		return out, nil
	}
	if len(args) == 0 {
		return DefaultFolder, nil
	}
	one, real := "", ""
	for _, a := range args {
		info, err := os.Stat(a)
		if err != nil {
			return "", err
		}
		dir := a
		if !info.IsDir() {
			dir = filepath.Dir(a)
		}
		r, err := filepath.EvalSymlinks(dir)
		if err == nil {
			r, err = filepath.Abs(r)
		}
		if err != nil {
			return "", err
		}
		if real != "" && r != real {
			return ".", nil
		}
		one, real = dir, r
	}
	return one, nil
}
