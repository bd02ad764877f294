package main

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// shown is the stdout of post show, with its exit code.
func shown(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var stdout bytes.Buffer
	code := exitCode(run(t.Context(), append([]string{"show"}, args...), &stdout, io.Discard), io.Discard)
	return stdout.String(), code
}

// kept is a fact in the JSON of a document.
type kept struct {
	Code       notice.Code
	Parameters json.RawMessage
}

// shownJSON is what tests read of the JSON of post show.
type shownJSON struct {
	Schema  int
	Notices []struct {
		Code string
	}
	Runs []struct {
		File    string
		Outcome string
		Cause   *kept
		Left    int `json:"points_left"`
		Points  map[result.Status]int
		Tables  []struct {
			Points []struct {
				Notices []kept
				Cause   kept
			}
		}
	}
}

// The JSON has the facts behind the text: points' notices and missing values, and how runs ended.
func TestShowJSONHasFacts(t *testing.T) {
	for name, want := range map[string]struct{ outcome, cause, notices, reason string }{
		"gloo4":       {"complete", "", "oversubscribed", ""},
		"interrupted": {"interrupted", "run-signalled", "", ""},
		"problems":    {"aborted", "recorded-warning", "", "recorded-warning"},
	} {
		dir := t.TempDir()
		fixtures[name].save(t, dir)
		text, _ := shown(t, "--format", "json", dir)
		var got shownJSON
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Runs) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		r, notices, reasons := got.Runs[0], map[notice.Code]int{}, map[notice.Code]int{}
		n := 0
		for _, table := range r.Tables {
			for _, p := range table.Points {
				n++
				reasons[p.Cause.Code]++
				for _, k := range p.Notices {
					notices[k.Code]++
				}
			}
		}
		if cause := r.Cause; r.Outcome != want.outcome || (cause != nil) != (want.cause != "") ||
			cause != nil && string(cause.Code) != want.cause {
			t.Errorf("%s: outcome %s, cause %+v", name, r.Outcome, cause)
		}
		if got.Schema != 2 || name == "gloo4" && (len(got.Notices) != 1 || got.Notices[0].Code != "oversubscribed") {
			t.Errorf("%s: schema %d, notices %+v", name, got.Schema, got.Notices)
		}
		if want.notices != "" && notices[notice.Code(want.notices)] != n ||
			want.reason != "" && reasons[notice.Code(want.reason)] == 0 {
			t.Errorf("%s: notices %v, reasons %v of %d points", name, notices, reasons, n)
		}
		if all := r.Points[result.OK] + r.Points[result.Skipped]; all == 0 {
			t.Errorf("%s: points %v", name, r.Points)
		}
	}
}

