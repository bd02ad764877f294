package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/campaigndoc"
)

const twoByTwo = `name: trial
launches: 2
nodes: [1, 2]
seed: 7
flags: --backend mpi
variants: {x: {a: , b: }}
sbatch: {time: "00:30:00"}
`

// TestCampaignJSON checks the facts of a campaign with a launch in each state.
func TestCampaignJSON(t *testing.T) {
	dir := t.TempDir()
	plan, out := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(plan, []byte(twoByTwo), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"campaign", "begin", "--out", out, plan}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	fixtures["tiny"].save(t, filepath.Join(out, "nodes1/launch1/a"))
	fixtures["interrupted"].save(t, filepath.Join(out, "nodes1/launch1/b"))
	partly := fixtures["tiny"]
	partly.edit = func(_ *result.Run, records []*result.Record, _ *result.End) { records[1].Status = result.Wrong }
	partly.save(t, filepath.Join(out, "nodes1/launch2/b"))
	write(t, filepath.Join(out, "nodes2/launch1/a/refused.txt"), []byte("code 2 in job 7\n"))
	show := func(args ...string) (d campaignJSON, code int) {
		var stdout, stderr bytes.Buffer
		args = append([]string{"campaign", "show", "--format", "json", "--out", out, plan}, args...)
		code = exitCode(run(t.Context(), args, &stdout, &stderr), &stderr)
		if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
			t.Fatalf("%v: %s%s", err, &stdout, &stderr)
		}
		return d, code
	}
	d, code := show("--queued", "2:2", "--order")
	states := []campaigndoc.StateCounts{
		{Nodes: 1, Variant: "a", Done: 1, Missing: 1},
		{Nodes: 1, Variant: "b", Done: 1, Unfinished: 1},
		{Nodes: 2, Variant: "a", Queued: 1, Missing: 1},
		{Nodes: 2, Variant: "b", Queued: 1, Missing: 1},
	}
	if code != 0 || d.Schema != 2 || d.Kind != "campaign" || d.Folder != out || d.Seed != 7 ||
		!reflect.DeepEqual(d.States, states) {
		t.Errorf("exit %d: %+v", code, d)
	}
	l := d.Launches[1]
	if len(d.Launches) != 8 || l.Launch != "nodes1/launch1/b" || l.State != "unfinished" || l.Points != 16 {
		t.Errorf("%d launches; %+v", len(d.Launches), l)
	}
	if len(d.Order) != 4 || len(d.Order[0].Variants) != 2 {
		t.Errorf("order: %+v", d.Order)
	}
	want := []located{
		{"nodes1/launch1/b", notice.LaunchStopped{Outcome: "interrupted", Exit: 143,
			Cause: notice.Kept{Fact: notice.RunSignalled{Signal: "SIGTERM"}}, Points: 16}},
		{"nodes1/launch2/b", notice.LaunchPointsFailed{Failed: 1, Points: 4}},
		{"nodes2/launch1/a", notice.LaunchRefused{Reason: "code 2 in job 7"}},
		{"", notice.CampaignJobs{
			Queue: true, Jobs: 3, Limit: "00:30:00",
		}},
	}
	if got := d.facts(t); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if _, code := show("--fail-on", "error", "--ignore", "launch-refused,launch-points-failed"); code != 0 {
		t.Errorf("exit %d without errors", code)
	}
	if _, code := show("--fail-on", "error"); code != codeExceeded {
		t.Errorf("exit %d with errors", code)
	}
}

// campaignJSON is the document as a script reads it.
type campaignJSON struct {
	Schema   int
	Kind     string
	Folder   string
	Seed     int
	States   []campaigndoc.StateCounts
	Launches []struct {
		Launch, State string
		Points        int
	}
	Order   []campaigndoc.JobJSON
	Notices []json.RawMessage
}

// located is a notice with its subject.
type located struct {
	subject string
	fact    notice.Fact
}

func (d *campaignJSON) facts(t *testing.T) (all []located) {
	t.Helper()
	for _, text := range d.Notices {
		var n struct{ Location notice.Location }
		var k notice.Kept
		if err := errors.Join(json.Unmarshal(text, &n), json.Unmarshal(text, &k)); err != nil {
			t.Fatal(err)
		}
		all = append(all, located{n.Location.Subject, k.Fact})
	}
	return all
}
