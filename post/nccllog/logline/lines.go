package logline

import (
	"bufio"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// maxLine is how much of a line is read; NCCL's own are at most a few kilobytes.
const maxLine = 1 << 20

// NextLine is the next line without its end, at most maxLine of it. Ended is false where the file ends before the line.
func NextLine(r *bufio.Reader) (line string, ended bool, err error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part[:min(len(part), maxLine-len(text))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return strings.TrimRight(string(text), "\r\n"), err == nil, err
	}
}

// colour is a colour without its escape character, which text pasted from a terminal lacks too.
var colour = regexp.MustCompile(`\[(\d{1,3}(;\d{1,3})*)?[mK]`)

// control removes the escape character of colours, and NUL bytes.
var control = strings.NewReplacer("\x00", "", "\x1b", "")

// Plain is a line as it was printed: without colours, without the object into which Docker's json-file driver puts it,
// and without what Ray puts behind a line of which it shows one for several workers.
func Plain(line string) string {
	var docker struct{ Log *string }
	if strings.HasPrefix(line, `{"log":"`) && json.Unmarshal([]byte(line), &docker) == nil && docker.Log != nil {
		line = strings.TrimRight(*docker.Log, "\r\n")
	}
	line = control.Replace(strings.ToValidUTF8(line, "\uFFFD"))
	if strings.Contains(line, "m") && strings.Contains(line, "[") {
		line = colour.ReplaceAllString(line, "")
	}
	if before, after, repeated := strings.Cut(line, " [repeated "); repeated &&
		strings.Contains(after, "x across cluster]") {
		return before
	}
	return line
}

// HeadBytes is the part of a file that detection needs.
const HeadBytes = 1 << 16
