package main

import (
	"fmt"
	"strings"
)

// page writes a help text as a manual page in roff. Its first sentence becomes the NAME; a line at the margin that
// ends with a colon, or stands alone over indented lines, is a heading; indented lines are kept as they are.
func page(name, version, help string) string {
	var b strings.Builder
	firstVersion, _, _ := strings.Cut(version, "\n")
	summary, rest, _ := strings.Cut(help, "\n")
	if sentence, more, ok := strings.Cut(summary, ". "); ok {
		summary, rest = sentence, more+"\n"+rest
	}
	summary = strings.TrimPrefix(strings.TrimPrefix(summary, name), " ")
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"busbar\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), firstVersion,
		escape(name), escape(strings.TrimSuffix(strings.TrimSpace(summary), ".")))
	lines := strings.Split(strings.TrimSpace(rest), "\n")
	kept, section := false, false
	keep := func(on bool) {
		if on != kept {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[on])
		}
		kept = on
	}
	for i, line := range lines {
		line = strings.TrimRight(line, " ")
		switch {
		case line == "":
			if kept {
				b.WriteString(".sp\n")
			} else {
				b.WriteString(".PP\n")
			}
		case indented(line):
			keep(true)
			b.WriteString(escape(line) + "\n")
		case heading(lines, i):
			keep(false)
			fmt.Fprintf(&b, ".SH %s\n", escape(strings.ToUpper(strings.TrimSuffix(line, ":"))))
		default:
			keep(false)
			if !section {
				b.WriteString(".SH DESCRIPTION\n")
			}
			b.WriteString(escape(line) + "\n")
		}
		section = section || line != ""
	}
	keep(false)
	return b.String()
}

func indented(line string) bool { return line != strings.TrimLeft(line, " \t") }

func heading(lines []string, i int) bool {
	if indented(lines[i]) {
		return false
	}
	return strings.HasSuffix(lines[i], ":") || i+1 < len(lines) && indented(lines[i+1]) && (i == 0 || lines[i-1] == "")
}

// commands are the subcommands that a help text lists under a heading with the word commands; help and completion
// are left out.
func commands(help string) (names []string) {
	listed := false
	lines := strings.Split(help, "\n")
	for i, line := range lines {
		words := strings.Fields(line)
		switch {
		case line == "":
		case heading(lines, i):
			listed = strings.Contains(strings.ToLower(line), "commands")
		case listed && strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   "):
			if words[0] != "help" && words[0] != "completion" {
				names = append(names, words[0])
			}
		}
	}
	return names
}

var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`)

// escape protects what roff would read as a request or a special character.
func escape(s string) string {
	s = roff.Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}
