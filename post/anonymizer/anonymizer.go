// Package anonymizer copies text files with hosts, addresses and users replaced.
package anonymizer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"busbar/internal/anonymize"
	"busbar/internal/notice"
	"busbar/post/atomicfile"
	"busbar/post/input"
)

// Copy copies files and folders into dir with their names replaced, and returns the paths of the copies, and what
// was left out because it is not text.
func Copy(ctx context.Context, dir string, paths []string) (copies []string, left []notice.Notice, err error) {
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
		files, _, err := input.Expand(path)
		if err != nil {
			return nil, nil, err
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
	r, err := input.Unpacked(input.NewReader(ctx, file), 1<<20)
	if err != nil {
		return input.ReadError(path, err)
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
