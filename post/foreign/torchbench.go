package foreign

import (
	"math"
	"regexp"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// torchBench reads what scripts around torch.distributed print: DeepSpeed's communication benchmark, and
// all_reduce_bench.py and torch-dist-bench.py of stas00's ML engineering book.
type torchBench struct {
	in      *input
	test    *test
	library string // NCCL's version, from a line before the tables
	world   int
	name    string   // collective of the heading
	columns []string // of a table of the book
	open    bool     // below a heading
	deep    bool     // DeepSpeed's
}

func newTorchBench(in *input) *torchBench { return &torchBench{in: in} }

var (
	// "The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials, …):"
	bookHeading = regexp.MustCompile(
		`^The average bandwidth(?: and the per-call latency)? of (\w+)(?: collectives)? over (\d+) ranks \((.*)\):$`)
	bookSoftware = regexp.MustCompile(`^- software: .*\bnccl=\((\d+), (\d+), (\d+)\)`)
	bookSize     = regexp.MustCompile(`^([\d.]+)(B|KiB|MiB|GiB)$`)

	deepHeading = regexp.MustCompile(`^-+ Performance of (\w+) on (\d+) devices -+$`)
	deepColumns = regexp.MustCompile(`^Size \(Bytes\) +Description +Duration.* +Throughput \((\w+)\) +BusBW`)
	// "1.0 MB  262144x4  35.4 us  474.2  414.9": elements times their size
	deepRow = regexp.MustCompile(`^[\d.]+(?: ?[KMGT]?B)? +(\d+)x(\d+) +([\d.]+)( us| ms)? +([\d.]+) +([\d.]+)$`)
)

func (p *torchBench) opens(l line) bool {
	return bookHeading.MatchString(l.body) || deepHeading.MatchString(l.body) || bookSoftware.MatchString(l.body)
}

func (p *torchBench) take(l line) (bool, error) {
	if m := bookSoftware.FindStringSubmatch(l.body); m != nil {
		p.library = strings.Join(m[1:], ".")
		return true, nil
	}
	if m := bookHeading.FindStringSubmatch(l.body); m != nil {
		return true, p.heading(l, m, "ML engineering book", "table of all_reduce_bench or torch-dist-bench")
	}
	if m := deepHeading.FindStringSubmatch(l.body); m != nil {
		p.deep = true
		return true, p.heading(l, m, "DeepSpeed communication benchmark", "table of DeepSpeed")
	}
	switch {
	case !p.open:
		return false, nil
	case p.deep:
		return p.deepLine(l)
	case strings.HasPrefix(l.body, "|") && strings.HasSuffix(l.body, "|"):
		return true, p.bookLine(l)
	}
	return false, nil
}

// heading begins a table.
func (p *torchBench) heading(l line, m []string, tool, format string) error {
	deep := p.deep && bookHeading.FindString(l.body) == ""
	if err := p.close(); err != nil {
		return err
	}
	world, ok := amount(m[2])
	if !ok || world == 0 {
		return p.in.torn(l.n, l.text)
	}
	p.open, p.deep, p.world, p.name, p.columns = true, deep, world, m[1], nil
	p.test = p.in.newTest(tool, format, l.n)
	p.test.run.World, p.test.stated = world, bandwidths{alg: "algbw", bus: "busbw"}
	p.test.run.Backend = result.Backend{Name: "unknown", Library: libraryBy("", "", tool)}
	if p.library != "" {
		p.test.run.Backend = result.Backend{Name: "nccl", Library: libraryBy("NCCL", p.library, tool)}
	}
	if len(m) > 3 {
		p.test.set("trials", m[3])
	}
	return nil
}

// point is a record of a row without its time.
func (p *torchBench) point(l line, name string, mode coll.Mode) *result.Record {
	c, operation := operationOf(name)
	r := &result.Record{
		Case:   coll.Case{Collective: c, Root: -1, Mode: mode, World: p.world, SizeBytes: -1, Count: -1},
		Status: result.OK, Check: result.Check{Result: "off"},
		Imported: &result.Origin{Line: l.n, Operation: operation, Stated: map[string]string{}},
	}
	if c.Reduces() {
		r.Op = coll.Sum // they have no other
	}
	return r
}

// deepLine reads a line below a heading of DeepSpeed.
func (p *torchBench) deepLine(l line) (bool, error) {
	if m := deepColumns.FindStringSubmatch(l.body); m != nil {
		p.test.set("bandwidth unit", m[1])
		return true, nil
	}
	m := deepRow.FindStringSubmatch(l.body)
	if m == nil {
		if l.number() && strings.Contains(l.body, "x") {
			return true, p.in.torn(l.n, l.text)
		}
		return false, nil
	}
	elements, okElements := count(m[1])
	size, okSize := amount(m[2])
	took, okTook := number(m[3])
	if !okElements || !okSize || !okTook || size == 0 || elements > math.MaxInt64/int64(size)/int64(p.world) {
		return true, p.in.torn(l.n, l.text)
	}
	unit := 1e-6 // with --raw too
	if m[4] == " ms" {
		unit = 1e-3
	}
	r := p.point(l, p.name, coll.Throughput)
	r.SizeBytes = elements * int64(size)
	if r.Collective == coll.AllGather { // what each rank gives
		r.SizeBytes *= int64(p.world)
	}
	r.Time = &result.Time{Seconds: seconds(took, unit), Outliers: -1, Sync: "issued back to back", Summary: "mean over trials"}
	r.Imported.Stated["description"], r.Imported.Stated["throughput"], r.Imported.Stated["busbw"] = m[1]+"x"+m[2], m[5], m[6]
	p.in.counts.Rows++
	return true, p.add(r)
}

// bookLine reads a line of a table of the book.
func (p *torchBench) bookLine(l line) error {
	cells := strings.Split(strings.Trim(l.body, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	switch {
	case cells[0] == "payload":
		p.columns = cells
		return nil
	case strings.Trim(cells[0], "-:") == "":
		return nil
	}
	m := bookSize.FindStringSubmatch(cells[0])
	if m == nil || len(cells) != len(p.columns) {
		return p.in.torn(l.n, l.text)
	}
	payload, ok := number(m[1])
	bytes, whole := integer(payload * map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[m[2]])
	if !ok || !whole {
		return p.in.torn(l.n, l.text)
	}
	p.in.counts.Rows++
	for i, column := range p.columns[1:] {
		if err := p.bookCell(l, column, cells[1+i], bytes, cells); err != nil {
			return err
		}
	}
	return nil
}

// bookCell makes a record of a bus bandwidth, and one of a median latency. Other columns belong to these.
func (p *torchBench) bookCell(l line, column, text string, bytes int64, cells []string) error {
	what := column
	name, kind, several := strings.Cut(column, " ")
	if several && name != "latency" {
		what = kind
	} else {
		name = p.name
	}
	mode := coll.Throughput
	switch what {
	case "busbw":
	case "median", "latency median":
		mode = coll.Latency
	default:
		return nil
	}
	if text == "" { // not measured
		return nil
	}
	v, ok := number(strings.TrimSuffix(strings.TrimSuffix(text, "GBps"), "us"))
	if !ok {
		return p.in.torn(l.n, l.text)
	}
	r := p.point(l, name, mode)
	r.SizeBytes, r.Type = bytes, coll.Float32 // they have no other
	if mode == coll.Latency {
		r.Time = &result.Time{Seconds: seconds(v, 1e-6), Outliers: -1, Summary: "median over calls, of the slowest rank"}
		return p.add(r)
	}
	r.Imported.Stated["busbw"] = strings.TrimSuffix(text, "GBps")
	for i, other := range p.columns {
		if other == "algbw" {
			r.Imported.Stated[other] = strings.TrimSuffix(cells[i], "GBps")
		}
	}
	if factor := r.Collective.BusFactor(p.world); r.Collective != coll.Other && v > 0 && factor > 0 {
		r.Time = &result.Time{Seconds: seconds(float64(bytes)*factor/v, 1e-9), Outliers: -1, Sync: "issued back to back",
			Summary: "mean over trials, from the printed bandwidth"}
	}
	return p.add(r)
}

func (p *torchBench) add(r *result.Record) error {
	p.test.configure()
	return p.test.add(r)
}

func (p *torchBench) close() error {
	t := p.test
	if p.test, p.open, p.deep = nil, false, false; t == nil {
		return nil
	}
	return t.end(result.Complete, nil)
}
