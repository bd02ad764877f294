package bench

import (
	"fmt"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Data fills and checks the buffers of operations on one rank, and keeps the results and times of the checks.
type Data struct {
	w       World
	found   mismatch
	of      string // the operation that had the first wrong element
	way     Way
	seconds float64
}

// NewData is for the operations of one point.
func NewData(w World) *Data { return &Data{w: w, found: mismatch{index: -1}} }

// Load poisons the output of an operation and fills its input with the pattern.
func (d *Data) Load(c coll.Case, b Buffers) error {
	defer d.timed()()
	return b.each(c, d.w.Rank, func(p Part, b Buffers) error { return load(p.Case, p.Rank, b) })
}

// Verify compares every element of an operation's output with its expected value; name distinguishes the operation.
func (d *Data) Verify(name string, c coll.Case, b Buffers) error {
	defer d.timed()()
	return b.each(c, d.w.Rank, func(p Part, b Buffers) error {
		d.way = b.Send.Way()
		found, err := verify(p.Case, p.Rank, b)
		if err != nil {
			return err
		}
		if d.found.wrong == 0 && found.wrong > 0 {
			d.of = name + p.Name
			d.found.index, d.found.want, d.found.got = found.index, found.want, found.got
		}
		d.found.elements += found.elements
		d.found.wrong += found.wrong
		return nil
	})
}

// timed counts the time until the function that it returns is called.
func (d *Data) timed() func() {
	begun := time.Now()
	return func() { d.seconds += time.Since(begun).Seconds() }
}

// rankCheck is one rank's check, as exchanged by ranks.
type rankCheck struct{ elements, wrong, index, seconds, way float64 }

// Collect adds what all ranks have verified since the last time to the check of a point. On rank 0 the reason is what
// was wrong; check.Result has it on every rank. Collective.
func (d *Data) Collect(check *result.Check) (wrong notice.Fact, err error) {
	found := d.found
	d.found = mismatch{index: -1}
	most := []float64{float64(found.wrong)}
	if err := d.w.Max(most); err != nil {
		return nil, err
	}
	all, err := gather(d.w, rankCheck{float64(found.elements), float64(found.wrong), float64(found.index), d.seconds,
		float64(d.way)})
	if err != nil {
		return nil, err
	}
	var ranks [ways]int
	for _, r := range all {
		check.Elements += int64(r.elements)
		check.Wrong += int64(r.wrong)
		check.Seconds = max(check.Seconds, r.seconds)
		ranks[int(r.way)]++
	}
	check.Way = waysOf(ranks)
	if check.Result = "ok"; most[0] == 0 {
		return nil, nil
	}
	check.Result = "wrong"
	var texts [3]string
	rank := -1
	for i, text := range []string{d.of, found.got, found.want} {
		if rank, texts[i], err = d.w.firstText(text); err != nil {
			return nil, err
		}
	}
	d.of = ""
	if d.w.Rank != 0 {
		return nil, nil
	}
	first := notice.WrongElement{Rank: d.w.Name(rank), Host: d.w.host(rank), Index: int64(all[rank].index),
		Want: texts[2], Got: texts[1]}
	check.First = &result.Wrong1{Rank: first.Rank, Host: first.Host, Index: first.Index, Want: first.Want,
		Got: first.Got}
	return notice.DataWrong{Wrong: check.Wrong, Elements: check.Elements, Of: texts[0], WrongElement: first}, nil
}

// waysOf names the way of all ranks, or each with the number of its ranks.
func waysOf(ranks [ways]int) string {
	var plain, counted []string
	for way, n := range ranks {
		if n > 0 {
			plain = append(plain, Way(way).String())
			counted = append(counted, fmt.Sprintf("%s (%s)", Way(way), units.Count(n, "rank")))
		}
	}
	if len(plain) == 1 {
		return plain[0]
	}
	return strings.Join(counted, ", ")
}
