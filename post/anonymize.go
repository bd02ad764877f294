package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"busbar/internal/anonymize"
	"busbar/internal/notice"
	"busbar/post/atomicfile"
	"busbar/post/input"
	"busbar/post/usage"
)

// anonymizeFlag adds --anonymize.
func anonymizeFlag(f *pflag.FlagSet, on *bool) {
	f.BoolVar(on, "anonymize", false, "replace hosts, addresses and users, each always by the same word")
}

func newAnonymize(stderr io.Writer) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "anonymize -o DIR FILE|DIR...",
		Short:   "Copy files with hosts, addresses and users replaced",
		GroupID: "other",
		Long: `Copies logs, results and other text files into DIR, for a public bug report. A
host becomes host1, a user user1, and an address one of 198.18.0.0/15 or
2001:db8::/32: the same one always the same word, in all files, and addresses of
one /24 network stay in one. Files that are not text are left out and counted.

Names are taken from where logs, results and variables have them: look through
the copies before you publish them.`,
		Example: `  post anonymize -o public results logs`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" || len(args) == 0 {
				return usage.New(errors.New("post anonymize requires -o DIR and the files or folders to copy"), cmd.CommandPath())
			}
			_, left, err := anonymized(cmd.Context(), out, args)
			note(stderr, left)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the copies into this `DIR`")
	return cmd
}

// anonymized copies files and folders into dir with their names replaced, and returns the paths of the copies, and what
// was left out because it is not text.
func anonymized(ctx context.Context, dir string, paths []string) (copies []string, left []notice.Notice, err error) {
	names := anonymize.New()
	type source struct{ path, below string } // and where its copy goes, below dir
	var text []source
	tops := map[string]int{}
	for _, path := range paths {
		top := filepath.Base(filepath.Clean(path))
		if tops[top]++; tops[top] > 1 { // folders of one name
			top = fmt.Sprintf("%s-%d", top, tops[top])
		}
		copies = append(copies, top)
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, input.ReadError(path, err)
		}
		files := []string{path}
		if info.IsDir() {
			if files, err = input.FilesUnder(path); err != nil {
				return nil, nil, err
			}
		}
		for _, file := range files {
			below, err := filepath.Rel(path, file)
			if err != nil {
				return nil, nil, input.ReadError(file, err)
			}
			err = eachLine(ctx, file, func(line string) error {
				names.Learn(line)
				return nil
			})
			switch {
			case errors.Is(err, errNotText):
				left = append(left, notice.InFile(file, 0, notice.NotAnonymized{}))
			case err != nil:
				return nil, nil, err
			default:
				text = append(text, source{file, filepath.Join(top, below)})
			}
		}
	}
	for _, s := range text {
		if err := copyAnonymized(ctx, names, s.path, filepath.Join(dir, names.Replace(s.below))); err != nil {
			return nil, nil, err
		}
	}
	for i := range copies {
		copies[i] = filepath.Join(dir, names.Replace(copies[i]))
	}
	return copies, left, nil
}

var errNotText = errors.New("not text")

// eachLine calls f with each line of a text file, with its end. What is compressed with gzip is read through.
func eachLine(ctx context.Context, path string, f func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return input.ReadError(path, err)
	}
	defer file.Close()
	r := bufio.NewReaderSize(input.NewReader(ctx, file), 1<<20)
	if head, _ := r.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return input.ReadError(path, err)
		}
		r = bufio.NewReaderSize(z, 1<<20)
	}
	if head, _ := r.Peek(8 << 10); bytes.IndexByte(head, 0) >= 0 {
		return errNotText
	}
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			if err := f(line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return input.ReadError(path, err)
		}
	}
}

// copyAnonymized writes one copy.
func copyAnonymized(ctx context.Context, names *anonymize.Names, from, to string) error {
	if a, err := os.Stat(from); err == nil {
		if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
			return fmt.Errorf("%s would be replaced by its copy: name another folder with -o", from)
		}
	}
	return atomicfile.Write(ctx, []string{to}, func(w []io.Writer) error {
		return eachLine(ctx, from, func(line string) error {
			_, err := io.WriteString(w[0], names.Replace(line))
			return err
		})
	})
}
