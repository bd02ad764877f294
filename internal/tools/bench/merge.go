package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// What a million points may take.
const (
	manyPoints  = 1_000_000
	mostSeconds = 30
	mostMemory  = 500e6
)

// mergePart merges a million synthetic points.
func mergePart(c config) error {
	const points = manyPoints
	dir := filepath.Join(c.work, "points")
	if _, err := start("go", "-C", c.top, "run", "./internal/tools/points", "-n", fmt.Sprint(points), "-o",
		dir); err != nil {
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
	c.manyPointsTable(l)
	return nil
}

func (c config) manyPointsTable(l launched) {
	fmt.Fprintf(c.out, "| points | time | target | processor time | largest memory | target | on target "+
		"|\n|---:|---:|---:|---:|---:|---:|---|\n")
	fmt.Fprintf(c.out, "| %d | %.1f s | %s | %.1f s | %s | %s | %s |\n", manyPoints, l.wall.Seconds(),
		mostSeconds*time.Second, l.cpu.Seconds(), megabytes(l.peak), megabytes(mostMemory),
		yes(l.wall <= mostSeconds*time.Second && l.peak <= mostMemory))
}

// comparePart compares a million synthetic points: fifty launches a side that took turns.
func comparePart(c config) error {
	all, sides := filepath.Join(c.work, "sides"), [2]string{filepath.Join(c.work, "sideA"), filepath.Join(c.work, "sideB")}
	if _, err := start("go", "-C", c.top, "run", "./internal/tools/points", "-n", fmt.Sprint(manyPoints), "-o",
		all); err != nil {
		return err
	}
	files, err := os.ReadDir(all)
	if err != nil {
		return err
	}
	for i, f := range files {
		dir := sides[i%2]
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(all, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	l, err := start(c.program("post"), "compare", sides[0], sides[1])
	if err != nil {
		return err
	}
	c.manyPointsTable(l)
	return nil
}
