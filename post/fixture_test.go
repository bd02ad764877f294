package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"

	"github.com/shoenig/test/must"
)

// fixture is a made-up run for commands to read.
type fixture struct {
	backend, library string
	world, launch    int
	last             int64 // largest size; from 8 bytes by factors of 8
	collectives      []coll.Collective
	placements       []coll.Placement
	edit             func(run *result.Run, records []*result.Record, end *result.End)
}

// lines is the run as its file would be.
func (f fixture) lines(t testing.TB) []byte {
	t.Helper()
	start := time.Date(2026, 3, 1, 12, f.launch, 0, 0, time.UTC)
	run := &result.Run{
		Kind: result.KindRun, Schema: result.Schema, ID: fmt.Sprintf("run-%s-%d-%d", f.backend, f.world, f.launch),
		Launch:   fmt.Sprint("launch-", f.launch),
		Campaign: "campaign", Start: start, Tool: "busbar 0.1.0",
		Backend: result.Backend{Name: f.backend, Library: f.library},
		World:   f.world, Nodes: 1, RanksPerNode: f.world, Device: "cpu (Example E-1234)",
		Machine: result.Machine{Host: "node17"},
		Sweep:   result.Sweep{Name: "quick"}, Method: result.Method{Warmup: 5, Average: "max over ranks"},
	}
	var records []*result.Record
	for _, c := range f.collectives {
		for _, p := range f.placements {
			for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
				for size := int64(8); size <= f.last; size *= 8 {
					records = append(records, f.record(len(records)+1, c, p, mode, size))
				}
			}
		}
	}
	end := &result.End{Kind: result.KindEnd, At: start.Add(time.Minute), Outcome: result.Complete}
	if f.edit != nil {
		f.edit(run, records, end)
	}
	return encode(t, run, f.ranks(run.Machine.Host), records, end)
}

func (f fixture) ranks(host string) (ranks []*result.Rank) {
	for i := range f.world {
		ranks = append(ranks, &result.Rank{Kind: result.KindRank, Rank: i, Host: host, LocalRank: i, PID: 1000 + i})
	}
	return ranks
}

func (f fixture) record(n int, c coll.Collective, p coll.Placement, mode coll.Mode, size int64) *result.Record {
	k := coll.Case{Collective: c, Type: coll.Float32, Root: -1, Placement: p, Mode: mode, World: f.world}.WithSize(size)
	if c.Reduces() {
		k.Op = coll.Sum
	}
	r := &result.Record{Kind: result.KindCase, N: n, Case: k, Status: result.OK,
		Check: result.Check{Result: "ok", Rounds: 1}}
	if k.Count == 0 {
		r.Status, r.Reason, r.Check = result.Skipped, fmt.Sprintf("%d bytes are less than 16 bytes a rank", size),
			result.Check{Result: "none"}
		return r
	}
	s := 1e-6*float64(mode) + float64(size)/4e9*math.Sqrt(float64(f.world*int(c))) + 1e-8*float64(f.launch)
	r.Time = &result.Time{Seconds: s, Lo: 0.98 * s, Hi: 1.03 * s, Min: 0.9 * s, P90: 1.2 * s, P99: 2 * s, Max: 10 * s,
		Samples: 50, Iterations: 1000, Stop: "precision", Sync: "barrier", Summary: "max over ranks"}
	return r
}

func encode(t testing.TB, run *result.Run, ranks []*result.Rank, records []*result.Record, end *result.End) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	line := func(v any) {
		must.NoError(t, e.Encode(v))
	}
	line(run)
	for _, r := range ranks {
		line(r)
	}
	for _, r := range records {
		line(r)
	}
	if end.Kind != "" { // an edit takes it away
		line(end)
	}
	return b.Bytes()
}

// save writes the run into dir and returns its path.
func (f fixture) save(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("profile_%s_world%d_20260301T12%02d00Z.jsonl", f.backend, f.world, f.launch))
	must.NoError(t, os.MkdirAll(dir, 0o755))
	must.NoError(t, os.WriteFile(path, f.lines(t), 0o644))
	return path
}

var out, both = []coll.Placement{coll.OutOfPlace}, []coll.Placement{coll.OutOfPlace, coll.InPlace}

// fixtures are the runs that tests and scripts know by name.
var fixtures = map[string]fixture{
	"quick": {backend: "mpi", library: "Open MPI 4.1.4", world: 4, last: 16 << 20,
		collectives: []coll.Collective{coll.AllReduce, coll.AllGather, coll.Broadcast}, placements: out},
	"tiny": {backend: "mpi", library: "Open MPI 4.1.4", world: 2, launch: 2, last: 64,
		collectives: []coll.Collective{coll.AllReduce}, placements: out},
	"partly": {backend: "mpi", library: "Open MPI 4.1.4", world: 2, launch: 2, last: 64,
		collectives: []coll.Collective{coll.AllReduce}, placements: out,
		edit: func(_ *result.Run, records []*result.Record, _ *result.End) { records[1].Status = result.Wrong }},
	"world2": {backend: "mpi", library: "Open MPI 4.1.4", world: 2, last: 16 << 20,
		collectives: []coll.Collective{coll.AllReduce, coll.AllGather}, placements: both},
	"launch1": {backend: "mpi", library: "Open MPI 4.1.4", world: 4, launch: 1, last: 16 << 20,
		collectives: []coll.Collective{coll.AllReduce}, placements: out},
	"warmdefault": variant("default", 0),
	"warmring":    variant("ring", 0),
	"coldring":    variant("ring+cold", 1<<22),
	"colddefault": variant("default+cold", 1<<22),
	"interrupted": {backend: "mpi", library: "Open MPI 4.1.4", world: 3, last: 4096,
		collectives: []coll.Collective{coll.AllReduce}, placements: both,
		edit: func(_ *result.Run, _ []*result.Record, e *result.End) {
			e.Outcome, e.Reason, e.Code, e.Left = result.Interrupted, "SIGTERM", 143, 12
		}},
	"empty": {backend: "mpi", library: "Open MPI 4.1.4", world: 5},
	"rehearsed": {backend: "nccl-rehearsal", library: "NCCL 2.27.7, rehearsed", world: 4, last: 4096,
		collectives: []coll.Collective{coll.AllReduce, coll.AllGather}, placements: both,
		edit: func(r *result.Run, _ []*result.Record, _ *result.End) { r.Rehearse = true }},
	"gloo2": {backend: "gloo", library: "Gloo 0.5", world: 2, last: 16 << 20,
		collectives: []coll.Collective{coll.AllReduce}, placements: out,
		edit: func(run *result.Run, records []*result.Record, end *result.End) {
			slower(1.5)(run, records, end)
			run.Interleaved = []string{"mpi", "gloo"}
		}},
	"gloo4": {backend: "gloo", library: "Gloo 0.5", world: 4, last: 16 << 20,
		collectives: []coll.Collective{coll.AllReduce}, placements: out,
		edit: func(run *result.Run, records []*result.Record, end *result.End) {
			slower(2)(run, records, end)
			run.Warnings = notice.Of(
				notice.FromText("oversubscribed: 4 ranks share 2 cores on node17: figures say nothing about speed"))
		}},
	"rehearsed2": {backend: "nccl-rehearsal", library: "NCCL 2.27.7, rehearsed", world: 2, launch: 3, last: 16 << 20,
		collectives: []coll.Collective{coll.AllReduce}, placements: out,
		edit: func(run *result.Run, records []*result.Record, end *result.End) {
			slower(0.1)(run, records, end)
			run.Rehearse, run.Device = true, "Rehearsed GPU"
		}},
	"h100": {backend: "nccl", library: "NCCL 2.27.7", world: 8, last: 16 << 20,
		collectives: []coll.Collective{coll.AllReduce, coll.AllGather}, placements: out,
		edit: func(run *result.Run, records []*result.Record, end *result.End) {
			slower(0.02)(run, records, end)
			run.Device = "NVIDIA H100 80GB HBM3"
			records[len(records)-1].Warnings = notice.Of(notice.FromText("a warning"))
			records[7].Warnings = notice.Of(notice.FromText("a warning"), notice.FromText("another"))
		}},
	"twonodes": {backend: "nccl", library: "NCCL 2.27.7", world: 4, launch: 1, last: 16 << 20,
		collectives: []coll.Collective{coll.AllReduce, coll.AllToAll}, placements: out,
		edit: func(run *result.Run, records []*result.Record, end *result.End) {
			slower(0.06)(run, records, end)
			run.Device, run.Nodes, run.RanksPerNode = "NVIDIA H100 80GB HBM3", 2, 2
			run.Hardware = &result.Hardware{Ports: []result.Port{{Name: "mlx5_0/1", Link: "InfiniBand", Rate: 400},
				{Name: "mlx5_1/1", Link: "InfiniBand", Rate: 400}}}
			for _, r := range records {
				r.Network = []result.NetUse{{Name: "mlx5_1/1", RxBytes: r.SizeBytes, TxBytes: r.SizeBytes}}
			}
		}},
	"problems": {backend: "mpi", library: "MPICH 4.0.2", world: 2, launch: 7, last: 32768,
		collectives: []coll.Collective{coll.AllReduce}, placements: out, edit: problems},
}

// slower multiplies every time of a run by a factor.
func slower(factor float64) func(*result.Run, []*result.Record, *result.End) {
	return func(_ *result.Run, records []*result.Record, _ *result.End) {
		for _, r := range records {
			if t := r.Time; t != nil {
				for _, s := range []*float64{&t.Seconds, &t.Lo, &t.Hi, &t.Min, &t.P90, &t.P99, &t.Max, &t.Mean} {
					*s *= factor
				}
			}
		}
	}
}

// problems makes points of every other status, with warnings.
func problems(run *result.Run, records []*result.Record, end *result.End) {
	run.Method.Rotate, run.Method.Aggregate, run.Method.Average = 64<<20, 4, "mean over ranks"
	run.Warnings = notice.Of(notice.FromText("4 ranks on 2 usable cores: oversubscribed"))
	fail := func(r *result.Record, s result.Status, reason string) {
		r.Status, r.Reason, r.Time, r.Check = s, reason, nil, result.Check{Result: "none"}
	}
	records[0].Warnings = notice.Of(notice.FromText("the timer's resolution is 7 % of the time"),
		notice.FromText("fewer than 20 samples"))
	records[4].Warnings = notice.Of(notice.FromText("load"), notice.FromText("drift"), notice.FromText("two modes"),
		notice.FromText("too few samples (1)"), notice.FromText("a link had errors"),
		notice.FromText("the timer's resolution is 7 % of the time"))
	records[1].Warnings = notice.Of(notice.FromText("fewer than 20 samples"))
	fail(records[2], result.Skipped,
		"2 x 34359738368 bytes of buffers do not fit the 8589934592 bytes that are free on host node17 for each of "+
			"its 2 ranks")
	records[2].Needed = 2 << 35
	records[3].Status, records[3].Check = result.Wrong, result.Check{Result: "wrong", Rounds: 1, Wrong: 3,
		First: &result.Wrong1{Rank: 1, Host: "node17", Index: 77, Want: "3", Got: "-1"}}
	fail(records[5], result.Failed, "MPI_Allreduce: MPI_ERR_OTHER: \x1b[31mknown error not in list")
	records[6].Time.Lo, records[6].Time.Hi, records[6].Time.P99 = 0, 0, 0
	end.Outcome, end.Reason, end.Code = result.Aborted, "rank 1 was killed by signal 9", 5
}

// variant is a launch of a campaign of its own, with the same block as the others.
func variant(name string, rotate int64) fixture {
	return fixture{backend: "mpi", library: "Open MPI 4.1.4", world: 2, launch: 10 + len(name), last: 64,
		collectives: []coll.Collective{coll.AllReduce}, placements: out,
		edit: func(run *result.Run, _ []*result.Record, _ *result.End) {
			run.Campaign, run.Block, run.Variant, run.Method.Rotate = "trial", "nodes1/launch1", name, rotate
			run.ID += name
		}}
}
