// Package title names tables and ratios the same way in all output of post.
package title

import "busbar/internal/coll"

// Placement is the word of nccl-tests' heading.
func Placement(p coll.Placement) string {
	if p == coll.InPlace {
		return "in-place"
	}
	return "out-of-place"
}

// KnownPlacement is that word, or "" where the placement is not known.
func KnownPlacement(p coll.Placement) string {
	return Known(p != 0, func() string { return Placement(p) })
}

// Known returns a word, or "" where it is not known: another tool's file may lack it.
func Known(known bool, word func() string) string {
	if !known {
		return ""
	}
	return word()
}
