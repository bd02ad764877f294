package foreign

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// rcclTests sorts the rows of rccl-tests' JSON into runs by world.
type rcclTests struct {
	in     *input
	tests  map[string]*test
	order  []*test
	launch string
}

// rcclDocument says whether an object is a row of rccl-tests.
func rcclDocument(f fields) bool { return f["size"] != nil && f["time"] != nil && f["inPlace"] != nil }

// rcclRow takes a row that stands alone, one object a line.
func (in *input) rcclRow(f fields) error {
	if in.rccl == nil {
		in.rccl = &rcclTests{in: in}
	}
	return in.rccl.add(f)
}

// add makes a record of a row.
func (p *rcclTests) add(f fields) error {
	number := func(key string) int {
		n, _ := amount(f.text(key))
		return n
	}
	perRank := max(number("gpusPerRank"), 1)
	world := number("ranks") * perRank
	if world == 0 {
		world = number("gpus")
	}
	name := f.text("name")
	if name == "" {
		name = f.text("collective")
	}
	rec := &result.Record{Case: coll.Case{Root: -1, SizeBytes: -1, Count: -1}, Status: result.OK,
		Check:    result.Check{Result: "unknown"},
		Imported: &result.Origin{Stated: map[string]string{}}}
	if n, ok := amount(f.text("numCycle")); ok {
		rec.Cycle = n + 1
	}
	if !rcclRecord(rec, world, name, f.text("type"), f.text("redop"), f.text("size"), f.text("time"), f.text("inPlace"),
		f.text("wrong")) {
		return p.in.torn(0, fmt.Sprintf("a row of rccl-tests without a size or time, of %s", name))
	}
	for _, key := range []string{"algBw", "busBw"} {
		if text := f.text(key); text != "" {
			rec.Imported.Stated[key] = text
		}
	}
	t, err := p.of(world, number("nodes"), number("ranksPerNode")*perRank)
	if err != nil {
		return err
	}
	p.in.counts.Rows++
	return t.add(rec)
}

// of is the run of a world.
func (p *rcclTests) of(world, nodes, perNode int) (*test, error) {
	key := fmt.Sprint(world, nodes, perNode)
	if len(p.order) >= maxTableRuns && p.tests[key] == nil {
		if err := p.end(result.Complete, nil); err != nil {
			return nil, err
		}
	}
	if p.tests == nil {
		p.tests = map[string]*test{}
	}
	t := p.tests[key]
	if t == nil {
		const tool = "rccl-tests"
		t = p.in.newTest(tool, "rccl-tests JSON", 0)
		t.stated = bandwidths{alg: "algBw", bus: "busBw"}
		if p.launch == "" {
			p.launch = t.run.Launch
		}
		t.run.Launch, t.run.World, t.run.Nodes, t.run.RanksPerNode = p.launch, world, nodes, perNode
		t.run.Backend = result.Backend{Name: "rccl", Library: libraryBy("RCCL", "", tool)}
		p.tests[key], p.order = t, append(p.order, t)
	}
	return t, nil
}

// end closes the runs; a nil p has none.
func (p *rcclTests) end(outcome result.Outcome, cause notice.Fact) error {
	if p == nil {
		return nil
	}
	for _, t := range p.order {
		if err := t.end(outcome, cause); err != nil {
			return err
		}
	}
	p.tests, p.order = nil, nil
	return nil
}
