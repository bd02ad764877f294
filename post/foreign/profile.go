package foreign

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// profile reads the text of the collective profiler around PyTorch. It names the two bandwidths of all_reduce the wrong
// way round, counts one rank's share of all_gather and reduce_scatter for the whole, and prints GiB as GB: bandwidths
// are made anew from size and time, and its own are kept as stated.
type profile struct {
	in   *input
	test *profileTest
}

type profileTest struct {
	*test
	library  string
	elements int64
}

func newProfile(in *input) *profile { return &profile{in: in} }

var (
	profileTitle   = regexp.MustCompile(`^Configuration: World Size=(\d+)$`)
	profileBackend = regexp.MustCompile(`^Backend: (\S+) *(?:\((.*)\))?$`)
	profileSize    = regexp.MustCompile(`^Tensor Size: ([\d,]+) elements \(.*\)$`)
	profileRow     = regexp.MustCompile(`^(\w+): +([\d.]+) ms \| AlgBW: +([\d.]+) GB/s \| BusBW: +([\d.]+) GB/s$`)
	profileTorn    = regexp.MustCompile(`^(AllReduce|AllGather|ReduceScatter|AllToAll|Broadcast): +[\d.]*`)
	profileKnown   = regexp.MustCompile(`^(Profiling Complete!|Results saved to: |\[DEBUG\] |\[INIT\] )`)
	// ownView is what only busbar's own text view has.
	ownView = regexp.MustCompile(
		`^(Data checked: \d+ of \d+ measured points|Complete: \d+ \w+|Not ended: the run goes on, or was cut off)`)
)

func (p *profile) opens(l line) bool { return profileTitle.MatchString(l.body) }

func (p *profile) take(l line) (bool, error) {
	if m := profileTitle.FindStringSubmatch(l.body); m != nil {
		if err := p.close(); err != nil {
			return true, err
		}
		world, _ := amount(m[1])
		p.test = &profileTest{test: p.in.newTest("collective profiler", "collective profiler text", l.n)}
		p.test.run.World = world
		return true, nil
	}
	t := p.test
	if t == nil {
		return false, nil
	}
	if ownView.MatchString(l.body) {
		return true,
			&Error{Path: p.in.file.Path, Line: l.n,
				Text: "this is the text view of a run of busbar: its records are in the .jsonl file of the same name"}
	}
	if m := profileBackend.FindStringSubmatch(l.body); m != nil {
		t.library = m[2]
		t.run.Backend = result.Backend{Name: m[1], Library: libraryBy(m[2], "", t.run.Tool)}
		return true, nil
	}
	if m := profileSize.FindStringSubmatch(l.body); m != nil {
		n, ok := count(strings.ReplaceAll(m[1], ",", ""))
		if t.elements = n; !ok {
			t.elements = -1
		}
		return true, nil
	}
	if m := profileRow.FindStringSubmatch(l.body); m != nil && t.elements >= 0 {
		return true, t.row(l, m)
	}
	if profileTorn.MatchString(l.body) {
		return true, p.in.torn(l.n, l.text)
	}
	t.footer = t.footer || l.body == "Profiling Complete!"
	return profileKnown.MatchString(l.body), nil
}

// row makes a record of a row.
func (t *profileTest) row(l line, m []string) error {
	ms, ok := number(m[2])
	c, err := coll.ParseCollective(m[1])
	if !ok || err != nil {
		return t.in.torn(l.n, l.text)
	}
	k := coll.Case{Collective: c, Type: coll.Float32, Root: -1, Placement: coll.OutOfPlace, Mode: coll.Throughput,
		World: t.run.World, SizeBytes: -1, Count: t.elements}
	if c.Reduces() {
		k.Op = coll.Sum
	}
	if c == coll.AllReduce {
		k.Placement = coll.InPlace // torch reduces a tensor in place
	}
	if sized, err := k.WithElements(t.elements); err == nil {
		k = sized
	}
	rec := &result.Record{Case: k, Status: result.OK, Check: result.Check{Result: "off"},
		Time: &result.Time{Seconds: seconds(ms, 1e-3), Samples: 1, Outliers: -1, Stop: "fixed", Sync: "issued back to back",
			Summary: "mean over iterations on rank 0"},
		Imported: &result.Origin{Line: l.n, Stated: map[string]string{"AlgBW": m[3], "BusBW": m[4]}}}
	t.restate(rec, m[3], m[4])
	t.in.counts.Rows++
	t.configure()
	return t.add(rec)
}

// restate notes where the source's bandwidths are others than those of its size and time.
func (t *profileTest) restate(rec *result.Record, algText, busText string) {
	alg, _ := number(algText)
	bus, _ := number(busText)
	s := rec.Time.Seconds
	off := func(printed, real float64) bool { // beyond what three decimals of a millisecond and two of a GB/s round
		return math.Abs(printed-real) > 0.006+real*0.0006e-3/math.Max(s, 1e-9)
	}
	if s > 0 && (off(alg, rec.AlgBW(s)/1e9) || off(bus, rec.BusBW(s)/1e9)) {
		rec.Notes = append(rec.Notes, fmt.Sprintf("restated: the source prints AlgBW %s and BusBW %s, which are GiB/s by "+
			"another definition; here they are made from size and time", algText, busText))
	}
}

func (p *profile) close() error {
	t := p.test
	if p.test = nil; t == nil {
		return nil
	}
	if !t.footer {
		return t.end(result.Interrupted, notice.SourceIncomplete{Lacks: notice.SourceLastLine})
	}
	return t.end(result.Complete, nil)
}
