package timeline

import (
	"regexp"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/post/trace"
)

// ranOn returns a device of a rank, process and host, with one kernel of a millisecond.
func ranOn(rank int, process int64, host string, id int) *gpu {
	g := onGPU("7 gemm 0-1")
	g.Rank, g.Process, g.Host, g.ID = rank, process, host, id
	return g
}

func codesOf(notes []notice.Notice) (codes string) {
	for _, n := range notes {
		codes += string(n.Code()) + " "
	}
	return strings.TrimSpace(codes)
}

func TestFileNotes(t *testing.T) {
	a := filed("a.json", ranOn(0, trace.Unknown, "n1", 0))
	a.Tool, a.Cut = "torch.profiler", "it ends early"
	b := filed("b.sqlite")
	b.Format, b.Notes = trace.Nsight, []notice.Fact{profiles.PayloadsMissing{Command: "x"}}
	tl := built(Options{Tool: "busbar", CommPattern: regexp.MustCompile("mine"),
		StepPattern: regexp.MustCompile("step")}, a, b)
	must.Eq(t, []File{{Path: "a.json", Format: "kineto", Tool: "torch.profiler", Cut: "it ends early"},
		{Path: "b.sqlite", Format: "nsight"}}, tl.Files)
	must.Eq(t, []notice.Notice{notice.InFile("b.sqlite", 0, profiles.PayloadsMissing{Command: "x"})}, tl.Notes)
	must.EqOp(t, "busbar", tl.Tool)
	must.EqOp(t, Rule{"mine", "step"}, tl.Rule)
}

// Devices are ordered by rank, host, process and number; labels are unique.
func TestDeviceOrderAndLabels(t *testing.T) {
	const no = trace.Unknown
	for want, files := range map[string][][]*gpu{
		"rank 9, rank 10, GPU 5": {{ranOn(no, no, "", 5), ranOn(10, no, "", 0), ranOn(9, no, "", 1)}},
		"GPU 9, GPU 1 (pid 7), GPU 2 (pid 7), GPU 0 (pid 8), GPU 0 (pid 4)": {{ranOn(no, 4, "n2", 0),
			ranOn(no, 8, "n1", 0), ranOn(no, 7, "n1", 2), ranOn(no, 7, "n1", 1), ranOn(no, no, "n1", 9)}},
		"rank 0, device 0, rank 0, device 1":                     {{ranOn(0, no, "", 1), ranOn(0, no, "", 0)}},
		"rank 0, device 1 in 0.json, rank 0, device 1 in 1.json": {{ranOn(0, no, "", 1)}, {ranOn(0, no, "", 1)}},
		"GPU 1 (pid 5) in 0.json, GPU 1 (pid 5) in 1.json":       {{ranOn(no, 5, "", 1)}, {ranOn(no, 5, "", 1)}},
		"rank 0, rank 1": {{ranOn(1, no, "", 0)}, {ranOn(0, no, "", 0)}},
	} {
		var read []*trace.File
		for i, devices := range files {
			read = append(read, filed([]string{"0.json", "1.json"}[i], devices...))
		}
		must.EqOp(t, want, labels(built(Options{}, read...)))
	}
}

func labels(tl *Timeline) string {
	var all []string
	for _, d := range tl.Devices {
		all = append(all, d.Label)
	}
	return strings.Join(all, ", ")
}

// recorded is a device whose recording begins at a given time and lasts a millisecond.
func recorded(rank int, process int64, host string, origin int64) *gpu {
	g := ranOn(rank, process, host, 0)
	g.Origin = origin
	return g
}

func TestRecordingsOfOneRank(t *testing.T) {
	const start, no = int64(1_700_000_000e9), trace.Unknown
	for name, c := range map[string]struct {
		a, b  *gpu
		names string
		lanes int
	}{
		"two hosts": {recorded(0, no, "n0", start), recorded(0, no, "n1", start+1e9), "GPU 0 in a, GPU 0 in b", 2},
		"two processes": {recorded(0, 11, "n0", start), recorded(0, 12, "n0", start+1e9),
			"GPU 0 (pid 11), GPU 0 (pid 12)", 2},
		"the same time": {recorded(0, no, "", start), recorded(0, no, "", start+1e6-1), "GPU 0 in a, GPU 0 in b", 2},
		"one after another": {recorded(0, 11, "n0", start), recorded(0, 11, "n0", start+1e6),
			"rank 0, device 0 in a, rank 0, device 0 in b", 0},
		"two ranks": {recorded(0, 11, "n0", start), recorded(1, 12, "n0", start), "rank 0, rank 1", 2},
	} {
		t.Run(name, func(t *testing.T) {
			tl := built(Options{}, filed("a", c.a), filed("b", c.b))
			must.EqOp(t, c.names, labels(tl))
			lanes := 0
			if tl.Across != nil {
				lanes = len(tl.Across.Ranks)
			}
			must.EqOp(t, c.lanes, lanes)
			var want []notice.Notice
			if strings.HasPrefix(c.names, "GPU") {
				want = []notice.Notice{notice.New(profiles.SameRank{Ranks: []profiles.RankClash{{Rank: 0,
					Files: []string{"a", "b"}}}})}
			}
			must.Eq(t, want, tl.Notes)
		})
	}
}

// A GPU on which a process only copied is not a rank.
func TestCopyOnlyDeviceIgnored(t *testing.T) {
	stray := onGPU("7 copy 0-5")
	stray.ID = 1
	tl := built(Options{}, filed("a.json", stray, ranOn(0, 1, "", 0)))
	must.Eq(t, []int{0}, tl.Working())
	must.Nil(t, tl.Across)
	must.EqOp(t, "", codesOf(tl.Devices[0].Notes))
	must.EqOp(t, "only-copies", codesOf(tl.Devices[1].Notes))
	must.Eq(t, []int{0, 1}, (&Timeline{Devices: make([]Device, 2)}).Working())
}

func TestDeviceNotes(t *testing.T) {
	g := onGPU("7 graph 1-3")
	g.Activities[0].Kind = trace.GraphTrace
	d := g.analysed(Options{StepPattern: regexp.MustCompile("^step")})
	must.Eq(t, []notice.Notice{notice.New(profiles.CUDAGraphs{Time: 0.002}),
		notice.New(profiles.StepPatternUnmatched{Pattern: "^step"})}, d.Notes)
}

// One of a hundred launches may be after its kernel; activities without a launch do not count.
func TestClocksDisagree(t *testing.T) {
	for launched, want := range map[int64][]notice.Notice{
		100: nil, 99: {notice.New(profiles.ClocksDisagree{Early: 1, Of: 99})},
	} {
		g := newGPU()
		for i := range launched + 50 {
			if a := g.ran(gemm, 7, i*10, i*10+5); i < launched {
				a.Launch = i * 10
			}
		}
		g.Activities[0].Launch = 1
		must.Eq(t, want, g.analysed(Options{}).Notes)
	}
}

// A straggler and shared streams are reported once, and not at all if ignored.
func TestNoticesReportedOnce(t *testing.T) {
	tl := compared(job{ranks: 4, steps: 5, sizes: mib(25), pure: msec, work: late}.ranksOf()...)
	tl.Devices[0].Shared = []SharedStream{{ID: 7, OfComm: 100, OfCompute: 90}}
	tl.review()
	tl.Advice = append(tl.Advice, advice(topicOverlap, 0, profiles.SharedStreams{Streams: streamsOf(tl.Devices),
		Share: 1, Exposed: 1, Per: "step"}))
	for _, code := range []string{"straggler", "shared-streams"} {
		must.EqOp(t, 1, strings.Count(codesOf(tl.Notices())+" ", code+" "))
	}
	tl.Ignore(func(code notice.Code) bool { return code != "straggler" && code != "shared-streams" })
	left := codesOf(tl.Notices())
	for _, f := range tl.InShort() {
		left += string(notice.CodeOf(f))
	}
	must.StrNotContains(t, left, "straggler")
	must.StrNotContains(t, left, "shared-streams")
}
