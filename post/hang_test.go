package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A verdict of any kind is exit code 0, and its JSON has the fixed form.
func TestHangJSON(t *testing.T) {
	const folder = "../examples/gpu-h200/hang"
	var out, notes bytes.Buffer
	if err := run(t.Context(), []string{"hang", "--format", "json", folder}, &out, &notes); err != nil {
		t.Fatal(err, notes.String())
	}
	var got struct {
		Kind    string
		Verdict map[string]any
		// each has a message and what it is about
		Evidence []struct {
			Code, Message string
			Location      struct{ File string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key := range got.Verdict {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if want := "code collective confidence group ranks sequence"; strings.Join(keys, " "+
		"") != want || got.Kind != "hang" ||
		got.Verdict["code"] != "rank-missing" || got.Verdict["sequence"] != 7.0 || len(got.Evidence) < 2 ||
		got.Evidence[0].Location.File != filepath.Join(folder, "nccl_trace_rank_0") || got.Evidence[0].Message == "" {
		t.Errorf("%s", out.String())
	}
}

// Without evidence the exit code is 2.
func TestHangWithoutEvidence(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "train.log"), []byte("step 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	err := run(t.Context(), []string{"hang", folder}, &out, &notes)
	if code := exitCode(err, &notes); code != codeNothing || out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, out.String(), notes.String())
	}
}

// Without a command, evidence of a hang is recognised by content, logs of NCCL beside it included.
func TestAnyFileRecognisesHang(t *testing.T) {
	folder := t.TempDir()
	err := errors.Join(os.CopyFS(folder, os.DirFS("../examples/gpu-h200/hang")), os.WriteFile(
		filepath.Join(folder, "nccl.log"), []byte("node7:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	if err := run(t.Context(), []string{folder}, &out, &notes); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.HasPrefix(text, "Rank 1 (vm) never called all_reduce #7") ||
		strings.Contains(text, "Findings") {
		t.Errorf("%s%s", text, notes.String())
	}
}
