package coll_test

import (
	"fmt"
	"slices"
	"testing"

	"busbar/internal/coll"
)

func TestDivision(t *testing.T) {
	for _, k := range []struct {
		text, spelling string
		world          int
		of             []int // group of each rank
		second         string
	}{
		{"2", "2:contiguous", 4, []int{1, 1, 2, 2}, "group 2 (ranks 2, 3)"},
		{"2:strided", "2:strided", 4, []int{1, 2, 1, 2}, "group 2 (ranks 1, 3)"},
		{"2:contiguous", "2:contiguous", 6, []int{1, 1, 1, 2, 2, 2}, "group 2 (ranks 3-5)"},
		{"3:strided", "3:strided", 9, []int{1, 2, 3, 1, 2, 3, 1, 2, 3}, "group 2 (ranks 1, 4, … 7)"},
		{"none", "", 3, []int{1, 1, 1}, ""},
	} {
		d, err := coll.ParseDivision(k.text)
		size, sizeErr := d.Size(k.world)
		if err != nil || sizeErr != nil || string(d) != k.spelling || size != k.world/d.N() {
			t.Errorf("%s is %q, groups of %d: %v, %v", k.text, d, size, err, sizeErr)
		}
		var of []int
		for rank := range k.world {
			of = append(of, d.Of(rank, k.world))
		}
		if !slices.Equal(of, k.of) {
			t.Errorf("%s of %d: %v, want %v", k.text, k.world, of, k.of)
		}
		if got := (coll.Groups{Division: d, Number: 2}).WithRanks(size); k.second != "" && got != k.second {
			t.Errorf("%s: %s, want %s", k.text, got, k.second)
		}
	}
	for _, text := range []string{"", "1", "0", "-2", "x", "2:", "2:both", "2:strided:1", "2,4"} {
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
	if got := fmt.Sprint(alone, together, coll.Groups{}); got != "group 2 alone of 2:strided group 2 of 2:strided " {
		t.Errorf("names are %q", got)
	}
}
