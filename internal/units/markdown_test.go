package units

import (
	"testing"
)

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"too \"large\" by far":   `too "large" by far`,
		"NCCL_ALGO=<unset>":      `NCCL_ALGO=\<unset>`,
		`a|b`:                    `a\|b`,
		`a\|b`:                   `a\\\|b`,
		"two\r\nlines\nor three": "two lines or three",
		"\x1b[31mred\u202e":      "\uFFFD[31mred\uFFFD",
		"节点 é":                   "节点 é",
		"[x](http://x)":          `[x]\(http://x)`,
	} {
		if got := Markdown(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
