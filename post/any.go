package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/importer"
	"busbar/post/input"
	"busbar/post/nccllog"
	"busbar/post/trace"
	"busbar/post/usage"
)

// fileKinds are the files and folders named without a command, by the command that reads them.
type fileKinds struct {
	streams
	importer.Importer
	results, logs, traces []string
	imported              map[string]string // result files in the importer's folder, and their sources
	unknown               int               // files in folders
}

// anyFile runs the commands that read what args name.
func anyFile(cmd *cobra.Command, to streams, args []string) error {
	if _, err := os.Stat(args[0]); err != nil && !strings.ContainsAny(args[0], "./") {
		return usage.New(knownCommand(cmd, args))
	}
	dir, err := os.MkdirTemp("", "post-import-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // only copies
	k := &fileKinds{streams: to, Importer: importer.Importer{Dir: dir}, imported: map[string]string{}}
	for _, path := range args {
		if err := k.add(cmd.Context(), path); err != nil {
			return err
		}
	}
	return k.show(cmd.Context())
}

// add detects the kind of a file, or of the files of a folder. The error is that no file has a known kind.
func (k *fileKinds) add(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return input.ReadError(path, err)
	}
	files := []string{path}
	if info.IsDir() {
		runs, _ := result.Find(path) // an unreadable file has an unknown kind
		if slices.ContainsFunc(runs, isRun) {
			k.results = append(k.results, path)
			return nil
		}
		if files, err = input.FilesUnder(path); err != nil {
			return err
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
			"(post import --help), NCCL logs, and traces of torch.profiler and Nsight Systems", path)
	}
	k.unknown += unknown
	return nil
}

// file detects the kind of one file. A log of another benchmark may be an NCCL log too.
func (k *fileKinds) file(ctx context.Context, path string) (known bool, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	if isRun(path) {
		k.results = append(k.results, path)
		return true, nil
	}
	if is, err := trace.Is(path); is || err != nil {
		k.traces = append(k.traces, path)
		return is, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, input.ReadError(path, err)
	}
	defer f.Close()
	if nccllog.NewReader().Add(path, input.NewReader(ctx, f)) == nil {
		k.logs, known = append(k.logs, path), true
	}
	made, err := k.File(ctx, path)
	if full := (*importer.UnwritableError)(nil); errors.As(err, &full) {
		return false, err
	}
	if err != nil {
		return known, nil // no layout of another benchmark
	}
	for _, r := range made.Runs {
		k.imported[r.Path] = path
	}
	fmt.Fprintf(k.stderr, "post: %s: %s; keep them with post import\n", document.Printable(path), made.Summary())
	return true, nil
}

// show runs the command of each kind.
func (k *fileKinds) show(ctx context.Context) error {
	if k.unknown > 0 {
		fmt.Fprintf(k.stderr, "post: skipped %s of unknown kind\n", units.Count(k.unknown, "file"))
	}
	var errs []error
	if len(k.imported) > 0 {
		s := &shower{streams: k.streams, sources: k.imported}
		s.format = document.Text
		errs = append(errs, s.run(ctx, []string{k.Dir}))
	}
	for _, c := range []struct {
		command string
		paths   []string
	}{{"show", k.results}, {"log", k.logs}, {"timeline", k.traces}} {
		if len(c.paths) > 0 {
			errs = append(errs, run(ctx, append([]string{c.command, "--"}, c.paths...), k.stdout, k.stderr))
		}
	}
	return errors.Join(errs...)
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
