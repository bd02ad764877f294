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

// wrap breaks a text into lines of at most width characters, at spaces; a longer word has a line of its own, and no line begins with
// the % of a figure.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	words := strings.Fields(printable(text))
	for i := 0; i < len(words); i++ {
		word := words[i]
		if i+1 < len(words) && strings.HasPrefix(words[i+1], "%") {
			i++
			word += " " + words[i]
		}
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

// textOf is a fact in sentences: its message, which may begin with the name of a host, and its details.
func textOf(f notice.Fact) string {
	return strings.Join(append([]string{notice.Message(f) + "."}, notice.Details(f)...), " ")
}
