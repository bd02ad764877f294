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
	late := compared(job{ranks: 4, steps: 5, sizes: mib(25), pure: msec, work: late}.ranksOf()...)
	well := healthy()
	well.review()
	even := healthy()
	even.Across.Waiting, even.Across.Ranks[0].Compute = 0, 0
	even.review()
	alone := &Timeline{
		Devices: []Device{{Kernels: 5, World: 1, Label: "device 0", Parts: Parts{Span: 10, Compute: 8, Idle: 2}}},
	}
	alone.review()
	none := &Timeline{}
	none.review()
	for _, c := range []struct {
		name string
		of   *Timeline
		key  string
		want string
	}{
		{"healthy", well, "how-long", `"comm_s":0.02,"compute_s":0.097,"share_pct":20.6`},
		{"healthy", well, "how-long", `"all_reduce":{"time_s":0.02,"share_pct":20.61855670103093`},
		{"healthy", well, "overlap", `"verdict":"partly","overlap_pct":95,"median":{"n":2,"unit":"GPU"},"gradients`},
		{"healthy", well, "overlap", `"idle_pct":2`},
		{"healthy", well, "balance", `"verdict":true,"least_s":0.4,"least_on":"rank 0","most_s":0.404,`},
		{"late", late, "overlap", `"verdict":"no","overlap_pct":0,`},
		{"late", late, "overlap", `"gradients_pct":0,`},
		{"nobody waits", even, "balance", `"waiting_s":0,"pure_s":0.`},
		{"a rank computes nothing", even, "balance", `"least_s":0,"least_on":"rank 0"`},
		{"late", late, "balance", `"verdict":false,"least_s":0.025,"least_on":"rank 0","most_s":0.04,`},
		{"late", late, "balance", `"straggler":"rank 2"`},
		{"one rank", alone, "how-long", `computation-alone {"compute_s":0.008,"per":"recording"`},
		{"one rank", alone, "overlap", `no-communication`},
		{"one rank", alone, "balance", `one-gpu-read`},
		{"nothing", none, "how-long", `no-gpu-work`},
	} {
		a := c.of.answer(c.key)
		if got := written(t, a.Fact); !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %s, want %s", c.name, c.key, got, c.want)
		}
	}
}

// Calls that run at the same time take longer summed than together: then both figures are said, though nothing but
// AllReduce communicates.
func TestHowLongAllReduceIs(t *testing.T) {
	all := Device{
		Kernels:     5,
		Label:       "rank 0",
		Parts:       Parts{Span: 100, Compute: 50, Comm: 40, Idle: 10},
		Collectives: []Collective{{Name: "all_reduce", Calls: 2, Sum: 40}},
	}
	happened(&all)
	together := all
	together.Comm, together.Idle = 20, 30
	for _, c := range []struct {
		of   Device
		want string
	}{
		{all, `"all_reduce":{"time_s":0.04,"share_pct":80,"absent":false}`},
		{together, `"per":"recording","all_reduce":{"time_s":0.04,"share_pct":80,"absent":false}`},
	} {
		l := &Timeline{Devices: []Device{c.of}}
		if got := written(t, assess(l).howLong()); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
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
