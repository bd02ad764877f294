package main

import (
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// A library that is not quite NCCL: every difference is reported.
func TestReportsDifferences(t *testing.T) {
	dir := filepath.Dir(needs.SharedLibrary(t, "libnccl.so.2", "", "-DVERSION=22605", "-DNCCLX", "-I../../../cudart",
		"-Wno-stringop-truncation", "../../../cudart/nccl/testdata/fake.c"))
	var stdout, stderr strings.Builder
	err := run([]string{"-header", "-name", "a fake", "-version", "2.26.5", "-cuda", "12", dir}, &stdout, &stderr)
	must.Error(t, err)
	for _, want := range []string{"ncclAlltoAll: the table has it since version code 22800, and it is there: true",
		`reports CUDA ""`,
		"ncclGetErrorString", "plain NCCL is detected as NCCLX"} {
		test.ErrorContains(t, err, want)
	}
	if strings.Contains(err.Error(), "ncclCommSplit") {
		t.Errorf("a function that is where it should be:\n%v", err)
	}
	rows := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(rows) != 2 || !strings.HasPrefix(rows[1], "a fake ") || !strings.Contains(rows[1], "2.26.5") ||
		!strings.HasSuffix(rows[1], "not looked at without a GPU") {
		t.Errorf("rows %q", rows)
	}
	test.ErrorContains(t, run([]string{"-version", "2.26.4", dir}, &stdout, &stderr), "but is NCCL 2.26.4")
	for _, args := range [][]string{{}, {"/nowhere/libnccl.so.2"}, {"-no-such-flag"}} {
		if run(args, &stdout, &stderr) == nil {
			t.Errorf("%q is no error", args)
		}
	}
	test.NoError(t, run([]string{"-header"}, &stdout, &stderr))
}
