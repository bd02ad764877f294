package main

import (
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
)

func addWord(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// printable keeps what files say from steering the terminal; lines stay lines.
func printable(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = result.Printable(line)
	}
	return strings.Join(lines, "\n")
}

// textOf is a fact in sentences: its message, which may begin with the name of a host, and its details.
func textOf(f notice.Fact) string {
	return strings.Join(append([]string{notice.Message(f) + "."}, notice.Details(f)...), " ")
}
