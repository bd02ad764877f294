package main

import (
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
	dir, err := os.MkdirTemp("", "post-import-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // only copies
	k := &detect.Kinds{Importer: importer.Importer{Dir: dir}, Imported: map[string]string{}}
	k.Note = func(path string, made *importer.Imported) {
		fmt.Fprintf(to.stderr, "post: %s: %s; keep them with post import\n", document.Printable(path), made.Summary())
	}
	for _, path := range args {
		if err := k.Add(cmd.Context(), path); err != nil {
			return err
		}
	}
	return showKinds(cmd.Context(), to, k)
}

// showKinds runs the command of each kind.
func showKinds(ctx context.Context, to streams, k *detect.Kinds) error {
	if k.Unknown > 0 {
		fmt.Fprintf(to.stderr, "post: skipped %s of unknown kind\n", units.Count(k.Unknown, "file"))
	}
	var errs []error
	if len(k.Imported) > 0 {
		s := &shower{streams: to, sources: k.Imported}
		s.format = document.Text
		errs = append(errs, s.run(ctx, []string{k.Importer.Dir}))
	}
	for _, c := range []struct {
		command string
		paths   []string
	}{{"show", k.Results}, {"log", k.Logs}, {"timeline", k.Traces}} {
		if len(c.paths) > 0 {
			errs = append(errs, run(ctx, append([]string{c.command, "--"}, c.paths...), to.stdout, to.stderr))
		}
	}
	return errors.Join(errs...)
}
