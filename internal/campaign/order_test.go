package campaign

import (
	"maps"
	"slices"
	"testing"
)

func names(launches []Launch) (all []string) {
	for _, l := range launches {
		all = append(all, l.Variant.Name)
	}
	return all
}

// Every block has every variant once, whatever the seed; blocks and seeds differ in the order.
func TestOrder(t *testing.T) {
	p := mustParse(t, whole)
	want := names(p.Order(1, 1))
	slices.Sort(want)
	orders, seeds := map[string]bool{}, map[string]bool{}
	for p.Seed = range uint64(50) {
		for _, nodes := range p.Nodes {
			for number := 1; number <= p.Launches; number++ {
				order := p.Order(nodes, number)
				again := p.Order(nodes, number)
				got := names(order)
				if !slices.Equal(got, names(again)) {
					t.Fatal("the order is not the same a second time")
				}
				for _, l := range order {
					if l.Nodes != nodes || l.Number != number {
						t.Fatalf("%v in the block of %d nodes, launch %d", l, nodes, number)
					}
				}
				if p.Seed == 0 {
					orders[got[0]+got[1]+got[2]] = true
				}
				if nodes == 1 && number == 1 {
					seeds[got[0]+got[1]+got[2]] = true
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, %d nodes, launch %d: %q", p.Seed, nodes, number, got)
				}
			}
		}
	}
	if len(orders) < 4 || len(seeds) < 12 {
		t.Errorf("%d orders among 9 blocks, %d among 50 seeds, of 24", len(orders), len(seeds))
	}
}

// Each variant is as often in each place, but for chance: 1000 blocks of 4, each place 250 times, 14 the deviation.
func TestOrderIsEven(t *testing.T) {
	p := mustParse(t, whole)
	p.Launches = 1000
	var first [4]int
	variants := names(p.All()[:4])
	for number := 1; number <= p.Launches; number++ {
		first[slices.Index(variants, p.Order(2, number)[0].Variant.Name)]++
	}
	for i, n := range first {
		if n < 180 || n > 320 {
			t.Errorf("%s is first in %d of 1000 blocks", variants[i], n)
		}
	}
}

// An order that was drawn once stays when the plan grows.
func TestOrderStays(t *testing.T) {
	p := mustParse(t, whole)
	before := names(p.Order(2, 1))
	p.Launches, p.Nodes = 9, []int{1, 2, 4, 8}
	p.Axes[0].Levels = append(p.Axes[0].Levels, Level{Name: "2.28"})
	after := slices.DeleteFunc(names(p.Order(2, 1)), func(n string) bool { return n[:4] == "2.28" })
	if !slices.Equal(before, after) {
		t.Errorf("%q became %q", before, after)
	}
}

// The order is that of printf '42 nodes2/launch1 VARIANT' | sha256sum.
func TestOrderIsKnown(t *testing.T) {
	p := mustParse(t, whole)
	if got := names(p.Order(2, 1)); !slices.Equal(got, []string{"2.27+chosen", "ncclx+ring", "ncclx+chosen",
		"2.27+ring"}) {
		t.Errorf("got %q", got)
	}
}

// The tasks of a number of nodes take each launch once, in the order of its block.
func TestTasks(t *testing.T) {
	p := mustParse(t, whole)
	for steps, tasks := range map[int]int{0: 3, 1: 12, 2: 6, 3: 6, 4: 3, 9: 3} {
		p.Steps = steps
		all := p.Tasks(2)
		if len(all) != tasks {
			t.Errorf("steps %d: %d tasks, want %d", steps, len(all), tasks)
		}
		var got, want []Launch
		for _, task := range all {
			launches, err := p.Of(task)
			if err != nil || len(launches) == 0 || steps > 0 && len(launches) > steps {
				t.Errorf("steps %d, task %d: %v, %v", steps, task.Index, launches, err)
			}
			got = append(got, launches...)
		}
		for number := 1; number <= 3; number++ {
			want = append(want, p.Order(2, number)...)
		}
		if !slices.EqualFunc(got, want, func(a, b Launch) bool { return a.String() == b.String() }) {
			t.Errorf("steps %d: %v, want %v", steps, got, want)
		}
	}
	p.Steps = 0
	for _, task := range []Task{{2, 0}, {2, 4}, {3, 1}} {
		if _, err := p.Of(task); err == nil {
			t.Errorf("there is no %v", task)
		}
	}
}

func TestNodesOrder(t *testing.T) {
	p := mustParse(t, whole)
	seen := map[int]bool{}
	for p.Seed = range uint64(20) {
		order := p.NodesOrder()
		seen[order[0]] = true
		slices.Sort(order)
		if !slices.Equal(order, p.Nodes) {
			t.Fatalf("%v", order)
		}
	}
	if len(seen) != 3 {
		t.Errorf("first were %v", seen)
	}
}

func TestParseTasks(t *testing.T) {
	got, err := ParseTasks("2:1,,2:3")
	want := map[Task]bool{{Nodes: 2, Index: 1}: true, {Nodes: 2, Index: 3}: true}
	if err != nil || !maps.Equal(got, want) {
		t.Error(got, err)
	}
	for _, list := range []string{"2", "2:", ":1", "a:1", "1;2"} {
		if got, err := ParseTasks(list); err == nil {
			t.Errorf("%s: %v", list, got)
		}
	}
}
