package main

import (
	"fmt"
	"path/filepath"
)

// Small files: as many as a year of short launches leaves.
const (
	smallFiles      = 10_000
	smallFilePoints = 10
	leastFiles      = 2000 // that are merged in a second
	smallFileRounds = 3
)

// smallFilesPart merges many small files, in turns with a program that does nothing but read them.
func smallFilesPart(c config) error {
	dir, out := filepath.Join(c.work, "small"), filepath.Join(c.work, "mergedsmall")
	if _, err := start("go", "-C", c.top, "run", "./internal/tools/points", "-n", fmt.Sprint(smallFiles*smallFilePoints),
		"-files", fmt.Sprint(smallFiles), "-o", dir); err != nil {
		return err
	}
	var best, peer launched
	for range smallFileRounds {
		p, err := start("sh", "-c", `exec find "$1" -type f -exec cat {} + >/dev/null`, "sh", dir)
		if err != nil {
			return err
		}
		l, err := start(c.program("post"), "merge", "--include-rehearsed", "-o", out, dir)
		if err != nil {
			return err
		}
		best, peer = faster(best, l), faster(peer, p)
	}
	perSecond := float64(smallFiles) / best.wall.Seconds()
	fmt.Fprintf(c.out, "The fastest of %d, in turns with cat.\n\n| files | points | time | processor time | cat of the "+
		"same files | files a second | target | largest memory | on target "+
		"|\n|---:|---:|---:|---:|---:|---:|---:|---:|---|\n", smallFileRounds)
	fmt.Fprintf(c.out, "| %d | %d | %s | %s | %s | %.0f | %d | %s | %s |\n", smallFiles, smallFiles*smallFilePoints,
		seconds(best.wall.Seconds()), seconds(best.cpu.Seconds()),
		seconds(peer.wall.Seconds()), perSecond, leastFiles, megabytes(best.peak), yes(perSecond >= leastFiles))
	return nil
}

func faster(a, b launched) launched {
	if a.wall == 0 || b.wall < a.wall {
		return b
	}
	return a
}
