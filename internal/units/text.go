package units

import (
	"fmt"
	"strings"
	"unicode"
)

// Printable is text without control characters, which could steer a terminal or reverse what follows.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", `\<`, "](", `]\(`, "\r\n", " ", "\n", " ")

// Markdown is a text that Markdown shows as it is, also in a cell of a table.
func Markdown(text string) string { return Printable(markdownEscapes.Replace(text)) }

// Truncate returns the first limit bytes of a text, followed by an ellipsis if that cuts it.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// Grouped writes a number with commas.
func Grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
