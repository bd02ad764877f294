// Package detect finds out by content what files are that are named without a command.
package detect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"busbar/internal/result"
	"busbar/post/hang"
	"busbar/post/importer"
	"busbar/post/input"
	"busbar/post/nccllog"
	"busbar/post/trace"
)

// Kinds are files and folders by the command that reads them.
type Kinds struct {
	Importer              importer.Importer // into a temporary folder
	Note                  func(path string, made *importer.Imported)
	Results, Logs, Traces []string
	Hangs                 []string          // evidence of a hung job; those that are logs of NCCL are in Logs, too
	Imported              map[string]string // result files in the importer's folder, and their sources
	Unknown               int               // files in folders
	Beside                []Beside
}

// HangsAndLogs are the evidence of hung jobs, whose verdict includes what logs of NCCL show, or else logs alone.
func (k *Kinds) HangsAndLogs() (hangs, logs []string) {
	if len(k.Hangs) == 0 {
		return nil, k.Logs
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(k.Hangs, k.Logs)))), nil
}

// Add detects the kind of a file, or of the files of a folder. The error is that no file has a known kind.
func (k *Kinds) Add(ctx context.Context, path string) error {
	files, isFolder, err := input.Expand(path)
	if err != nil {
		return err
	}
	if isFolder {
		runs, _ := result.Find(path) // an unreadable file has an unknown kind
		if slices.ContainsFunc(runs, isRun) {
			k.Results = append(k.Results, path)
			return k.beside(ctx, path)
		}
	}
	unknown := 0
	for _, file := range files {
		known, err := k.file(ctx, file)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if !known {
			unknown++
		}
	}
	if unknown == len(files) {
		return fmt.Errorf("cannot detect the kind of %s: post reads results of rank, output of other benchmarks "+
			"(post import --help), NCCL logs, evidence of hung jobs, and traces of torch.profiler and Nsight "+
			"Systems", path)
	}
	k.Unknown += unknown
	return nil
}

// file detects the kind of one file. A log of another benchmark may be an NCCL log too.
func (k *Kinds) file(ctx context.Context, path string) (known bool, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	if isRun(path) {
		k.Results = append(k.Results, path)
		return true, nil
	}
	form := hang.Is(ctx, path)
	if form == hang.Dump {
		k.Hangs = append(k.Hangs, path)
		return true, nil
	}
	if is, err := trace.Is(path); is || err != nil {
		k.Traces = append(k.Traces, path)
		return is, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, input.ReadError(path, err)
	}
	defer f.Close()
	if nccllog.NewReader().Add(path, input.NewReader(ctx, f)) == nil {
		k.Logs, known = append(k.Logs, path), true
	}
	if form == hang.Text {
		k.Hangs = append(k.Hangs, path)
		return true, nil
	}
	made, err := k.Importer.File(ctx, path)
	if _, full := errors.AsType[*importer.UnwritableError](err); full {
		return false, err
	}
	if err != nil {
		return known, nil // no layout of another benchmark
	}
	for _, r := range made.Runs {
		k.Imported[r.Path] = path
	}
	k.Note(path, made)
	return true, nil
}

// isRun reports whether a file begins as the results of a run do.
func isRun(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := bufio.NewReader(f).Peek(64)
	return bytes.HasPrefix(head, []byte(`{"kind":"run"`))
}
