package dl

import (
	"os"
	"path/filepath"
)

// Folders are where the libraries of busbar itself lie: those in BUSBAR_LIB, then lib beside the folder of the program,
// in it, and that folder.
func Folders() []string {
	dirs := filepath.SplitList(os.Getenv("BUSBAR_LIB"))
	beside := ProgramFolder()
	if beside == "" {
		return dirs
	}
	return append(dirs, filepath.Join(beside, "..", "lib"), filepath.Join(beside, "lib"), beside)
}

// ProgramFolder is the folder of this program without symbolic links; "" if it cannot be known.
func ProgramFolder() string {
	executable, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(executable); err == nil {
		executable = real
	}
	return filepath.Dir(executable)
}
