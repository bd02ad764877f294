package foreign

import (
	"regexp"
	"strings"
)

// prefixes are what launchers and log collectors put before each line: Open MPI, Slurm (srun -l), Hydra, torchrun,
// Kubernetes, Compose, time stamps, a quoting mark.
var prefixes = []struct {
	re    *regexp.Regexp
	stamp bool // says when, not who
}{
	{regexp.MustCompile(`^\[[^\]\s]*,\d+\]<std\w+>:? ?`), false},
	{regexp.MustCompile(`^\w{3} \w{3} +\d+ [\d:]{8} \d{4}(<std\w+>:?|:) ?`), true},
	{regexp.MustCompile(`^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?\]? `), true},
	{regexp.MustCompile(`^ *\d+: ?`), false},
	{regexp.MustCompile(`^\[\d+\] `), false},
	{regexp.MustCompile(`^\[default\d+\]: ?`), false},
	{regexp.MustCompile(`^\[pod/[^\]]+\] `), false},
	{regexp.MustCompile(`^[\w./-]+ +\| ?`), false},
	{regexp.MustCompile(`^> ?`), true},
}

// labelled is a line whose prefix begins with a space: others that do are rows.
var labelled = regexp.MustCompile(`^ *\d+:`)

// hostPrefix is that of parallel shells, which looks like the beginning of many a line: it counts only where a comment
// or a row comes behind it.
var hostPrefix = regexp.MustCompile(`^[A-Za-z][\w.-]*: (\s*[#\d].*)$`)

var colours = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// maxPrefixes is how many prefixes may stand before one line.
const maxPrefixes = 4

// unprefixed removes what launchers put before a line. Who identifies the line's process, without
// spaces.
func unprefixed(text string) (who, rest string) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\x00", ""), "\r\n ")
	if strings.Contains(text, "\x1b") {
		text = colours.ReplaceAllString(text, "")
	}
	for range maxPrefixes {
		if text == "" || text[0] == '#' || text[0] == ' ' && !labelled.MatchString(text) {
			break
		}
		found := false
		for _, p := range prefixes {
			if m := p.re.FindString(text); m != "" {
				if !p.stamp {
					who += m
				}
				text, found = text[len(m):], true
				break
			}
		}
		if !found {
			break
		}
	}
	if text == "" || text[0] == '#' || text[0] == ' ' {
		return strings.ReplaceAll(who, " ", ""), text
	}
	if m := hostPrefix.FindStringSubmatch(text); m != nil {
		who, text = who+strings.TrimSuffix(text, m[1]), m[1]
	}
	return strings.ReplaceAll(who, " ", ""), text
}
