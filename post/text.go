package main

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// count is a number and its noun: 1 run, 2 launches.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// some lists up to eight words and counts the rest.
func some(words []string) string {
	if n := len(words) - 8; n > 0 {
		return strings.Join(words[:8], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(words, ", ")
}

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

// wrap breaks a text into lines of at most width characters, at spaces; a longer word has a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(printable(text)) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// placement is the word of nccl-tests' heading.
func placement(p coll.Placement) string {
	if p == coll.InPlace {
		return "in-place"
	}
	return "out-of-place"
}
