package foreign

import (
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// ncclFacts are what rows and the lines around them tell of which collective it was, where no line names it.
type ncclFacts struct {
	typed      string // program of the command over the table
	asked      int    // ranks that its launcher was told to start
	groups     []int  // of the ranks
	collective coll.Collective
	operation  string
	decided    bool

	rows          int
	ops           []string // values of redop, in the order of appearance
	rooted        bool     // a root is named
	uncheckedIn   bool     // the data was checked out of place, and could not be in place
	checkedIn     bool
	largest       float64 // busbw of any row, and
	ratio         span    // its busbw/algbw
	sharedByCount int     // rows whose size is a share for each rank
	plainByCount  int     // rows whose size is one tensor
}

// row notes what one row tells.
func (f *ncclFacts) row(r *ncclRow, c *ncclColumns) {
	f.rows++
	if len(f.ops) < 8 && !slices.Contains(f.ops, r.op) {
		f.ops = append(f.ops, r.op)
	}
	if n, ok := number(r.root); ok && n >= 0 {
		f.rooted = true
	}
	at := slices.Index(c.blocks[0], c.error)
	if width := len(c.blocks[0]); at >= 0 && len(r.figures) == 2*width {
		out, in := r.figures[at], r.figures[width+at]
		f.uncheckedIn = f.uncheckedIn || out != "N/A" && in == "N/A"
		f.checkedIn = f.checkedIn || in != "N/A"
	}
	if s := int64(dataType(r.dataType).Size()); s > 0 && r.count > 0 {
		if r.size == r.count*s {
			f.plainByCount++
		} else if r.size > r.count*s {
			f.sharedByCount++
		}
	}
	alg, bus := slices.Index(c.blocks[0], "algbw"), slices.Index(c.blocks[0], "busbw")
	if alg < 0 || bus < 0 {
		return
	}
	if b, ok := number(r.figures[bus]); ok && b > f.largest {
		if ratio, ok := ratioOf(r.figures[alg], r.figures[bus]); ok {
			f.largest, f.ratio = b, ratio
		}
	}
}

// world is the number of ranks of one communicator; 0 where the source does not tell.
func (t *ncclTest) world() int {
	if len(t.ranks) == 0 {
		return 0
	}
	n, last := 0, 0
	for i, r := range t.ranks {
		if last = max(last, r.Rank+1); t.facts.groups[i] == t.facts.groups[0] {
			n++
		}
	}
	if slices.Max(t.facts.groups) > 0 {
		return n
	}
	return last
}

// dropCommand forgets the command over a table that another program made.
func (t *ncclTest) dropCommand() {
	f := &t.facts
	k, operation := perfProgram(f.typed)
	other := false
	if t.program != "" {
		named, title := perfProgram(t.program)
		other = named != k || title != operation
	} else if k != coll.Other && t.columns != nil && f.rows > 0 {
		other = !f.fitsColumns(k, t.columns, f.reduces())
	}
	if other {
		f.typed, f.asked = "", 0
	}
}

// reduces reports whether a row names an operation.
func (f *ncclFacts) reduces() bool {
	return slices.ContainsFunc(f.ops, func(op string) bool { return op != "" && op != "none" })
}

// collective is the one that was found; 0 before that.
func (t *ncclTest) collective() coll.Collective {
	if !t.facts.decided && t.program != "" {
		t.facts.collective, t.facts.operation = perfProgram(t.program)
		t.facts.decided = true
	}
	if !t.facts.decided {
		return 0
	}
	return t.facts.collective
}

// decide fills in what the first rows tell together.
func (t *ncclTest) decide(rows []*result.Record) {
	if t.facts.typed != "" {
		t.dropCommand()
	}
	t.describe()
	t.facts.decide(t)
	if t.run.World == 0 && t.columns != nil && t.columns.error != "res" {
		if t.run.World = t.facts.worldOf(t.facts.collective); t.run.World > 0 {
			t.deduced(notice.Deduced{What: notice.DeducedRanks, From: notice.FromRatio})
		}
	}
	for _, r := range rows {
		if r.Collective == coll.Other && r.Imported.Operation == "" {
			r.Collective, r.Imported.Operation = t.facts.collective, t.facts.operation
		}
	}
}

// describe fills in the run's line.
func (t *ncclTest) describe() {
	t.run.World = t.world()
	tool := strings.TrimSpace(t.vendor + "-tests " + t.version)
	t.tool(tool)
	if t.columns != nil {
		t.run.Imported.Format = strings.Replace(t.columns.era, "nccl-tests", t.vendor+"-tests", 1)
	} else {
		t.run.Imported.Format = t.vendor + "-tests text, without a table"
	}
	t.run.Backend = result.Backend{Name: t.vendor, Library: libraryBy(strings.ToUpper(t.vendor), t.library, tool),
		Version: t.library}
	if t.export != nil {
		t.describeExport()
		return
	}
	t.run.Method.Average = "mean over ranks, unless -a was given"
	if len(t.ranks) > 0 && len(t.facts.groups) > 0 && slices.Max(t.facts.groups) > 0 {
		t.warn(notice.ConcurrentGroups{})
	}
	seen := map[int]int{}
	for _, r := range t.ranks {
		seen[r.Rank]++
	}
	if n := seen[0]; n > 1 {
		t.warn(notice.SeparateWorlds{Processes: n})
	}
	if t.facts.asked > 0 && t.run.World > 0 && t.facts.asked != t.run.World && len(seen) == len(t.ranks) {
		t.set("ranks of the launcher", itoa(t.facts.asked))
	}
}

// libraryBy is a library with the tool that measured it, so that it is never taken for one that rank measured.
func libraryBy(library, version, tool string) string {
	if library+version == "" {
		return "by " + tool
	}
	return strings.TrimSpace(library+" "+version) + " (by " + tool + ")"
}

// decide finds the collective: named in the header, or in the command over the table, or the only one that the columns
// and figures leave.
func (f *ncclFacts) decide(t *ncclTest) {
	if t.collective() != 0 {
		return
	}
	f.decided, f.collective = true, coll.Other
	if f.typed != "" {
		f.collective, f.operation = perfProgram(f.typed)
		t.deduced(notice.Deduced{What: notice.DeducedCollective, From: notice.FromCommand})
		return
	}
	if t.columns == nil || f.rows == 0 {
		return
	}
	if left := f.candidates(t); len(left) == 1 {
		if f.collective = left[0]; f.collective == coll.Other {
			f.operation = "hypercube"
		}
		t.deduced(notice.Deduced{What: notice.DeducedCollective, From: notice.FromColumns})
	} else if len(left) == 0 {
		t.warn(notice.CollectiveUnknown{})
	} else {
		names := make([]string, len(left))
		for i, c := range left {
			names[i] = c.String()
		}
		t.warn(notice.CollectiveUnknown{Fits: names})
	}
}

// candidates are the collectives that nothing speaks against.
func (f *ncclFacts) candidates(t *ncclTest) (left []coll.Collective) {
	c, n := t.columns, t.world()
	if n == 0 {
		n = t.in.file.Given.World
	}
	for _, k := range coll.Collectives() {
		if !f.fitsColumns(k, c, f.reduces()) || f.rooted && !k.Rooted() ||
			!f.rooted && c.root && c.error == "#wrong" && k.Rooted() {
			continue
		}
		if inPlaceUnchecked := k == coll.AllToAll || k == coll.SendRecv; f.checkedIn && inPlaceUnchecked || f.uncheckedIn &&
			!inPlaceUnchecked {
			continue
		}
		several := n > 1 || n == 0 && f.largest > 0 // of one rank busbw is 0
		if t.vendor == "nccl" && (k.Shared() && several && f.plainByCount > 0 || !k.Shared() && f.sharedByCount > 0) {
			continue
		}
		if several && f.largest > 0 && c.error != "res" && !f.fitsRatio(k, n) {
			continue
		}
		left = append(left, k)
	}
	if len(left) == 0 && c.op && c.root && slices.Equal(f.ops, []string{""}) {
		left = []coll.Collective{coll.Other} // hypercube leaves redop empty
	}
	return left
}

// fitsRatio compares busbw over algbw with that of the collective, in a world that may not be known.
func (f *ncclFacts) fitsRatio(k coll.Collective, n int) bool {
	switch {
	case n > 1:
		return f.ratio.has(k.BusFactor(n))
	case k == coll.AllReduce:
		return f.ratio.hi >= 1
	case k.Shared():
		return f.ratio.lo < 1
	}
	return f.ratio.has(1)
}

// worldOf is the only number of ranks that the ratio of busbw to algbw leaves; 0 if there is none, or are several.
func (f *ncclFacts) worldOf(k coll.Collective) (n int) {
	const most = 4096 // the ratio of larger worlds differs in digits that are not printed
	if f.largest <= 0 || k != coll.AllReduce && (k == coll.Other || !k.Shared()) {
		return 0
	}
	for i := 2; i <= most; i++ {
		if f.ratio.has(k.BusFactor(i)) {
			if n != 0 {
				return 0
			}
			n = i
		}
	}
	return n
}

// fitsColumns compares with the columns of the collective's program in each era.
func (f *ncclFacts) fitsColumns(k coll.Collective, c *ncclColumns, op bool) bool {
	switch c.error {
	case "#wrong": // all columns are there
		if k == coll.SendRecv { // it prints an operation that it does not use
			return op || slices.Contains(f.ops, "none")
		}
		return op == k.Reduces() && (op || !slices.Contains(f.ops, ""))
	case "res": // these five were there
		switch k {
		case coll.AllReduce, coll.AllGather, coll.ReduceScatter, coll.Broadcast, coll.Reduce:
			return c.op == k.Reduces() && c.root == k.Rooted()
		}
		return false
	}
	if k == coll.AllToAll { // an empty column
		return c.op && !c.root && !op
	}
	return c.op == k.Reduces() && (!c.op || op) && c.root == k.Rooted()
}
