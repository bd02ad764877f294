package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/units"
	"busbar/post/detect"
	"busbar/post/importer"
	"busbar/post/usage"
)

// anyFile runs the commands that read what args name.
func anyFile(cmd *cobra.Command, to streams, args []string) error {
	if _, err := os.Stat(args[0]); err != nil && !strings.ContainsAny(args[0], "./") {
		return usage.New(knownCommand(cmd, args))
	}
	var out, notes bytes.Buffer // written after the temporary folder is gone: a write may end the program by SIGPIPE
	k, err := imported(cmd.Context(), streams{&out, &notes}, args)
	fmt.Fprint(to.stderr, &notes)
	fmt.Fprint(to.stdout, &out)
	if k == nil {
		return err
	}
	return errors.Join(err, showKinds(cmd.Context(), to, k))
}

// imported detects the kinds of files, and shows those that have to be imported first. The error without kinds is that
// of a file.
func imported(ctx context.Context, to streams, args []string) (*detect.Kinds, error) {
	dir, err := os.MkdirTemp("", "post-import-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // only copies
	k := &detect.Kinds{Importer: importer.Importer{Dir: dir}, Imported: map[string]string{}}
	k.Note = func(path string, made *importer.Imported) {
		fmt.Fprintf(to.stderr, "post: %s: %s; keep them with post import\n", document.Printable(path), made.Summary())
	}
	for _, path := range args {
		if err := k.Add(ctx, path); err != nil {
			return nil, err
		}
	}
	if k.Unknown > 0 {
		fmt.Fprintf(to.stderr, "post: skipped %s of unknown kind\n", units.Count(k.Unknown, "file"))
	}
	for _, b := range k.Beside {
		fmt.Fprintln(to.stderr, "post:", document.Printable(b.String()))
	}
	if len(k.Imported) == 0 {
		return k, nil
	}
	s := &shower{streams: to, sources: k.Imported}
	s.format = document.Text
	return k, s.run(ctx, []string{dir})
}

// showKinds runs the command of each kind that is read in place.
func showKinds(ctx context.Context, to streams, k *detect.Kinds) error {
	hangs, logs := k.HangsAndLogs()
	var errs []error
	for _, c := range []struct {
		command string
		paths   []string
	}{{"show", k.Results}, {"hang", hangs}, {"log", logs}, {"timeline", k.Traces}} {
		if len(c.paths) > 0 {
			errs = append(errs, run(ctx, append([]string{c.command, "--"}, c.paths...), to.stdout, to.stderr))
		}
	}
	return errors.Join(errs...)
}
