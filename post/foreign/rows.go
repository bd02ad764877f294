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

// rowFormat is a layout of uniform rows. The named groups of its expressions are a row's values; those of the title
// and of lines between rows apply to all rows below.
type rowFormat struct {
	tool, format string
	stated       bandwidths
	title        *regexp.Regexp   // begins a table
	context      []*regexp.Regexp // other known lines
	row, torn    *regexp.Regexp
	end          string // the last line of a complete table; "": none
	// record sets a row's values; false: out of range.
	record func(rec *result.Record, v values) bool
}

// values are the named values of a row.
type values map[string]string

func (v values) match(re *regexp.Regexp, text string) bool {
	m := re.FindStringSubmatch(text)
	for i, name := range re.SubexpNames() {
		if m != nil && name != "" {
			v[name] = m[i]
		}
	}
	return m != nil
}

// ownView is text found only in busbar's text view.
var ownView = regexp.MustCompile(
	`^(Data checked: \d+ of \d+ measured points|Complete: \d+ \w+|Not ended: the run goes on, or was cut off)`)

var rowFormats = []rowFormat{
	{
		tool: "collective profiler", format: "collective profiler text",
		title: regexp.MustCompile(`^Configuration: World Size=(?P<world>\d+)$`),
		context: []*regexp.Regexp{
			regexp.MustCompile(`^Backend: (?P<backend>\S+) *(?:\((?P<library>.*)\))?$`),
			regexp.MustCompile(`^Tensor Size: (?P<elements>[\d,]+) elements \(.*\)$`),
			regexp.MustCompile(`^(Results saved to: |\[DEBUG\] |\[INIT\] )`),
		},
		row: regexp.MustCompile(`^(?P<collective>AllReduce|AllGather|ReduceScatter|AllToAll|Broadcast): +` +
			`(?P<time>[\d.]+) ms \| AlgBW: +(?P<AlgBW>[\d.]+) GB/s \| BusBW: +(?P<BusBW>[\d.]+) GB/s$`),
		torn:   regexp.MustCompile(`^(AllReduce|AllGather|ReduceScatter|AllToAll|Broadcast): +[\d.]*`),
		end:    "Profiling Complete!",
		record: profilerRecord,
	},
	{
		tool: "DeepSpeed communication benchmark", format: "table of DeepSpeed",
		stated:  bandwidths{alg: "algbw", bus: "busbw"},
		title:   regexp.MustCompile(`^-+ Performance of (?P<collective>\w+) on (?P<world>\d+) devices -+$`),
		context: []*regexp.Regexp{regexp.MustCompile(`^Size \(Bytes\) +Description +Duration`)},
		// "1.0 MB  262144x4  35.4 us  474.2  414.9": elements times their size
		row: regexp.MustCompile(`^[\d.]+(?: ?[KMGT]?B)? +(?P<description>(?P<elements>\d+)x(?P<width>\d+)) +` +
			`(?P<time>[\d.]+)(?P<unit> us| ms)? +(?P<throughput>[\d.]+) +(?P<busbw>[\d.]+)$`),
		torn:   regexp.MustCompile(`^\d.*\dx\d`),
		record: deepSpeedRecord,
	},
	{
		tool: "all_reduce_bench", format: "table of all_reduce_bench",
		stated: bandwidths{alg: "algbw", bus: "busbw"},
		title: regexp.MustCompile(`^The average bandwidth of (?P<collective>\w+) over (?P<world>\d+) ranks ` +
			`\(.*\):$`),
		context: []*regexp.Regexp{regexp.MustCompile(`^\| *(payload|-+:?) *\|`)},
		row: regexp.MustCompile(`^\| *(?P<size>[\d.]+)(?P<unit>B|KiB|MiB|GiB) *\| *(?P<busbw>[\d.]+)GBps *` +
			`\| *(?P<algbw>[\d.]+)GBps *\|$`),
		torn:   regexp.MustCompile(`^\|`),
		record: benchRecord,
	},
}

// rowTable reads the tables of one rowFormat.
type rowTable struct {
	layout
	*rowFormat
	values values
}

func (p *rowTable) take(l line) (bool, error) {
	v := values{}
	if v.match(p.title, l.body) {
		t, err := p.begin(p.tool, p.format, l.n)
		p.values, t.stated = v, p.stated
		t.run.World, _ = amount(v["world"])
		t.backend("unknown", "", "")
		if p.end != "" {
			t.lacks(notice.SourceLastLine)
		}
		return true, err
	}
	if p.test == nil {
		return false, nil
	}
	for _, re := range p.context {
		if p.values.match(re, l.body) {
			if name := p.values["backend"]; name != "" {
				p.test.backend(name, p.values["library"], "")
			}
			return true, nil
		}
	}
	switch {
	case ownView.MatchString(l.body):
		return true, p.in.own(l.n)
	case v.match(p.row, l.body):
		return true, p.add(l, v)
	case p.torn.MatchString(l.body):
		return true, p.in.torn(l.n, l.text)
	case p.end != "" && l.body == p.end:
		p.test.ends(result.Complete, nil)
		return true, nil
	}
	return false, nil
}

// add adds the record of a row. All of these tools issue operations back to back and print a mean.
func (p *rowTable) add(l line, v values) error {
	for name, value := range p.values {
		if v[name] == "" {
			v[name] = value
		}
	}
	rec := newRecord(l.n, 0, "")
	rec.Collective, rec.Imported.Operation = operationOf(v["collective"])
	rec.Mode, rec.World = coll.Throughput, p.test.run.World
	if rec.Collective.Reduces() {
		rec.Op = coll.Sum // they have no other
	}
	if !p.record(rec, v) {
		return p.in.torn(l.n, l.text)
	}
	for name, text := range v {
		switch name {
		case "AlgBW", "BusBW", "algbw", "busbw", "description", "throughput":
			state(rec, name, text)
		}
	}
	return p.test.add(rec)
}

// profilerRecord reads a row of the collective profiler around PyTorch. It swaps the two bandwidths of all_reduce,
// prints one rank's share of all_gather and reduce_scatter as the total, and prints GiB as GB: bandwidths are
// recomputed from size and time, and the original ones kept as stated.
func profilerRecord(rec *result.Record, v values) bool {
	ms, ok := number(v["time"])
	rec.Type, rec.Placement = coll.Float32, coll.OutOfPlace
	if rec.Collective == coll.AllReduce {
		rec.Placement = coll.InPlace // torch reduces a tensor in place
	}
	rec.Count, _ = count(strings.ReplaceAll(v["elements"], ",", ""))
	if sized, err := rec.WithElements(rec.Count); err == nil {
		rec.Case = sized
	}
	timed(rec, ms, 1e-3, backToBack, "mean over iterations on rank 0")
	rec.Time.Samples, rec.Time.Stop = 1, "fixed"
	restate(rec, v["AlgBW"], v["BusBW"])
	return ok
}

// restate notes where the source's bandwidths differ from those of its size and time.
func restate(rec *result.Record, algText, busText string) {
	alg, _ := number(algText)
	bus, _ := number(busText)
	s := rec.Time.Seconds
	// off is beyond the rounding of three decimals of a millisecond and two of a GB/s.
	off := func(printed, real float64) bool {
		return math.Abs(printed-real) > 0.006+real*0.0006e-3/math.Max(s, 1e-9)
	}
	if s > 0 && (off(alg, rec.AlgBW(s)/1e9) || off(bus, rec.BusBW(s)/1e9)) {
		rec.Notes = append(rec.Notes, fmt.Sprintf("restated: the source prints AlgBW %s and BusBW %s, which are GiB/s "+
			"by another definition; here they are made from size and time", algText, busText))
	}
}

// deepSpeedRecord reads a row of DeepSpeed's communication benchmark. The size of all_gather is one rank's share.
func deepSpeedRecord(rec *result.Record, v values) bool {
	elements, okElements := count(v["elements"])
	width, okWidth := amount(v["width"])
	took, okTime := number(v["time"])
	world := max(int64(rec.World), 1)
	if !okElements || !okWidth || !okTime || width == 0 || elements > math.MaxInt64/int64(width)/world {
		return false
	}
	if rec.SizeBytes = elements * int64(width); rec.Collective == coll.AllGather {
		rec.SizeBytes *= world
	}
	unit := 1e-6 // with --raw too
	if v["unit"] == " ms" {
		unit = 1e-3
	}
	timed(rec, took, unit, backToBack, "mean over trials")
	return true
}

var benchUnits = map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// benchRecord reads a row of all_reduce_bench.py of the ML engineering book, and computes the time from its bandwidth.
func benchRecord(rec *result.Record, v values) bool {
	size, okSize := number(v["size"])
	busbw, okBW := number(v["busbw"])
	if size *= benchUnits[v["unit"]]; !okSize || !okBW || size > 1<<60 {
		return false
	}
	rec.SizeBytes, rec.Type = int64(size), coll.Float32 // it has no other
	factor := rec.Collective.BusFactor(rec.World)
	if rec.Collective != coll.Other && busbw > 0 && factor > 0 {
		timed(rec, float64(rec.SizeBytes)*factor/busbw, 1e-9, backToBack,
			"mean over trials, from the printed bandwidth")
	}
	return true
}
