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
	layout
	elements int64 // of the tensor whose rows follow
}

var (
	profileTitle   = regexp.MustCompile(`^Configuration: World Size=(\d+)$`)
	profileBackend = regexp.MustCompile(`^Backend: (\S+) *(?:\((.*)\))?$`)
	profileSize    = regexp.MustCompile(`^Tensor Size: ([\d,]+) elements \(.*\)$`)
	profileRow     = regexp.MustCompile(`^(\w+): +([\d.]+) ms \| AlgBW: +([\d.]+) GB/s \| BusBW: +([\d.]+) GB/s$`)
	profileTorn    = regexp.MustCompile(`^(AllReduce|AllGather|ReduceScatter|AllToAll|Broadcast): +[\d.]*`)
	profileKnown   = regexp.MustCompile(`^(Results saved to: |\[DEBUG\] |\[INIT\] )`)
	// ownView is what only busbar's own text view has.
	ownView = regexp.MustCompile(
		`^(Data checked: \d+ of \d+ measured points|Complete: \d+ \w+|Not ended: the run goes on, or was cut off)`)
)

func (p *profile) take(l line) (bool, error) {
	if m := profileTitle.FindStringSubmatch(l.body); m != nil {
		t, err := p.begin("collective profiler", "collective profiler text", l.n)
		t.run.World, _ = amount(m[1])
		t.lacks(notice.SourceLastLine)
		return true, err
	}
	t := p.test
	if t == nil {
		return false, nil
	}
	if ownView.MatchString(l.body) {
		return true, &Error{Path: p.in.file.Path, Line: l.n,
			Text: "this is the text view of a run of busbar: its records are in the .jsonl file of the same name"}
	}
	if m := profileBackend.FindStringSubmatch(l.body); m != nil {
		t.backend(m[1], m[2], "")
		return true, nil
	}
	if m := profileSize.FindStringSubmatch(l.body); m != nil {
		p.elements, _ = count(strings.ReplaceAll(m[1], ",", ""))
		return true, nil
	}
	if m := profileRow.FindStringSubmatch(l.body); m != nil {
		return true, p.row(l, m)
	}
	if profileTorn.MatchString(l.body) {
		return true, p.in.torn(l.n, l.text)
	}
	if l.body == "Profiling Complete!" {
		t.ends(result.Complete, nil)
		return true, nil
	}
	return profileKnown.MatchString(l.body), nil
}

// row makes a record of a row.
func (p *profile) row(l line, m []string) error {
	ms, ok := number(m[2])
	c, err := coll.ParseCollective(m[1])
	if !ok || err != nil {
		return p.in.torn(l.n, l.text)
	}
	rec := newRecord(l.n, c, "")
	rec.Type, rec.Placement, rec.Mode, rec.World = coll.Float32, coll.OutOfPlace, coll.Throughput, p.test.run.World
	if rec.Count = p.elements; c.Reduces() {
		rec.Op = coll.Sum
	}
	if c == coll.AllReduce {
		rec.Placement = coll.InPlace // torch reduces a tensor in place
	}
	if sized, err := rec.WithElements(p.elements); err == nil {
		rec.Case = sized
	}
	timed(rec, ms, 1e-3, backToBack, "mean over iterations on rank 0")
	rec.Time.Samples, rec.Time.Stop = 1, "fixed"
	state(rec, "AlgBW", m[3])
	state(rec, "BusBW", m[4])
	restate(rec, m[3], m[4])
	return p.test.add(rec)
}

// restate notes where the source's bandwidths are others than those of its size and time.
func restate(rec *result.Record, algText, busText string) {
	alg, _ := number(algText)
	bus, _ := number(busText)
	s := rec.Time.Seconds
	off := func(printed, real float64) bool { // beyond what three decimals of a millisecond and two of a GB/s round
		return math.Abs(printed-real) > 0.006+real*0.0006e-3/math.Max(s, 1e-9)
	}
	if s > 0 && (off(alg, rec.AlgBW(s)/1e9) || off(bus, rec.BusBW(s)/1e9)) {
		rec.Notes = append(rec.Notes, fmt.Sprintf("restated: the source prints AlgBW %s and BusBW %s, which are GiB/s "+
			"by another definition; here they are made from size and time", algText, busText))
	}
}
