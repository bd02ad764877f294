package analysis

import (
	"cmp"
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/title"
)

// Condition is the properties that two times must share to be compared, except contender and launch.
type Condition struct {
	coll.Case
	Nodes, PerNode int
	Rotate         int64
	Aggregate      int
	Average        string // of throughput mode; latency mode has no choice
	Whole          Shape  // of the divided world; zero unless a group measured
}

// ConditionOf is how a record was taken.
func ConditionOf(run *result.Run, r *result.Record) Condition {
	nodes, perNode := result.Row{Run: run, Record: r}.Shape()
	c := Condition{Case: r.Case, Nodes: nodes, PerNode: perNode, Rotate: run.Method.Rotate,
		Aggregate: max(run.Method.Aggregate, 1)}
	if r.Mode == coll.Throughput {
		c.Average = run.Method.Average
	}
	if r.Groups.Divided() {
		c.Whole = Shape{run.World, run.Nodes, run.RanksPerNode}
	}
	return c
}

// FamilyOf is what all points of one table share: everything but world, its shape, and size.
func FamilyOf(c Condition) Condition {
	c.World, c.Nodes, c.PerNode, c.SizeBytes, c.Count, c.Whole = 0, 0, 0, 0, 0, Shape{}
	return c
}

// TableOf is the condition that all rows of one table share: everything but the size.
func TableOf(c Condition) Condition {
	c.SizeBytes, c.Count = 0, 0
	return c
}

// FamilyTitle is the title of a table for all worlds.
func (c Condition) FamilyTitle() string {
	return c.table().String() + title.Unusual(c.method())
}

// Title is the title of a table for one world.
func (c Condition) Title() string {
	return c.table().String() + ", " + c.where() + title.Unusual(c.method())
}

// where is the world of a condition, and of which world it is a group.
func (c Condition) where() string {
	words := ShapeOf(c).Words()
	if c.Whole.Nodes > 1 {
		words += fmt.Sprintf(" (of %s)", c.Whole)
	}
	return words
}

func (c Condition) table() title.Table {
	return title.Table{Collective: c.Collective, Type: c.Type, Op: c.Op, Root: c.Root, Imbalance: c.Imbalance,
		Groups: c.Groups, Placement: c.Placement, Mode: c.Mode}
}

func (c Condition) method() *result.Method {
	return &result.Method{Rotate: c.Rotate, Aggregate: c.Aggregate, Average: c.Average}
}

// Size is the condition's size as people write it.
func (c Condition) Size() string { return coll.FormatSize(c.SizeBytes, true) }

// Shape is a world and how it was laid on nodes.
type Shape struct {
	World   int `json:"world"`
	Nodes   int `json:"nodes"`
	PerNode int `json:"ranks_per_node"`
}

// ShapeOf is the world of a condition.
func ShapeOf(c Condition) Shape { return Shape{c.World, c.Nodes, c.PerNode} }

// String names a world in a table: "16 on 2 nodes".
func (s Shape) String() string {
	if s.Nodes > 1 {
		return fmt.Sprintf("%d on %d nodes", s.World, s.Nodes)
	}
	return fmt.Sprint(s.World)
}

// Named is the world in a notice.
func (s Shape) Named() notice.World { return notice.World{Ranks: s.World, Nodes: s.Nodes} }

// Words is "16 ranks on 2 nodes".
func (s Shape) Words() string { return s.Named().String() }

// CompareConditions orders conditions as tables do: by family, then world, then size.
func CompareConditions(a, b Condition) int {
	return cmp.Or(
		cmp.Compare(a.Collective, b.Collective), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Op, b.Op),
		cmp.Compare(a.Root, b.Root), cmp.Compare(a.Imbalance, b.Imbalance), a.Groups.Compare(b.Groups),
		cmp.Compare(a.Placement, b.Placement), cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Rotate, b.Rotate),
		cmp.Compare(a.Aggregate, b.Aggregate),
		cmp.Compare(a.Average, b.Average), cmp.Compare(a.World, b.World), cmp.Compare(a.Nodes, b.Nodes),
		cmp.Compare(a.PerNode, b.PerNode), cmp.Compare(a.Whole.Nodes, b.Whole.Nodes),
		cmp.Compare(a.Whole.PerNode, b.Whole.PerNode),
		cmp.Compare(a.SizeBytes, b.SizeBytes),
	)
}
