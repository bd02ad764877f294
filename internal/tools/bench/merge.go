package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// mergePart merges a million synthetic points.
func mergePart(c config) error {
	const points, seconds, most = 1_000_000, 30, 500e6
	dir := filepath.Join(c.work, "points")
	if _, err := start("go", "-C", c.top, "run", "./internal/tools/points", "-n", fmt.Sprint(points), "-o", dir); err != nil {
		return err
	}
	l, err := start(c.program("post"), "merge", "--include-rehearsed", "-o", filepath.Join(c.work, "merged"), dir)
	if err != nil {
		return err
	}
	table, err := os.ReadFile(filepath.Join(c.work, "merged", "merged.csv"))
	if err != nil {
		return err
	}
	if rows := bytes.Count(table, []byte("\n")) - 1; rows != points {
		return fmt.Errorf("merged.csv has %d rows, wanted %d", rows, points)
	}
	fmt.Fprintf(c.out, "| points | time | target | largest memory | target | on target |\n|---:|---:|---:|---:|---:|---|\n")
	fmt.Fprintf(c.out, "| %d | %.1f s | %s | %s | %s | %s |\n", points, l.wall.Seconds(), seconds*time.Second, megabytes(l.peak), megabytes(most),
		yes(l.wall <= seconds*time.Second && l.peak <= most))
	return nil
}
