package strictyaml

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"
)

// Names lists the *.yaml files of a folder without their suffix, in alphabetical order.
func Names(files fs.FS) []string {
	names, _ := fs.Glob(files, "*.yaml") // the pattern is well formed, and nothing else fails
	for i, f := range names {
		names[i] = strings.TrimSuffix(f, ".yaml")
	}
	return names
}

// Find reads a file by its name in a folder or, when it is none of Names, by its path. It returns the name of the file
// and its text. An unknown name is a *coll.UnknownWordError, with the names of the folder and others; what a file can
// fail with is a *fs.PathError.
func Find(kind, nameOrPath string, files fs.FS, others ...string) (file string, text []byte, err error) {
	if text, err = fs.ReadFile(files, nameOrPath+".yaml"); err == nil {
		return nameOrPath + ".yaml", text, nil
	}
	text, err = os.ReadFile(nameOrPath)
	switch {
	case err == nil:
		return nameOrPath, text, nil
	case errors.Is(err, fs.ErrNotExist) && filepath.Base(nameOrPath) == nameOrPath && filepath.Ext(nameOrPath) == "":
		known := slices.Sorted(slices.Values(append(Names(files), others...)))
		return "", nil, fmt.Errorf("%w; a file of your own is named by its path, such as ./my.yaml",
			coll.Unknown(kind, nameOrPath, known))
	}
	return "", nil, fmt.Errorf("%s file: %w", kind, err)
}
