package result

import (
	"slices"
	"strconv"
	"strings"

	"busbar/internal/units"
)

// markdownColumns are the columns of the merged table that its Markdown form has.
var markdownColumns = []string{"backend", "world", "collective", "type", "op", "placement", "mode", "size_bytes",
	"time_s", "time_lo_s", "time_hi_s", "algbw_GBps", "busbw_GBps", "check", "status", "reason", "warnings"}

func markdownHead() string {
	return "| " + strings.Join(markdownColumns, " | ") + " |\n" + strings.Repeat("|---", len(markdownColumns)) + "|\n"
}

func (c cells) markdown(b []byte) []byte {
	for _, column := range c {
		if !slices.Contains(markdownColumns, column.name) {
			continue
		}
		text := column.text
		if x, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".e") {
			text = strconv.FormatFloat(x, 'g', 5, 64)
		}
		b = append(append(append(b, "| "...), units.Markdown(text)...), ' ')
	}
	return append(b, "|\n"...)
}
