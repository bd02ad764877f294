package main

import (
	"slices"
	"strings"

	"busbar/internal/notice"
)

func addWord(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// textOf is a fact in sentences: its message, which may begin with the name of a host, and its details.
func textOf(f notice.Fact) string {
	return strings.Join(append([]string{notice.Message(f) + "."}, notice.Details(f)...), " ")
}
