package main

import (
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"
)

// A library that is not quite NCCL: every difference is reported.
func TestReportsDifferences(t *testing.T) {
	dir := filepath.Dir(needs.SharedLibrary(t, "libnccl.so.2", "", "-DVERSION=22605", "-DNCCLX", "-I../../../cudart",
		"-Wno-stringop-truncation", "../../../cudart/nccl/testdata/fake.c"))
	var stdout, stderr strings.Builder
	err := run([]string{"-header", "-name", "a fake", "-version", "2.26.5", "-cuda", "12", dir}, &stdout, &stderr)
	if err == nil {
		t.Fatal("a fake passes for NCCL")
	}
	for _, want := range []string{"ncclAlltoAll: the table has it since version code 22800, and it is there: true",
		`reports CUDA ""`,
		"ncclGetErrorString", "plain NCCL is detected as NCCLX"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "ncclCommSplit") {
		t.Errorf("a function that is where it should be:\n%v", err)
	}
	rows := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(rows) != 2 || !strings.HasPrefix(rows[1], "a fake ") || !strings.Contains(rows[1], "2.26.5") ||
		!strings.HasSuffix(rows[1], "not looked at without a GPU") {
		t.Errorf("rows %q", rows)
	}
	if err := run([]string{"-version", "2.26.4", dir}, &stdout, &stderr); err == nil ||
		!strings.Contains(err.Error(), "but is NCCL 2.26.4") {
		t.Errorf("another version: %v", err)
	}
	for _, args := range [][]string{{}, {"/nowhere/libnccl.so.2"}, {"-no-such-flag"}} {
		if run(args, &stdout, &stderr) == nil {
			t.Errorf("%q is no error", args)
		}
	}
	if err := run([]string{"-header"}, &stdout, &stderr); err != nil {
		t.Error(err)
	}
}
