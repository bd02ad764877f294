package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// reportPart reports on a million synthetic points, with all that is found in them.
func reportPart(c config) error {
	points, out := filepath.Join(c.work, "reported"), filepath.Join(c.work, "report")
	if _, err := start("go", "-C", c.top, "run", "./internal/tools/points", "-imported", "-n", fmt.Sprint(manyPoints),
		"-o", points); err != nil {
		return err
	}
	l, err := start(c.program("post"), "report", "-o", out, points)
	if err != nil {
		return err
	}
	c.manyPointsTable(l)
	files, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "\n%s: %s\n", f.Name(), megabytes(info.Size()))
	}
	return nil
}
