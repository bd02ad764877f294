package coll_test

import (
	"fmt"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"

	"github.com/shoenig/test"
)

func TestDivision(t *testing.T) {
	for _, k := range golden.Table[struct {
		Text, Spelling string
		World          int
		Of             []int
		Second         string
	}](t, `
		Text          Spelling      World  Of                         Second
		2             2:contiguous  4      1; 1; 2; 2                 group 2 (ranks 2, 3)
		2:strided     2:strided     4      1; 2; 1; 2                 group 2 (ranks 1, 3)
		2:contiguous  2:contiguous  6      1; 1; 1; 2; 2; 2           group 2 (ranks 3-5)
		3:strided     3:strided     9      1; 2; 3; 1; 2; 3; 1; 2; 3  group 2 (ranks 1, 4, … 7)
		none          -             3      1; 1; 1
	`) {
		d, err := coll.ParseDivision(k.Text)
		size, sizeErr := d.Size(k.World)
		if err != nil || sizeErr != nil || string(d) != k.Spelling || size != k.World/d.N() {
			t.Errorf("%s is %q, groups of %d: %v, %v", k.Text, d, size, err, sizeErr)
		}
		var of []int
		for rank := range k.World {
			of = append(of, d.Of(rank, k.World))
		}
		test.SliceEqOp(t, k.Of, of, test.Sprint(k.Text, k.World))
		if got := (coll.Groups{Division: d, Number: 2}).WithRanks(size); k.Second != "" && got != k.Second {
			t.Errorf("%s: %s, want %s", k.Text, got, k.Second)
		}
	}
	for _, text := range []string{"", "1", "0", "-2", "x", "2:", "2:both", "2:strided:1", "2,4", "tp=1", "=2", "tp=",
		"t:p=2", "tp=2=2", "abcdefghijklmnopq=2"} {
		if d, err := coll.ParseDivision(text); err == nil {
			t.Errorf("%q is %q", text, d)
		}
	}
	for _, world := range []int{1, 2, 5} { // not divisible, groups of one rank
		if size, err := coll.Division("2:strided").Size(world); err == nil {
			t.Errorf("a world of %d has groups of %d", world, size)
		}
	}
	alone := coll.Groups{Division: "2:strided", Number: 2, Alone: true}
	together := coll.Groups{Division: "2:strided", Number: 2}
	if alone.Compare(together) >= 0 || together.Compare(alone) <= 0 || alone.Compare(alone) != 0 {
		t.Error("a group alone does not come first")
	}
	test.EqOp(t, "group 2 alone of 2:strided group 2 of 2:strided ", fmt.Sprint(alone, together, coll.Groups{}))
}

// The groups of the two dimensions are adjacent and strided ranks; every rank is in one of each.
func TestPair(t *testing.T) {
	d, err := coll.Pair([]coll.Division{"tp=4", "dp=2"}, []coll.Collective{coll.AllReduce, coll.AllGather}, 8)
	if err != nil || d != "tp=4:all_reduce+dp=2:all_gather" {
		t.Fatalf("%q, %v", d, err)
	}
	if d.Layout(0, 8) != "2:contiguous" || d.Layout(1, 8) != "4:strided" {
		t.Errorf("layouts %s and %s", d.Layout(0, 8), d.Layout(1, 8))
	}
	both := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, World: 4,
		Groups: coll.Groups{Division: d, Number: 1}}.WithSize(64)
	if c := both.In(1); c.Collective != coll.AllGather || c.Op != 0 || c.World != 2 || c.Count != 8 ||
		both.In(0) != both {
		t.Errorf("parts %+v and %+v", both.In(0), c)
	}
	alone := coll.Groups{Division: d, Number: 2, Alone: true}
	if got := fmt.Sprint(alone, "; ", both.Groups.Name()); got != "dp alone of "+string(d)+"; tp and dp" {
		t.Errorf("names %q", got)
	}
}
