package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadText is the trimmed text of a small file, "" if it cannot be read.
func ReadText(root string, path ...string) string {
	b, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Exists reports whether there is a file or folder below root.
func Exists(root string, path ...string) bool {
	_, err := os.Stat(filepath.Join(append([]string{root}, path...)...))
	return err == nil
}

// ReadNumber is the number in a small file; false if it has none ("max", no such file).
func ReadNumber(root string, path ...string) (int64, bool) {
	n, err := strconv.ParseInt(ReadText(root, path...), 10, 64)
	return n, err == nil
}

// Field is the value of the first line "key: value" or "key value" of a text, or "".
func Field(text, key string) string {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), key)
		if !ok || rest == "" {
			continue
		}
		value := strings.TrimLeft(rest, " \t")
		if after, colon := strings.CutPrefix(value, ":"); colon {
			return strings.TrimSpace(after)
		}
		if value != rest && !strings.Contains(line, ":") {
			return value
		}
	}
	return ""
}

// kilobytes turns "24684084 kB" of /proc into bytes; false if it is not such a value.
func kilobytes(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	return n << 10, err == nil
}
