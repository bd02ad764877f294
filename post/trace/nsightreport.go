package trace

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
)

// reportMagic begins Nsight Systems' own files.
var reportMagic = []byte("NVIDIA Tegra Profiler Report ")

// ReportError is the error of a file that only Nsight Systems itself can read.
type ReportError struct{ Path string }

func (e *ReportError) Error() string {
	return "a report of Nsight Systems, which Nsight Systems alone can read. Export it with the version that wrote " +
		"it or a newer one: " + ExportCommand(e.Path) +
		" (the blobs hold the sizes and communicators of NCCL's calls, which an export leaves out unless asked)"
}

// isReport tells a report by how it begins, or, as that may change, by its name.
func isReport(path string, head []byte) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return bytes.HasPrefix(head, reportMagic) || ext == ".nsys-rep" || ext == ".qdrep"
}

// ExportCommand is the command that makes a SQLite export of a report with everything that is read from it.
func ExportCommand(report string) string {
	out := strings.TrimSuffix(report, filepath.Ext(report)) + ".sqlite"
	return "nsys export --type=sqlite --include-blobs=true --force-overwrite=true --output=" +
		shellWord(out) + " " + shellWord(report)
}

// special are characters that a shell does not take as they are.
var special = regexp.MustCompile(`[^\pL\d%+,./:=@_-]`)

// shellWord is a word as a shell takes it.
func shellWord(s string) string {
	if special.MatchString(s) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
