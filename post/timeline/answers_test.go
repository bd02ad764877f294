package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
)

func (t *Timeline) answer(key string) Answer {
	i := slices.IndexFunc(t.Answers, func(a Answer) bool { return a.Key == key })
	return t.Answers[i]
}

func TestAnswers(t *testing.T) {
	yes, no := true, false
	late := compared(job{ranks: 4, steps: 5, sizes: mib(25), pure: msec, work: late}.ranksOf()...)
	slow := healthy()
	slow.Devices[0].Shared = []SharedStream{{ID: 7, OfComm: 100, OfCompute: 90}}
	slow.Devices[1].Shared = slow.Devices[0].Shared
	slow.review()
	well := healthy()
	well.review()
	even := healthy()
	even.Across.Waiting, even.Across.Ranks[0].Compute = 0, 0
	even.review()
	long := healthy()
	long.Devices[1].seen[0].end = 60e9
	long.review()
	alone := &Timeline{Devices: []Device{{Kernels: 5, World: 1, Label: "device 0", Parts: Parts{Span: 10, Compute: 8, Idle: 2}}}}
	alone.review()
	two := &Timeline{Devices: []Device{{Kernels: 5, World: 2, Label: "rank 0", Parts: Parts{Span: 10, Compute: 8, Idle: 2}}}}
	two.review()
	none := &Timeline{}
	none.review()
	for _, c := range []struct {
		name string
		of   *Timeline
		key  string
		want string
		met  *bool
	}{
		{"healthy", well, "how-long", `"comm_s":0.02,"compute_s":0.097,"share_pct":20.6`, nil},
		{"healthy", well, "how-long", `"all_reduce":{"time_s":0.02,"share_pct":20.61855670103093,"all":true`, nil},
		{"healthy", well, "overlap", `"verdict":"partly","overlap_pct":95,"median":{"n":2,"unit":"GPU"},"gradients_pct":95`, nil},
		{"healthy", well, "overlap", `"idle_pct":2`, nil},
		{"healthy", well, "balance", `"verdict":true,"least_s":0.4,"least_on":"rank 0","most_s":0.404,"most_on":"rank 1","over_mean_pct":0.49`, nil},
		{"healthy", well, "balance", `"worst_step_pct":2,`, nil},
		{"healthy", well, "balance", `"worst_step":"ProfilerStep#1","worst_step_on":"rank 1"`, nil},
		{"healthy", well, "identify", `"verdict":true,"calls":100,"devices":{"n":2,"unit":"GPU"},"kinds":["all_reduce"]`, &yes},
		{"healthy", well, "overhead", `"exposed_pct":1,"comm_pct":20,"per":"step","median":{"n":2,"unit":"GPU"},"waiting_pct":5`, &yes},
		{"healthy", well, "overlap-found", `"hidden_s":0.019,"comm_s":0.02,"exposed_s":0.001,"per":"step"}`, &yes},
		{"healthy", well, "improve", `no-improvement`, nil},
		{"healthy", well, "time-outs", `{"longest_s":0.002,"call":"rank 0"}`, nil},
		{"a call of a minute", long, "time-outs", `"near":true`, nil},
		{"one stream", slow, "overlap-found", `"shared_streams_pct":100,"streams":[7]`, &yes},
		{"late", late, "overlap", `"verdict":"no","overlap_pct":0,`, nil},
		{"late", late, "overlap", `"gradients_pct":0,`, nil},
		{"nobody waits", even, "overhead", `"waiting_pct":0`, &yes},
		{"nobody waits", even, "balance", `"waiting_s":0,"pure_s":0.`, nil},
		{"a rank computes nothing", even, "balance", `"least_s":0,"least_on":"rank 0"`, nil},
		{"late", late, "balance", `"verdict":false,"least_s":0.025,"least_on":"rank 0","most_s":0.04,"most_on":"rank 2","over_mean_pct":39.1`, nil},
		{"late", late, "balance", `"straggler":"rank 2"`, nil},
		{"late", late, "improve", `"first":{"code":"straggler"`, &yes},
		{"late", late, "improve", `"gain_s":0.003,"per":"step"`, &yes},
		{"late", late, "time-outs", `{"longest_s":0.004,"call":"rank 0"}`, nil},
		{"one rank", alone, "how-long", `computation-alone {"compute_s":0.008,"per":"recording"`, nil},
		{"one rank", alone, "identify", `one-rank-alone`, nil},
		{"one rank", alone, "overlap", `no-communication`, nil},
		{"one rank", alone, "balance", `one-gpu-read`, nil},
		{"one rank", alone, "overhead", `no-communication`, nil},
		{"one rank", alone, "overlap-found", `no-communication`, nil},
		{"one rank", alone, "improve", `no-communication`, nil},
		{"two ranks without communication", two, "identify", `"verdict":false,"reason":"no-known-kernel"`, &no},
		{"nothing", none, "how-long", `no-gpu-work`, nil},
		{"nothing", none, "identify", `no-gpu-work`, nil},
	} {
		a := c.of.answer(c.key)
		if got := written(t, a.Fact); !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %s, want %s", c.name, c.key, got, c.want)
		}
		if (a.Met == nil) != (c.met == nil) || a.Met != nil && *a.Met != *c.met {
			t.Errorf("%s, %s: met is not %v", c.name, c.key, c.met)
		}
	}
	if a := well.answer("time-outs"); strings.Contains(written(t, a.Fact), "near") {
		t.Errorf("where no call is near a time-out: %q", a.Text())
	}
}

// Calls that run at the same time take longer summed than together: then both figures are said, though nothing but AllReduce communicates.
func TestHowLongAllReduceIs(t *testing.T) {
	all := Device{Kernels: 5, Label: "rank 0", Parts: Parts{Span: 100, Compute: 50, Comm: 40, Idle: 10}, Collectives: []Collective{{Name: "all_reduce", Calls: 2, Sum: 40}}}
	together := all
	together.Comm, together.Idle = 20, 30
	for _, c := range []struct {
		of   Device
		want string
	}{
		{all, `"all_reduce":{"time_s":0.04,"share_pct":80,"all":true,"absent":false}`},
		{together, `"comm_s":0.02,"compute_s":0.05,"share_pct":40,"per":"recording","all_reduce":{"time_s":0.04,"share_pct":80,"absent":false}`},
	} {
		l := &Timeline{Devices: []Device{c.of}}
		if got := written(t, l.typically().howLong()); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// A value of zero is written as one: "-" and no sentence at all are for what is unknown.
func TestZeroIsAValue(t *testing.T) {
	alone := &Timeline{Devices: []Device{{
		Kernels: 1, Label: "rank 0", Parts: Parts{Span: 10, Comm: 10, Exposed: 10},
		Collectives: []Collective{{Name: "all_reduce", Calls: 1, Sum: 10, Exposed: 10}},
	}}}
	alone.review()
	for _, key := range []string{"how-long", "overlap-found"} {
		if text := alone.answer(key).Text(); !strings.Contains(text, "0 ms") || strings.Contains(text, " - ") {
			t.Errorf("%s: %q, want 0 ms", key, text)
		}
	}
	if got := written(t, alone.answer("how-long").Fact); !strings.Contains(got, `"share_pct":null`) {
		t.Errorf("%s, want no share of computation where nothing computes", got)
	}
	if text := alone.answer("overlap").Text(); !strings.Contains(text, "gradients: 0.0 %") {
		t.Errorf("%q, want the overlap of gradients", text)
	}
}

// written is the code of a fact and its parameters.
func written(t *testing.T, f notice.Fact) string {
	t.Helper()
	parameters, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(f.Code(), " ", string(parameters))
}
