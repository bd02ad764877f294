package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// defaultFolder is read when nothing is named, and where rank writes.
const defaultFolder = "results"

// find expands the arguments to run files; passed are those that it passed over. The error says where was looked.
func find(args []string) (files []string, passed []notice.Notice, err error) {
	paths := args
	if len(args) == 0 {
		paths = []string{defaultFolder}
	}
	files, passed, err = result.Search(paths...)
	var system *fs.PathError
	switch {
	case len(args) == 0 && errors.Is(err, fs.ErrNotExist):
		here, _ := os.Getwd()
		return nil, nil,
			fmt.Errorf("there is no folder ./%s in %s: run rank here first, or name the files or folders to read", defaultFolder,
				here)
	case errors.As(err, &system):
		return nil, nil, fmt.Errorf("cannot read %s: %w", system.Path, system.Err)
	}
	return files, passed, err
}

// folder is where output belongs: the one folder that was read, or the current one if there were several.
func folder(args []string) (string, error) {
	if len(args) == 0 {
		return defaultFolder, nil
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

// note says on stderr what is worth knowing about the files.
func note(stderr io.Writer, problems []notice.Notice) {
	for _, n := range problems {
		fmt.Fprintln(stderr, "post:", document.Printable(n.Full()))
	}
}

// resultFiles completes names of run files and folders.
func resultFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
}

// rehearsedFlag adds --include-simulated.
func rehearsedFlag(cmd *cobra.Command, o *result.MergeOptions) {
	cmd.Flags().BoolVar(&o.IncludeRehearsed, "include-simulated", false, "include simulated results beside measured ones")
}
