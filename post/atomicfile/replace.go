package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// headBytes is the part of a file that identifies it as one of ours: each names the tool near its beginning.
const headBytes = 64 << 10

// MayReplace returns the error of a file in a folder that the tool did not write: people give their own files the names
// of ours.
func MayReplace(folder, tool string, names ...string) error {
	for _, name := range names {
		if err := mayReplace(filepath.Join(folder, name), tool); err != nil {
			return err
		}
	}
	return nil
}

func mayReplace(path, tool string) error {
	f, err := os.Open(path)
	// it does not exist; a path that is not a folder fails when it is written
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil { // writing would put another in its place
		return fmt.Errorf("whether post wrote this cannot be seen, and it stays as it is: %w; write into another "+
			"folder "+
			"(-o DIR), or give that file another name", err)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headBytes))
	if errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("%s is a folder: name a file", path)
	}
	if err != nil || len(head) == 0 {
		return nil
	}
	// of a line of the text or of a sweep, of an attribute of the page, of the JSON
	for _, begin := range []string{"\n", "# ", `content="`, `"tool": "`} {
		if bytes.Contains(head, []byte(begin+tool+" ")) {
			return nil
		}
	}
	return fmt.Errorf(
		"%s was not written by post and stays as it is; write into another folder (-o DIR), or give that "+
			"file another name",
		path,
	)
}
