// Command points writes synthetic run files, to see how readers and merge fare with many points.
//
// The figures follow a model of latency and bandwidth with noise; nothing was measured, and the runs are marked as
// rehearsed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// ranks is the world size of the runs.
const ranks = 8

type options struct {
	points, files int
	out           string
}

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "points:", err)
		os.Exit(1)
	}
}

func run(args []string, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("points", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.points, "n", 1_000_000, "points in all")
	flags.IntVar(&o.files, "files", 100, "run files")
	flags.StringVar(&o.out, "o", "", "folder to write into")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.out == "" || o.points < 1 || o.files < 1 {
		return errors.New("-o DIR is required, and at least one point and one file")
	}
	return generate(o)
}

// generate writes the files; the same options give the same files.
func generate(o options) error {
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range o.files {
		n := o.points*(i+1)/o.files - o.points*i/o.files
		r := header(i)
		path := filepath.Join(o.out, fmt.Sprintf("profile_nccl-rehearsal_world%d_%s.jsonl", ranks,
			r.Start.Format("20060102T150405000Z")))
		if err := writeRun(path, r, n, random); err != nil {
			return err
		}
	}
	return nil
}

func header(i int) *result.Run {
	id := func(kind int) string { return fmt.Sprintf("0190a000-%04x-7000-8000-%012x", kind, i) }
	return &result.Run{
		Kind: result.KindRun, Schema: result.Schema, ID: id(1), Launch: id(2),
		Campaign: "0190a000-0003-7000-8000-000000000000",
		Start:    time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC), Tool: "busbar points", Command: os.Args, Rehearse: true,
		Backend: result.Backend{Name: "nccl-rehearsal", Library: "NCCL 2.27.7", Version: "2.27.7",
			Path: "/usr/lib/libnccl.so.2"},
		World: ranks, Nodes: 1, RanksPerNode: ranks, Device: "Synthetic GPU",
	}
}

func writeRun(path string, r *result.Run, n int, random *rand.Rand) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := bufio.NewWriter(f)
	lines := json.NewEncoder(b)
	if err := lines.Encode(r); err != nil {
		return err
	}
	points := map[result.Status]int{}
	for i := range n {
		record := point(i, random)
		record.N = i + 1
		points[record.Status]++
		if err := lines.Encode(record); err != nil {
			return err
		}
	}
	end := result.End{Kind: result.KindEnd, At: r.Start.Add(time.Hour), Outcome: result.Complete, Points: points}
	if err := lines.Encode(end); err != nil {
		return err
	}
	return b.Flush()
}

// point is the i-th record of an endless soak over all collectives, sizes, placements and modes.
func point(i int, random *rand.Rand) *result.Record {
	pick := func(n int) int {
		k := i % n
		i /= n
		return k
	}
	collectives := coll.Collectives()
	c := coll.Case{Type: coll.Float32, Root: -1, World: ranks}
	size := int64(16*ranks) << pick(24)
	c.Placement = coll.Placement(1 + pick(2))
	c.Mode = coll.Mode(1 + pick(2))
	c.Collective = collectives[pick(len(collectives))]
	if c.Collective.Reduces() {
		c.Op = coll.Sum
	}
	if c.Collective.Rooted() {
		c.Root = 0
	}
	r := &result.Record{Kind: result.KindCase, At: "2026-01-01T00:00:00.000Z", Case: c.WithSize(size), Cycle: i + 1,
		Load1: 1.25}
	if random.IntN(100) == 0 {
		r.Status, r.Reason, r.Check.Result = result.Skipped, "the time limit of the run is over", "none"
		return r
	}
	r.Status = result.OK
	measured(r, random)
	return r
}

func measured(r *result.Record, random *rand.Rand) {
	t := 5e-6 + float64(r.SizeBytes)/300e9
	noise := func() float64 { return t * (1 + 0.02*random.NormFloat64()) }
	m := noise()
	r.Time = &result.Time{
		Seconds: m, Lo: m * 0.99, Hi: m * 1.01, Min: m * 0.95, P90: m * 1.05, P99: m * 1.1, Max: m * 1.3,
		Mean:    m * 1.001,
		Samples: 200, Iterations: 200, Outliers: random.IntN(5), Stop: "precision", Sync: "barrier",
		Summary: "max over ranks", Elapsed: 200 * m,
	}
	r.Check = result.Check{Result: "ok", Rounds: 1, Elements: r.Count * int64(r.World)}
	r.Ranks = &result.Ranks{SlowestHost: "node1", SlowestS: m * 1.01, LatestHost: "node1", Latest: r.World - 1,
		Lateness: 1e-6 * random.Float64(), Uncertainty: 1e-8}
	for range r.World {
		r.Ranks.Median = append(r.Ranks.Median, noise())
		r.Ranks.Late = append(r.Ranks.Late, 1e-6*random.Float64())
	}
	r.Network = []result.NetUse{{Name: "eth0", RxBytes: random.Int64N(1e6), TxBytes: random.Int64N(1e6)}}
	if random.IntN(50) == 0 {
		r.Warnings = notice.Of(notice.HostLoad{Host: "node17", Load: 12.5})
	}
}
