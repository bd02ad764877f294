package trace

import (
	"bytes"
	"path/filepath"
	"strings"

	"busbar/internal/units"
)

// reportMagic is the first bytes of Nsight Systems' own files.
var reportMagic = []byte("NVIDIA Tegra Profiler Report ")

// ReportError is the error for a file that only Nsight Systems can read.
type ReportError struct{ Path string }

func (e *ReportError) Error() string {
	return "a report of Nsight Systems, which Nsight Systems alone can read. Export it with the version that wrote " +
		"it or a newer one: " + ExportCommand(e.Path) +
		" (the blobs hold the sizes and communicators of NCCL's calls, which an export leaves out unless asked)"
}

// isReport detects a report by its first bytes or, because these may change, by its name.
func isReport(path string, head []byte) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return bytes.HasPrefix(head, reportMagic) || ext == ".nsys-rep" || ext == ".qdrep"
}

// ExportCommand returns the command that exports a report to SQLite with all tables needed here.
func ExportCommand(report string) string {
	out := strings.TrimSuffix(report, filepath.Ext(report)) + ".sqlite"
	return "nsys export --type=sqlite --include-blobs=true --force-overwrite=true --output=" + units.Shell(out, report)
}
