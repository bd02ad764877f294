package foreign

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// deepSpeed reads the tables of DeepSpeed's communication benchmark.
type deepSpeed struct {
	layout
	collective string
}

var (
	deepHeading = regexp.MustCompile(`^-+ Performance of (\w+) on (\d+) devices -+$`)
	deepColumns = regexp.MustCompile(`^Size \(Bytes\) +Description +Duration.* +Throughput \((\w+)\) +BusBW`)
	// "1.0 MB  262144x4  35.4 us  474.2  414.9": elements times their size
	deepRow  = regexp.MustCompile(`^[\d.]+(?: ?[KMGT]?B)? +((\d+)x(\d+)) +([\d.]+)( us| ms)? +([\d.]+) +([\d.]+)$`)
	deepTorn = regexp.MustCompile(`^\d.*\dx\d`)
)

func (p *deepSpeed) take(l line) (bool, error) {
	if m := deepHeading.FindStringSubmatch(l.body); m != nil {
		p.collective = m[1]
		return true, p.beginWorld("DeepSpeed communication benchmark", "table of DeepSpeed", l, m[2], "unknown", "")
	}
	if p.test == nil {
		return false, nil
	}
	if m := deepColumns.FindStringSubmatch(l.body); m != nil {
		p.test.set("bandwidth unit", m[1])
		return true, nil
	}
	if m := deepRow.FindStringSubmatch(l.body); m != nil {
		return true, p.row(l, m)
	}
	if deepTorn.MatchString(l.body) {
		return true, p.in.torn(l.n, l.text)
	}
	return false, nil
}

// beginWorld begins the table of a script around torch.distributed, whose heading states the number of ranks.
func (p *layout) beginWorld(tool, format string, l line, world, backend, library string) error {
	t, err := p.begin(tool, format, l.n)
	t.run.World, _ = amount(world)
	t.stated = bandwidths{alg: "algbw", bus: "busbw"}
	t.backend(backend, library, "")
	return err
}

// row makes a record of a row.
func (p *deepSpeed) row(l line, m []string) error {
	elements, okElements := count(m[2])
	size, okSize := amount(m[3])
	took, okTime := number(m[4])
	world := max(int64(p.test.run.World), 1)
	if !okElements || !okSize || !okTime || size == 0 || elements > math.MaxInt64/int64(size)/world {
		return p.in.torn(l.n, l.text)
	}
	unit := 1e-6 // with --raw too
	if m[5] == " ms" {
		unit = 1e-3
	}
	rec := torchRecord(l, p.collective, coll.Throughput)
	rec.SizeBytes = elements * int64(size)
	if rec.Collective == coll.AllGather { // what each rank gives
		rec.SizeBytes *= world
	}
	timed(rec, took, unit, backToBack, "mean over trials")
	state(rec, "description", m[1])
	state(rec, "throughput", m[6])
	state(rec, "busbw", m[7])
	return p.test.add(rec)
}

// torchRecord is a record of a row without its time.
func torchRecord(l line, name string, mode coll.Mode) *result.Record {
	rec := newRecord(l.n, 0, "")
	rec.Collective, rec.Imported.Operation = operationOf(name)
	if rec.Mode = mode; rec.Collective.Reduces() {
		rec.Op = coll.Sum // they have no other
	}
	return rec
}

// book reads the tables of all_reduce_bench.py and torch-dist-bench.py of stas00's ML engineering book.
type book struct {
	layout
	library    string // NCCL's version, from a line before the tables
	collective string // of the heading
	columns    []string
}

var (
	// "The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials, …):"
	bookHeading = regexp.MustCompile(
		`^The average bandwidth(?: and the per-call latency)? of (\w+)(?: collectives)? over (\d+) ranks \((.*)\):$`)
	bookSoftware = regexp.MustCompile(`^- software: .*\bnccl=\((\d+), (\d+), (\d+)\)`)
	bookSize     = regexp.MustCompile(`^([\d.]+)(B|KiB|MiB|GiB)$`)
)

func (p *book) take(l line) (bool, error) {
	if m := bookSoftware.FindStringSubmatch(l.body); m != nil {
		p.library = strings.Join(m[1:], ".")
		return true, nil
	}
	if m := bookHeading.FindStringSubmatch(l.body); m != nil {
		backend, library := "unknown", ""
		if p.library != "" {
			backend, library = "nccl", "NCCL "+p.library
		}
		const format = "table of all_reduce_bench or torch-dist-bench"
		err := p.beginWorld("ML engineering book", format, l, m[2], backend, library)
		p.collective, p.columns = m[1], nil
		p.test.set("trials", m[3])
		return true, err
	}
	if p.test == nil || !strings.HasPrefix(l.body, "|") || !strings.HasSuffix(l.body, "|") {
		return false, nil
	}
	cells := strings.Split(strings.Trim(l.body, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	switch {
	case cells[0] == "payload":
		p.columns = cells
		return true, nil
	case strings.Trim(cells[0], "-:") == "":
		return true, nil
	}
	return true, p.row(l, cells)
}

var bookUnits = map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// row makes a record of each bus bandwidth, and of each median latency. Other columns belong to these.
func (p *book) row(l line, cells []string) error {
	m := bookSize.FindStringSubmatch(cells[0])
	if m == nil || len(cells) != len(p.columns) {
		return p.in.torn(l.n, l.text)
	}
	payload, ok := number(m[1])
	bytes := payload * bookUnits[m[2]]
	if !ok || bytes > 1<<60 {
		return p.in.torn(l.n, l.text)
	}
	var records []*result.Record
	for i, column := range p.columns {
		name, what, _ := strings.Cut(column, " ")
		if name == "busbw" || name == "latency" || name == "median" {
			name, what = p.collective, column
		}
		text := strings.TrimSuffix(strings.TrimSuffix(cells[i], "GBps"), "us")
		latency := strings.HasSuffix(what, "median")
		if text == "" || !latency && what != "busbw" { // not measured, or no point of its own
			continue
		}
		v, ok := number(text)
		if !ok {
			return p.in.torn(l.n, l.text)
		}
		rec := torchRecord(l, name, coll.Throughput)
		rec.SizeBytes, rec.Type = int64(bytes), coll.Float32 // they have no other
		if latency {
			rec.Mode = coll.Latency
			timed(rec, v, 1e-6, "", "median over calls, of the slowest rank")
		} else {
			p.bandwidth(rec, v, text, cells)
		}
		records = append(records, rec)
	}
	return p.test.add(records...)
}

// bandwidth makes the time of a printed bus bandwidth.
func (p *book) bandwidth(rec *result.Record, v float64, text string, cells []string) {
	state(rec, "busbw", text)
	if i := slices.Index(p.columns, "algbw"); i > 0 {
		state(rec, "algbw", strings.TrimSuffix(cells[i], "GBps"))
	}
	factor := rec.Collective.BusFactor(p.test.run.World)
	if rec.Collective != coll.Other && v > 0 && factor > 0 {
		timed(rec, float64(rec.SizeBytes)*factor/v, 1e-9, backToBack, "mean over trials, from the printed bandwidth")
	}
}
