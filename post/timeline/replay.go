package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/trace"
)

// Replay is the collectives of a training's step as a sweep measures them again.
type Replay struct {
	World int        `json:"world"` // ranks
	Steps int        `json:"steps"` // whole steps of the first device; 0: calls are of a recording
	Parts []Replayed `json:"parts"` // in the order of a step
	// over all parts that were replayed: calls times the time of one
	Training float64 `json:"training_ms"` // 0: unknown, as operations are non-blocking
	Replayed float64 `json:"replayed_ms"`

	Lacks []notice.Notice `json:"-"` // what is left out or assumed
}

// Replayed is one kind of collective: a part of the sweep.
type Replayed struct {
	coll.Case               // World is the ranks of a group
	Division  coll.Division `json:"division,omitempty"` // "4:contiguous"; "" is the whole world
	Calls     float64       `json:"calls"`              // per step, of the rank with most
	Took      float64       `json:"median_ms"`          // of a call in training, waiting included
	Pure      *float64      `json:"pure_median_ms"`     // minimum over ranks; null: not matched
	Again     *float64      `json:"replayed_ms"`        // null: not in the benchmark
	Rest      *float64      `json:"rest_ms"`            // Took - Again: waiting and contention
	Matrix    coll.Matrix   `json:"-"`                  // of an alltoallv
}

// replayer builds a Replay.
type replayer struct {
	t       *Timeline
	kinds   map[replayKey]*replayKind
	matched map[*seen]common
	lacks   map[profiles.ReplayLack]int
	members map[string][]int // ranks that have a communicator of a name
}

// common is what the ranks of one collective have in common.
type common struct {
	pure   int64 // ns, the minimum of their times
	uneven bool
	matrix coll.Matrix // of an uneven exchange, who sends what to whom; nil: incomplete
}

type replayKey struct {
	coll.Case
	division coll.Division
}

// replayKind is the calls of one kind.
type replayKind struct {
	matrix     coll.Matrix
	at         float64 // ms after the beginning of a step: the earliest
	took, pure []float64
	calls      map[*Device]float64 // per step
}

// ReplayOf returns the collectives of a timeline's steps, or of its recordings if there are no steps.
func ReplayOf(t *Timeline) *Replay {
	b := &replayer{t, map[replayKey]*replayKind{}, map[*seen]common{}, map[profiles.ReplayLack]int{},
		map[string][]int{}}
	for _, p := range t.parties {
		for _, m := range p.matches {
			b.match(p, m)
		}
	}
	y := t.typically()
	for _, d := range y.devices {
		for _, g := range d.Groups {
			if d.Rank != nil && !slices.Contains(b.members[g.Name], *d.Rank) {
				b.members[g.Name] = append(b.members[g.Name], *d.Rank)
			}
		}
	}
	r := &Replay{World: t.world()}
	for _, d := range y.devices {
		steps := []int(nil)
		if y.per == perStep {
			steps = d.whole()
		}
		b.device(d, steps)
		r.Steps = cmp.Or(r.Steps, len(steps))
	}
	r.Parts = b.parts()
	r.Lacks = b.facts()
	return r
}

// match keeps what the ranks of one collective have in common.
func (b *replayer) match(p *party, m []*seen) {
	c := common{pure: m[0].end - m[0].start}
	for i, s := range m {
		c.pure = min(c.pure, s.end-s.start)
		c.uneven = c.uneven || s.splits != nil && p.recordings[i].rowOf(s).Bytes == nil
	}
	if c.uneven {
		c.matrix = p.matrix(m)
	}
	for _, s := range m {
		b.matched[s] = c
	}
}

// matrix returns the bytes of an exchange, rounded down to 16 as a sweep does, from what each rank sends and receives;
// nil if the lists of the ranks do not define it.
func (p *party) matrix(m []*seen) coll.Matrix {
	n := p.size
	rows := make(coll.Matrix, n) // in rows of a tensor
	for i := range rows {
		rows[i] = slices.Repeat([]int64{trace.Unknown}, n)
	}
	sent, unit := slices.Repeat([]int64{trace.Unknown}, n), int64(0)
	for i, s := range m {
		rank := p.recordings[i].rankIn(s.group)
		if s.splits == nil || rank < 0 || rank >= n {
			return nil
		}
		sent[rank] = s.splits.Sent.Bytes
		for other := range n {
			for _, known := range []struct {
				cell *int64
				of   []int64
			}{{&rows[rank][other], s.splits.Sent.Of}, {&rows[other][rank], s.splits.Received.Of}} {
				if other >= len(known.of) || known.of[other] == trace.Unknown {
					continue
				}
				if *known.cell != trace.Unknown && *known.cell != known.of[other] {
					return nil
				}
				*known.cell = known.of[other]
			}
		}
	}
	for i, row := range rows {
		if sum := coll.Total(row); sum > 0 && sent[i] > 0 && !slices.Contains(row, trace.Unknown) {
			unit = sent[i] / sum
		}
	}
	for i, row := range rows {
		if at := slices.Index(row, trace.Unknown); at >= 0 && unit > 0 && sent[i] >= 0 { // all but one are known
			row[at] = 0
			row[at] = sent[i]/unit - coll.Total(row)
		}
		if sum := coll.Total(row); slices.Min(row) < 0 || unit == 0 || sum*unit != max(sent[i], 0) {
			return nil
		}
		for j := range row {
			row[j] = row[j] * unit &^ 15
		}
	}
	if !slices.ContainsFunc(rows, func(row []int64) bool { return slices.Max(row) > 0 }) {
		return nil
	}
	return rows
}

// rankIn returns the device's rank in one of its groups; -1 if unknown.
func (d *Device) rankIn(group int32) int {
	g := &d.Groups[group]
	switch {
	case g.Rank != nil:
		return *g.Rank
	case d.Rank == nil:
		return trace.Unknown
	case g.Members != nil:
		return slices.Index(g.Members, *d.Rank)
	case g.Size == d.World:
		return *d.Rank
	}
	return trace.Unknown
}

// device adds the calls of a device in some steps; in all of its recording if there are none.
func (b *replayer) device(d *Device, steps []int) {
	for s := range units.Each(d.seen) {
		at := milliseconds(s.start)
		if steps != nil {
			if !slices.Contains(steps, int(s.step)) {
				continue
			}
			at -= d.Steps[s.step].Start
		}
		if d.Groups[s.group].Size == 1 { // moves nothing between ranks
			continue
		}
		key, lack := b.keyOf(d, s)
		if lack != "" {
			b.lacks[lack]++
			continue
		}
		k := b.kinds[key]
		if k == nil {
			k = &replayKind{matrix: b.matched[s].matrix, at: at, calls: map[*Device]float64{}}
			b.kinds[key] = k
		}
		k.at = min(k.at, at)
		k.calls[d]++
		k.took = append(k.took, milliseconds(s.end-s.start))
		if c, matched := b.matched[s]; matched {
			k.pure = append(k.pure, milliseconds(c.pure))
		}
	}
	for _, k := range b.kinds {
		k.calls[d] /= float64(max(1, len(steps)))
	}
}

// keyOf returns the kind of a call, or what it lacks.
func (b *replayer) keyOf(d *Device, s *seen) (key replayKey, lack profiles.ReplayLack) {
	row, g := d.rowOf(s), &d.Groups[s.group]
	what, err := coll.ParseCollective(row.Name)
	of, err2 := coll.ParseDataType(row.Type)
	lower := strings.ToLower(row.Name)
	common := b.matched[s]
	c := coll.Case{Collective: what, Type: of, Root: -1, World: g.Size}
	switch {
	case strings.Contains(lower, "send") || strings.Contains(lower, "recv"):
		return key, profiles.LacksPeers
	case err != nil:
		return key, profiles.LacksOperation
	case row.Parts > 1:
		return key, profiles.LacksSingleCalls
	case row.Bytes == nil && s.splits == nil:
		return key, profiles.LacksSize
	case err2 != nil:
		return key, profiles.LacksType
	case g.Size < 1:
		return key, profiles.LacksRanks
	case common.matrix == nil && (common.uneven || row.Bytes == nil):
		return key, profiles.LacksSplits
	case common.uneven:
		c.Collective, c.Imbalance = coll.AllToAllV, common.matrix.Register("replay")
		c = c.WithSize(c.Imbalance.Bytes())
	default:
		parts := int64(of.Size())
		if what.Shared() {
			parts *= int64(g.Size)
		}
		if c, err = c.WithElements(*row.Bytes / parts); err != nil || c.SizeBytes != *row.Bytes {
			return key, profiles.LacksSize
		}
	}
	if what.Rooted() {
		c.Root = 0
	}
	if what.Reduces() { // NCCL's kernels are named Sum whatever the operation, and Kineto does not record it
		c.Op = coll.Sum
	}
	division, regular := b.divisionOf(g)
	if !regular {
		return key, profiles.LacksGroups
	}
	return replayKey{c, division}, ""
}

// divisionOf returns how groups like this one divide the world: "N:contiguous", "N:strided", "" for the whole world.
func (b *replayer) divisionOf(g *Group) (division coll.Division, regular bool) {
	world, members := b.t.world(), g.Members
	if g.Size == world {
		return "", true
	}
	if len(members) != g.Size && statedWorld(b.t) == 0 { // of Nsight, whose names are unique
		members = b.members[g.Name]
	}
	for _, layout := range []string{":contiguous", ":strided"} {
		division = coll.Division(fmt.Sprint(world/g.Size, layout))
		apart := func(rank int) bool { return division.Of(rank, world) != division.Of(members[0], world) }
		if len(members) == g.Size && world%g.Size == 0 && !slices.ContainsFunc(members, apart) {
			return division, true
		}
	}
	return "", false
}

// InPlace reports whether frameworks pass one tensor as input and output.
func (r Replayed) InPlace() bool {
	return r.Collective == coll.AllReduce || r.Collective == coll.Broadcast || r.Collective == coll.Reduce
}

// parts returns the kinds of calls in the order of a step.
func (b *replayer) parts() (all []Replayed) {
	keys := slices.SortedFunc(maps.Keys(b.kinds), func(a, c replayKey) int {
		return cmp.Or(cmp.Compare(b.kinds[a].at, b.kinds[c].at), cmp.Compare(a.String(), c.String()),
			cmp.Compare(a.division, c.division))
	})
	for _, key := range keys {
		k := b.kinds[key]
		r := Replayed{Case: key.Case, Division: key.division, Took: stats.Median(k.took), Matrix: k.matrix,
			Calls: slices.Max(slices.Collect(maps.Values(k.calls)))}
		if k.pure != nil {
			r.Pure = new(stats.Median(k.pure))
		}
		all = append(all, r)
	}
	return all
}

// facts returns what is left out, and what is assumed.
func (b *replayer) facts() (all []notice.Notice) {
	for _, why := range slices.Sorted(maps.Keys(b.lacks)) {
		all = append(all, notice.New(profiles.NotReplayed{Why: why, Calls: b.lacks[why]}))
	}
	all = append(all, notice.New(profiles.ReplayAssumed{}))
	for _, n := range b.t.Notes {
		if _, missing := n.Fact.(profiles.RanksMissing); missing {
			all = append(all, n)
		}
	}
	return all
}
