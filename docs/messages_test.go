package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreign are messages of other programs, and words that the source puts together from parts.
var foreign = []string{
	"There are not enough slots available", "mpirun has detected an attempt to run as root",
	"MPI_ABORT was invoked on rank",
	"signal arrived during cgo execution", "the ranks have different builds of rank",
	"the ranks have different MPI libraries",
	"the ranks have different command lines", "ncclCommInitRank failed", "ncclGetUniqueId failed",
	"MPI_Init_thread failed",
	"on its stream: CUDA_ERROR_", "--register buffer", "--register window",
	"unknown sweep", "unknown word for --by", "unknown side", "unknown layout", "unknown key", "unknown command",
	"has no nccl", "still at iteration", "there is no folder ./results",
	"the run was aborted", "busbar-run:", "the run was interrupted", "the CUDA driver is too old",
	"cannot be used: cuInit:",
	"the CUDA driver cannot be loaded: libcuda.so.1 was not found",
	"cannot find the simulation's libraries (rehearsal/libcuda.so.1) in",
}

// source is every program text of the repository, without tests, as one.
func source(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "docs" ||
			name == "dist") {
			return filepath.SkipDir
		}
		texts := name == "catalogue.txt" || name == "causes.txt" || name == "tips.txt"
		if ext := filepath.Ext(name); d.IsDir() || !texts && ext != ".go" && ext != ".c" && ext != ".sh" ||
			strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if texts {
			b = bytes.ReplaceAll(b, []byte("\n\t"), []byte(" "))
		}
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	joined := regexp.MustCompile(`" ?\+\s+"`).ReplaceAllString(all.String(), "") // sentences over several lines
	return strings.ReplaceAll(joined, `\"`, `"`)
}

// firstCell returns the quoted text in a row's first column.
var firstCell = regexp.MustCompile("(?m)^(`[^|]*`) \\| ")

// TestMessagesExist checks that the programs print the messages quoted in headings and first columns of the
// troubleshooting page. "…" replaces the variable part of a message.
func TestMessagesExist(t *testing.T) {
	text := source(t)
	quoted := regexp.MustCompile("`([^`]+)`")
	found := 0
	page := read(t, "docs/troubleshooting.md")
	places := heading.FindAllStringSubmatch(page, -1)
	places = append(places, firstCell.FindAllStringSubmatch(page, -1)...)
	for _, m := range places {
		for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
			found++
			for part := range strings.SplitSeq(q[1], "…") {
				if part = strings.TrimSpace(part); !isForeign(q[1]) && !strings.Contains(text, part) {
					t.Errorf("no program prints %q", part)
				}
			}
		}
	}
	if found < 90 {
		t.Errorf("only %d messages are quoted", found)
	}
}

func isForeign(message string) bool {
	for _, f := range foreign {
		if strings.Contains(message, f) {
			return true
		}
	}
	return false
}
