package sweeps

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/coll"
)

// Plan returns the cases for a world size in measuring order: part, collective, type, operation, root, size, placement,
// mode. Cases of several parts are planned once. places returns the placements that the backend supports for a
// collective. Plan replaces an unsupported placement by the first supported one. Without one, or if places is nil, it
// keeps all. Cases too small for the world and type (Count 0) remain. Plan fails if a root is outside the world,
// elements overflow, no part fits the world, or the plan has more than a million cases.
func (s *Sweep) Plan(world int, places func(coll.Collective) []coll.Placement) ([]coll.Case, error) {
	if world < 1 {
		return nil, fmt.Errorf("world size %d: must be at least 1", world)
	}
	p := planner{fit: s.Fit, places: places, seen: map[coll.Case]bool{}}
	for _, part := range s.Parts {
		if s.misfit(&part, world) != "" {
			continue
		}
		if slices.ContainsFunc(part.Groups, coll.Division.IsDimension) {
			if err := p.addDimensions(&part, world); err != nil {
				return nil, fmt.Errorf("%w (%s)", err, originOf(part.origins, "groups"))
			}
			continue
		}
		for _, d := range part.Groups {
			var err error
			p.training = cmp.Or(s.World, world) / d.N()
			d = s.fitted(d, world)
			if p.world, err = d.Size(world); err != nil {
				return nil, fmt.Errorf("%w (%s)", err, originOf(part.origins, "groups"))
			}
			p.division = d
			if err := p.addPart(&part); err != nil {
				return nil, err
			}
		}
	}
	if p.cases == nil {
		return nil, fmt.Errorf("no part of this sweep fits a world of %d ranks: the training had %d", world, s.World)
	}
	return p.cases, nil
}

// addDimensions plans a part in groups of two kinds, each kind alone and both at once. The case of both is that of the
// first, and has a placement that both have.
func (p *planner) addDimensions(part *Part, world int) (err error) {
	if p.division, err = coll.Pair(part.Groups, part.Collectives, world); err != nil {
		return err
	}
	of := p.division.Dimensions()
	if first := of[0].Collective; !first.Reduces() && of[1].Collective.Reduces() &&
		!slices.Equal(part.Ops, []coll.RedOp{coll.Sum}) {
		return fmt.Errorf("behind %s, %s is measured with sum only: give the one that reduces first", first,
			of[1].Collective)
	}
	both := *part
	p.world, both.Collectives = of[0].Size, part.Collectives[:1]
	p.training = p.world
	if p.places != nil {
		both.Placements = available(available(part.Placements, p.places(of[0].Collective)), p.places(of[1].Collective))
	}
	return p.addPart(&both)
}

// addPart plans a part in the world, or in groups of it.
func (p *planner) addPart(part *Part) error {
	for _, c := range part.Collectives {
		roots, err := part.rootsOf(c, p.world)
		if err != nil {
			return err
		}
		for _, t := range part.Types {
			for _, op := range part.opsOf(c) {
				for _, root := range roots {
					k := coll.Case{Collective: c, Type: t, Op: op, Root: root, World: p.world}
					if err := p.addImbalances(part, k); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

type planner struct {
	world  int // ranks of a case
	places func(coll.Collective) []coll.Placement
	cases  []coll.Case
	seen   map[coll.Case]bool

	division  coll.Division // of the world
	training  int           // ranks of a case in the training that is replayed
	fit       bool
	reference bool // plan the even case of the same volume instead
}

// addImbalances plans the imbalances of an alltoallv, or a case that has none.
func (p *planner) addImbalances(part *Part, c coll.Case) error {
	if c.Collective != coll.AllToAllV {
		return p.add(part, c)
	}
	for _, c.Imbalance = range part.Imbalances {
		if n := c.Imbalance.Ranks(); n > 0 && n != p.world {
			return fmt.Errorf("%s has %d rows and columns, but the world has %d ranks: both must be equal", c.Imbalance,
				n, p.world)
		}
		p.reference = c.Imbalance != coll.Even // first what an uneven case is compared with
		if err := p.add(part, c); err != nil {
			return err
		}
		if !p.reference {
			continue
		}
		p.reference = false
		if err := p.add(part, c); err != nil {
			return err
		}
	}
	return nil
}

// add plans every size, placement and mode of one collective, type, operation and root.
func (p *planner) add(part *Part, c coll.Case) error {
	placements := part.Placements
	if p.places != nil {
		placements = available(placements, p.places(c.Collective))
	}
	for n := range part.Sizes.All() {
		n = p.scaled(n, &part.Sizes, c.Collective)
		sized := c.WithSize(n)
		if part.Sizes.Elements {
			var err error
			if sized, err = c.WithElements(n); err != nil {
				return fmt.Errorf("%s (elements: %s): %w", c.Collective, originOf(part.origins, "elements"), err)
			}
		}
		for _, sized.Placement = range placements {
			for _, sized.Mode = range part.Modes {
				if err := p.addCase(sized); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addCase plans one case, or its reference: in the undivided world, or in each group alone and then in all groups at
// once.
func (p *planner) addCase(c coll.Case) error {
	if p.reference {
		even, exists := c.EvenVolume()
		if !exists {
			return nil
		}
		c = even
	}
	if p.division == "" {
		return p.addOne(c)
	}
	if p.division.IsDimension() {
		c.Groups = coll.Groups{Division: p.division, Number: 1}
		first, second := c, c.In(1)
		first.Groups.Alone, second.Groups.Alone, second.Groups.Number = true, true, 2
		return cmp.Or(p.addOne(first), p.addOne(second), p.addOne(c))
	}
	for _, alone := range []bool{true, false} {
		for number := range p.division.N() {
			c.Groups = coll.Groups{Division: p.division, Number: number + 1, Alone: alone}
			if err := p.addOne(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// addOne plans a case once.
func (p *planner) addOne(c coll.Case) error {
	if p.seen[c] {
		return nil
	}
	if len(p.cases) == maxPoints {
		return fmt.Errorf("the plan has more than %d cases; ask for fewer sizes, roots or types", maxPoints)
	}
	p.seen[c] = true
	p.cases = append(p.cases, c)
	return nil
}

// available replaces unsupported placements by the first supported one.
func available(wanted, has []coll.Placement) []coll.Placement {
	if len(has) == 0 {
		return wanted
	}
	var all []coll.Placement
	for _, w := range wanted {
		if !slices.Contains(has, w) {
			w = has[0]
		}
		all = appendNew(all, []coll.Placement{w})
	}
	return all
}

func (p *Part) opsOf(c coll.Collective) []coll.RedOp {
	if c.Reduces() {
		return p.Ops
	}
	return []coll.RedOp{0}
}

func (p *Part) rootsOf(c coll.Collective, world int) ([]int, error) {
	if !c.Rooted() {
		return []int{-1}, nil
	}
	var roots []int
	for _, r := range p.Roots {
		if r >= world {
			return nil, fmt.Errorf("root %d (%s) is outside a world of %d: must be 0 to %d, or all", r,
				originOf(p.origins, "roots"), world, world-1)
		}
		if r != EveryRoot {
			roots = appendNew(roots, []int{r})
			continue
		}
		for every := range world {
			roots = appendNew(roots, []int{every})
		}
	}
	return roots, nil
}
