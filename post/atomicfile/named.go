package atomicfile

import (
	"context"
	"io"
	"path/filepath"
)

// Named is a file to write into a folder.
type Named struct {
	Name  string
	Write func(io.Writer) error
}

// WriteAll writes files into a folder, one after the other, and calls wrote with the path of each.
func WriteAll(ctx context.Context, folder string, files []Named, wrote func(path string)) error {
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		if err := Write(ctx, []string{path}, func(w []io.Writer) error { return f.Write(w[0]) }); err != nil {
			return err
		}
		wrote(path)
	}
	return nil
}
