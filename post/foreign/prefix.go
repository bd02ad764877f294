package foreign

import (
	"regexp"
	"strings"
)

// prefix matches what launchers and log collectors put before each line. The first group names the process: Open MPI,
// Slurm (srun -l), Hydra, torchrun, Kubernetes, Compose. The second does not: time stamps, a quoting mark. The third
// is that of parallel shells; it resembles other text, so it counts only before a comment or a row.
var prefix = regexp.MustCompile(`^(?:(` +
	`\[[^\]\s]*,\d+\]<std\w+>:? ?|` +
	` *\d+: ?|` +
	`\[(?:default)?\d+\](?:: ?| )|` +
	`\[pod/[^\]]+\] |` +
	`[\w./-]+ +\| ?` +
	`)|(` +
	`\w{3} \w{3} +\d+ [\d:]{8} \d{4}(?:<std\w+>:?|:) ?|` +
	`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]? |` +
	`> ?` +
	`)|([A-Za-z][\w.-]*: )\s*[#\d])`)

var colours = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// maxPrefixes is the maximum number of prefixes per line.
const maxPrefixes = 4

// unprefixed removes launcher prefixes from a line. Who identifies the line's process, without spaces.
func unprefixed(text string) (who, rest string) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\x00", ""), "\r\n ")
	text = colours.ReplaceAllString(text, "")
	for range maxPrefixes {
		m := prefix.FindStringSubmatch(text)
		if m == nil {
			break
		}
		who += m[1] + m[3]
		text = text[len(m[1]+m[2]+m[3]):]
	}
	return strings.ReplaceAll(who, " ", ""), text
}
