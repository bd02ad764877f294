package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/post/hang/hangtest"
)

// A verdict of any kind is exit code 0, and its JSON has the fixed form.
func TestHangJSON(t *testing.T) {
	f := hangtest.NewFolder(t)
	all := hangtest.Call{Op: "all_reduce"}
	f.Dumps((&hangtest.Job{World: 4}).All(all, 5).Except(all, 2).Run())
	var out, notes bytes.Buffer
	if err := run(t.Context(), []string{"hang", "--format", "json", f.Path}, &out, &notes); err != nil {
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
		got.Verdict["code"] != "rank-missing" || got.Verdict["sequence"] != 6.0 || len(got.Evidence) < 2 ||
		got.Evidence[0].Location.File != filepath.Join(f.Path, "trace_0") || got.Evidence[0].Message == "" {
		t.Errorf("%s", out.String())
	}
}

// Without evidence the exit code is 2.
func TestHangWithoutEvidence(t *testing.T) {
	f := hangtest.NewFolder(t).File("train.log", "step 1\n")
	var out, notes bytes.Buffer
	err := run(t.Context(), []string{"hang", f.Path}, &out, &notes)
	if code := exitCode(err, &notes); code != codeNothing || out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, out.String(), notes.String())
	}
}

// Without a command, evidence of a hang is recognised by content, logs of NCCL beside it included.
func TestAnyFileRecognisesHang(t *testing.T) {
	f := hangtest.NewFolder(t)
	all := hangtest.Call{Op: "all_reduce"}
	dumps := (&hangtest.Job{World: 2}).All(all, 5).Except(all, 1).Run()
	f.File("a_0", string(dumps[0].Pickle())).File("a_1.json", string(dumps[1].JSON()))
	f.File("nccl.log", "node7:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n")
	var out, notes bytes.Buffer
	if err := run(t.Context(), []string{f.Path}, &out, &notes); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.HasPrefix(text, "Rank 1 never called all_reduce #6") ||
		strings.Contains(text, "Findings") {
		t.Errorf("%s%s", text, notes.String())
	}
}
