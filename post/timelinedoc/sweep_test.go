package timelinedoc

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/program"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/step"
	"busbar/post/analysis"
	"busbar/post/timeline"
	"busbar/post/trace/tracetest"
	"busbar/sweeps"
)

// readTraining writes two steps of a training, in which each rank has these collectives, and reads its traces.
func readTraining(t *testing.T, world, read int, calls func(rank int) []tracetest.Collective) *timeline.Timeline {
	t.Helper()
	dir := t.TempDir()
	for rank := range read {
		var text bytes.Buffer
		w := tracetest.NewWriter(&text, tracetest.Options{Rank: rank, World: world})
		at, seq := int64(1_000_000), map[string]int64{}
		for step := range 2 {
			begin := at
			for n, c := range calls(rank) {
				if n == 1 && step == 1 && rank == 0 && c.Name == "_reduce_oop" {
					continue // once in two steps
				}
				seq[c.Group.Name]++
				c.Seq = seq[c.Group.Name]
				name := cmp.Or(map[string]string{"allreduce": tracetest.AllReduce}[c.Name], "ncclDevKernel_SendRecv(x)")
				w.Kernel(tracetest.Kernel{Name: name, Stream: 20, Start: at, Took: 10_000 + int64(rank),
					Launch: at - 5000, Collective: &c})
				at += 20_000
			}
			w.Range(fmt.Sprintf("ProfilerStep#%d", step), begin-10_000, at-begin)
			at += 1_000_000
		}
		must.NoError(t, w.Close())
		must.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d.json", rank)), text.Bytes(), 0o666))
	}
	tl, _, err := timeline.Read(t.Context(), []string{dir}, timeline.Options{})
	must.NoError(t, err)
	facts := t.TempDir()
	_, err = timeline.Extract(t.Context(), facts, "", []string{dir}, timeline.Options{}, func(string) {})
	must.NoError(t, err)
	same, _, err := timeline.Read(t.Context(), []string{facts}, timeline.Options{})
	must.NoError(t, err)
	must.EqOp(t, string(Sweep(tl, timeline.ReplayOf(tl))), string(Sweep(same, timeline.ReplayOf(same))))
	return tl
}

// planned returns the cases of a training's sweep, and what it lacks.
func planned(t *testing.T, tl *timeline.Timeline) (cases []coll.Case, lacks []notice.Notice, text string) {
	t.Helper()
	r := timeline.ReplayOf(tl)
	if r.Parts == nil {
		return nil, r.Lacks, ""
	}
	file := Sweep(tl, r)
	s, err := sweeps.Parse("s.yaml", file)
	must.NoError(t, err)
	must.Len(t, len(r.Parts), s.Parts)
	cases, err = s.Plan(r.World, nil)
	must.NoError(t, err)
	for i, p := range s.Parts {
		must.EqOp(t, r.Parts[i].Calls, p.Calls)
	}
	return cases, r.Lacks, string(file)
}

func ranks(first, n, stride int) (g tracetest.Group) {
	for i := range n {
		g.Ranks = append(g.Ranks, first+i*stride)
	}
	g.Name = fmt.Sprint(first, n, stride)
	return g
}

// A training of 2 x 2 ranks: its sweep has the collectives of a step in order, in groups of the world.
func TestSweepOfTraining(t *testing.T) {
	tl := readTraining(t, 4, 4, func(rank int) []tracetest.Collective {
		all, tensor, data := ranks(0, 4, 1), ranks(rank/2*2, 2, 1), ranks(rank%2, 2, 2)
		return []tracetest.Collective{
			{Name: "_allgather_base", Type: "BFloat16", In: 24, Out: 48, Group: tensor},
			{Name: "_reduce_oop", Type: "Float", In: 256, Out: 256, Group: all},
			{Name: "allreduce", Type: "Float", In: 1000, Out: 1000, Group: data},
			{Name: "allreduce", Type: "Float", In: 1000, Out: 1000, Group: data},
			{Name: "_allgather_base", Type: "Float", In: 3, Out: 12, Group: all}, // sizes in bytes would be trimmed
			{Name: "allreduce", Type: "Bool", In: 8, Out: 8, Group: all},
			{Name: "allreduce_coalesced", Type: "Float", In: 8, Out: 8, Group: all},
			{Name: "send", Type: "Float", In: 8, Group: all, Peer: (rank + 1) % 4},
			{Name: "allreduce", Type: "Float", In: 8, Out: 8, Group: tracetest.Group{Name: "x", Ranks: []int{0, 1, 2}}},
		}
	})
	cases, lacks, text := planned(t, tl)
	var got []string
	for _, c := range cases {
		if c.Groups.Number < 2 && !c.Groups.Alone {
			got = append(got, fmt.Sprintf("%s x%d: %d", c, c.World, c.Count))
		}
	}
	must.Eq(t, []string{
		"all_gather bfloat16 group 1 of 2:contiguous 96 B throughput x2: 24",
		"reduce float32 sum 1 KiB in-place throughput x4: 256",
		"all_reduce float32 sum group 1 of 2:strided 4000 B in-place throughput x2: 1000",
		"all_gather float32 48 B throughput x4: 3"}, got)
	var facts []notice.Fact
	for _, n := range lacks {
		facts = append(facts, n.Fact)
	}
	must.Eq(t, []notice.Fact{profiles.NotReplayed{Calls: 8, Why: profiles.LacksGroups},
		profiles.NotReplayed{Calls: 8, Why: profiles.LacksPeers},
		profiles.NotReplayed{Calls: 8, Why: profiles.LacksSize},
		profiles.NotReplayed{Calls: 8, Why: profiles.LacksType},
		profiles.ReplayAssumed{}}, facts)
	must.StrContains(t, text, "# 8 calls of communication cannot be replayed: the size is unknown.\n")
	r := timeline.ReplayOf(tl)
	must.EqOp(t, 1, r.Parts[1].Calls)
	must.EqOp(t, 2, r.Parts[2].Calls)
	must.EqOp(t, 0.01, *r.Parts[3].Pure)
}

// The splits of all ranks together are the matrix, unless too much of the lists is truncated or a rank is missing.
func TestSweepOfSplits(t *testing.T) {
	for _, c := range []struct {
		world, read int
		change      func(rows [][]int64)
		lacks       bool
	}{
		{world: 3, read: 3},
		{world: 31, read: 31},
		{world: 32, read: 32, lacks: true},
		{world: 3, read: 2, lacks: true},
		{world: 3, read: 2, lacks: true, change: func(rows [][]int64) { rows[2] = []int64{0, 0, 5} }},
		{world: 3, read: 3, lacks: true, change: func(rows [][]int64) { rows[1][2] = -4 }},
	} {
		rows := make([][]int64, c.world) // of 64 bytes
		for i := range rows {
			for j := range c.world {
				rows[i] = append(rows[i], int64(1+i*7+j*j%5))
			}
		}
		if c.change != nil {
			c.change(rows)
		}
		tl := readTraining(t, c.world, c.read, func(rank int) []tracetest.Collective {
			var received []int64
			for _, row := range rows {
				received = append(received, row[rank])
			}
			sum := func(of []int64) (n int64) {
				for _, k := range of {
					n += k
				}
				return n
			}
			return []tracetest.Collective{{Name: "all_to_allv", Type: "Float", In: 16 * sum(rows[rank]),
				Out: 16 * sum(received), Splits: asTorch(rows[rank]), Received: asTorch(received),
				Group: ranks(0, c.world, 1)}}
		})
		cases, lacks, _ := planned(t, tl)
		if c.lacks {
			must.Eq(t, lacks[0].Fact, notice.Fact(profiles.NotReplayed{Calls: 2 * c.read, Why: profiles.LacksSplits}))
			must.Nil(t, cases)
			continue
		}
		k := cases[len(cases)-1] // after the even one
		for rank := range rows {
			for other, n := range k.Sends(rank) {
				must.EqOp(t, 16*rows[rank][other], n)
			}
		}
	}
}

// asTorch formats a list of splits, truncated to its first 29 entries and the last if it has more than 30.
func asTorch(list []int64) string {
	words := strings.Fields(strings.Trim(fmt.Sprint(list), "[]"))
	if n := len(words); n > 30 {
		words = append(slices.Clone(words[:29]), "...", words[n-1])
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// The sweep of a step of busbar has the operations of the step's plan.
func TestSweepOfOwnStep(t *testing.T) {
	plan := &step.Plan{Model: "m", World: 2, Point: step.Point{Strategy: step.DDP, Bucket: step.All,
		Type: coll.BFloat16}, Ops: []step.Op{{Name: "a", Collective: coll.AllGather, Count: 40},
		{Name: "b", Collective: coll.ReduceScatter, Count: 24}, {Name: "c", Collective: coll.AllReduce, Count: 7},
		{Name: "d", Collective: coll.AllGather, Count: 40}}}
	dir := t.TempDir()
	for rank := range plan.World {
		own := step.Trace{Plan: plan, TraceAbout: step.TraceAbout{Tool: "busbar", Rank: rank, Backend: "mpi"}}
		for n := range 3 {
			s := step.TracedStep{Number: n}
			for i := range plan.Ops {
				s.Spans.Ops = append(s.Spans.Ops, program.Span{Start: int64(i+1) * 1000, End: int64(i+1)*1000 + 500})
			}
			own.Steps = append(own.Steps, s)
		}
		var text bytes.Buffer
		must.NoError(t, own.Write(&text))
		must.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d.json", rank)), text.Bytes(), 0o666))
	}
	tl, _, err := timeline.Read(t.Context(), []string{dir}, timeline.Options{})
	must.NoError(t, err)
	cases, _, _ := planned(t, tl)
	r := timeline.ReplayOf(tl)
	for i, calls := range []float64{2, 1, 1} {
		op := plan.Ops[i]
		must.Eq(t, []any{op.Collective, op.Count, coll.BFloat16, calls},
			[]any{cases[i].Collective, cases[i].Count, cases[i].Type, r.Parts[i].Calls})
	}
	must.Len(t, 3, cases)
}

// Times in training are set against those of the same groups at once, and of the same matrix, whatever its name.
func TestReplayedTimes(t *testing.T) {
	tl := readTraining(t, 2, 2, func(rank int) []tracetest.Collective {
		all := ranks(0, 2, 1)
		return []tracetest.Collective{
			{Name: "all_to_allv", Type: "Float", In: []int64{16, 48}[rank], Out: []int64{32, 32}[rank],
				Splits: []string{"[2, 2]", "[6, 6]"}[rank], Received: "[2, 6]", Group: all},
			{Name: "allreduce", Type: "Float", In: 1000, Out: 1000, Group: all},
		}
	})
	of := readTraining(t, 4, 4, func(rank int) []tracetest.Collective {
		return []tracetest.Collective{{Name: "allreduce", Type: "Float", In: 1000, Out: 1000,
			Group: ranks(rank%2, 2, 2)}}
	})
	var curves []*analysis.Curve
	curve := func(micros float64, c coll.Case) {
		k := &analysis.Curve{Who: "nccl", Runs: []*result.Run{{}}, Points: []analysis.Point{{SizeBytes: c.SizeBytes,
			Time: stats.Estimate{Value: micros / 1e6}}}}
		c.SizeBytes, c.World, c.Mode, c.Type = 0, 2, coll.Throughput, coll.Float32
		k.Backend, k.Condition = "nccl", analysis.Condition{Case: c, Nodes: 1}
		curves = append(curves, k)
	}
	uneven := func(m coll.Matrix) coll.Case {
		return coll.Case{Collective: coll.AllToAllV, Imbalance: m.Register("other"), SizeBytes: 192}
	}
	curve(4, uneven(coll.Matrix{{32, 32}, {96, 96}}))
	curve(1, uneven(coll.Matrix{{32, 32}, {96, 80}}))
	for n, g := range []coll.Groups{{}, {Division: "2:strided", Number: 1, Alone: true},
		{Division: "2:contiguous", Number: 1}, {Division: "2:strided", Number: 1},
		{Division: "2:strided", Number: 2}} {
		curve(float64(n+1), coll.Case{Collective: coll.AllReduce, Groups: g, SizeBytes: 4000})
	}
	tl.Join(curves, false)
	of.Join(curves, false)
	r := tl.Replay
	must.InDelta(t, 0.004, *r.Parts[0].Again, 1e-9)
	must.InDelta(t, 0.006, *r.Parts[0].Rest, 1e-6) // of a median of 10 µs
	must.InDelta(t, 0.001, *r.Parts[1].Again, 1e-9)
	must.InDelta(t, 0.005, r.Replayed, 1e-9)
	must.InDelta(t, 0.02, r.Training, 2e-6)
	must.InDelta(t, 0.005, *of.Replay.Parts[0].Again, 1e-9) // of the slower group
	var text strings.Builder
	must.NoError(t, Of(tl).Write(&text, document.Text))
	must.StrContains(t, text.String(), "alltoallv float32 x2 192 B")
	must.StrContains(t, text.String(), " ms per step there")
	r.Steps = 0
	must.NoError(t, Of(tl).Write(&text, document.Text))
	must.StrContains(t, text.String(), " ms per recording there")
}

// The public trace of a training with five gradient buckets, of which the sizes are known.
func TestSweepOfPublicTrace(t *testing.T) {
	path := needs.Examples(t, "../../../shared/examples/traces/hta/nccl_parser_config_nccl_data.json.gz")[0]
	tl, _, err := timeline.Read(t.Context(), []string{path}, timeline.Options{})
	must.NoError(t, err)
	cases, _, _ := planned(t, tl)
	var sizes []int64
	for _, c := range cases {
		sizes = append(sizes, c.SizeBytes)
	}
	must.Eq(t, []int64{212480, 424, 8196000, 31502336, 26255360, 26550272, 9724160}, sizes)
}
