package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/shoenig/test/must"
)

func TestAnswers(t *testing.T) {
	even := healthy()
	even.Across.Waiting, even.Across.Ranks[0].Compute = 0, 0
	alone := &Timeline{Devices: []Device{{Kernels: 5, World: 1, Label: "GPU 0",
		Parts: Parts{Span: 10, Compute: 8, Idle: 2}}}}
	// calls that run at the same time take longer summed than together
	beside := Device{Kernels: 5, Label: "rank 0", Parts: Parts{Span: 100, Compute: 50, Comm: 20, Idle: 30},
		Collectives: []Collective{{Name: "all_reduce", Calls: 2, Sum: 40}}}
	happened(&beside)
	for _, c := range []struct {
		of    *Timeline
		key   string
		wants []string
	}{
		{healthy(), "how-long", []string{`"comm_s":0.02,"compute_s":0.097,"share_pct":20.6`,
			`"all_reduce":{"time_s":0.02,"share_pct":20.61855670103093`}},
		{healthy(), "overlap", []string{`"idle_pct":2`,
			`"verdict":"partly","overlap_pct":95,"median":{"n":2,"unit":"GPU"},"gradients`}},
		{healthy(), "balance", []string{`"verdict":true,"least_s":0.4,"least_on":"rank 0","most_s":0.404,`}},
		{compared(job{ranks: 4, steps: 5, sizes: mib(25), pure: msec, work: late}.ranksOf()...), "balance", []string{
			`"verdict":false,"least_s":0.025,"least_on":"rank 0","most_s":0.04,`, `"straggler":"rank 2"`}},
		{compared(job{ranks: 4, steps: 5, sizes: mib(25), pure: msec, work: late}.ranksOf()...), "overlap", []string{
			`"verdict":"no","overlap_pct":0,`, `"gradients_pct":0,`}},
		{even, "balance", []string{`"waiting_s":0,"pure_s":0.`, `"least_s":0,"least_on":"rank 0"`}},
		{alone, "how-long", []string{`computation-alone`, `"compute_s":0.008,"per":"recording"`}},
		{alone, "overlap", []string{`no-communication`}},
		{alone, "balance", []string{`one-gpu-read`}},
		{&Timeline{}, "how-long", []string{`no-gpu-work`}},
		{&Timeline{Devices: []Device{beside}}, "how-long", []string{`"comm_s":0.02`,
			`"all_reduce":{"time_s":0.04,"share_pct":80,"absent":false}`}},
	} {
		c.of.review()
		i := slices.IndexFunc(c.of.Answers, func(a Answer) bool { return a.Key == c.key })
		f := c.of.Answers[i].Found.Fact
		parameters, err := json.Marshal(f)
		must.NoError(t, err)
		for _, want := range c.wants {
			must.StrContains(t, fmt.Sprint(f.Code(), " ", string(parameters)), want)
		}
	}
}
