package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	linesSuffix = ".jsonl"
	ranksSuffix = "_ranks.jsonl"
	textSuffix  = ".txt"
)

// fileName is the name of a run's file; names of one backend and world, and of one kind of run, sort by time.
func fileName(run *Run, at time.Time) string {
	stamp := strings.Replace(at.UTC().Format("20060102T150405.000Z"), ".", "", 1)
	kind := "profile"
	if run.Step != nil {
		kind = "step"
	}
	return fmt.Sprintf("%s_%s_world%d_%s%s%s", kind, run.Backend.Name, run.World, stamp, jobAndStep(run.Slurm),
		linesSuffix)
}

// jobAndStep is what Slurm calls the step that a run belongs to: "_job42.0", "_job42" in a batch script, "" without
// Slurm.
func jobAndStep(slurm map[string]string) string {
	const special = 0xfffffff0 // from here on a number is that of a batch script, a shell, …
	job, err := strconv.ParseUint(slurm["SLURM_JOB_ID"], 10, 32)
	if err != nil {
		return ""
	}
	if step, err := strconv.ParseUint(slurm["SLURM_STEP_ID"], 10, 32); err == nil && step < special {
		return fmt.Sprintf("_job%d.%d", job, step)
	}
	return fmt.Sprintf("_job%d", job)
}

// freshName calls make with the run's name in dir, and with that of the next milliseconds as long as a file of that
// name is there already: two runs that start at once get a file each.
func freshName(dir string, run *Run, create func(path string) error) error {
	const tries = 10000
	var err error
	for i := range tries {
		path := filepath.Join(dir, fileName(run, run.Start.Add(time.Duration(i)*time.Millisecond)))
		if err = create(path); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("no free name after %d: %w", tries, err)
}

// beside is the path of a file that goes with the run's file.
func beside(path, suffix string) string { return strings.TrimSuffix(path, linesSuffix) + suffix }

// FolderError reports a folder that cannot take results.
type FolderError struct {
	Folder string
	Err    error
}

func (e *FolderError) Error() string {
	problem, _, remedy := e.Explain()
	return problem + "; " + remedy
}

// Explain returns what failed and what to do.
func (e *FolderError) Explain() (problem string, tried []string, remedy string) {
	return fmt.Sprintf("results folder %s: %v", e.Folder, e.Err), nil, "name another with --out"
}

func (e *FolderError) Unwrap() error { return e.Err }

// CheckDir checks that results can be written into dir, which need not exist yet, and leaves nothing behind. The error
// is a *FolderError.
func CheckDir(dir string) error {
	at, err := filepath.Abs(dir)
	if err != nil {
		return &FolderError{dir, err}
	}
	for {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return &FolderError{dir, fmt.Errorf("%s is a file, not a folder", at)}
		case err == nil:
			if err := probe(at); err != nil {
				return &FolderError{dir, fmt.Errorf("cannot write into %s: %w", at, plain(err))}
			}
			return nil
		case filepath.Dir(at) == at || !errors.Is(err, fs.ErrNotExist) && !isNotDir(err):
			return &FolderError{dir, err}
		}
		at = filepath.Dir(at)
	}
}

// probe writes a few bytes into dir, syncs them and removes them.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, ".busbar-probe-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}
