package campaign

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func names(launches []Launch) (all []string) {
	for _, l := range launches {
		all = append(all, l.Variant.Name)
	}
	return all
}

// Every block has every variant once; blocks and seeds differ in the order.
func TestOrder(t *testing.T) {
	p := mustParse(t, whole)
	orders := map[string]bool{}
	for p.Seed = range uint64(20) {
		for number := 1; number <= p.Launches; number++ {
			got := names(p.Order(1, number))
			orders[fmt.Sprint(got)] = true
			slices.Sort(got)
			must.SliceEqOp(t, []string{"2.27+chosen", "2.27+ring", "ncclx+chosen", "ncclx+ring"}, got,
				must.Sprint(p.Seed, number))
		}
	}
	nodes := p.NodesOrder()
	if slices.Sort(nodes); len(orders) < 12 || !slices.Equal(nodes, p.Nodes) {
		t.Errorf("%d orders of 24, nodes %v", len(orders), nodes)
	}
}

// An order that was drawn once stays when the plan grows.
func TestOrderIsStable(t *testing.T) {
	p := mustParse(t, whole)
	before := names(p.Order(2, 1))
	p.Launches, p.Nodes = 9, []int{1, 2, 4, 8}
	p.Axes[0].Levels = append(p.Axes[0].Levels, Level{Name: "2.28"})
	after := slices.DeleteFunc(names(p.Order(2, 1)), func(n string) bool { return n[:4] == "2.28" })
	test.SliceEqOp(t, after, before)
}

// The order is that of printf '42 nodes2/launch1 VARIANT' | sha256sum.
func TestOrderIsRecorded(t *testing.T) {
	p := mustParse(t, whole)
	test.SliceEqOp(t, []string{"2.27+chosen", "ncclx+ring", "ncclx+chosen",
		"2.27+ring"}, names(p.Order(2, 1)))
}

// The tasks of a number of nodes take each launch once, in the order of its block.
func TestTasks(t *testing.T) {
	p := mustParse(t, whole)
	for steps, tasks := range map[int]int{0: 3, 1: 12, 2: 6, 3: 6, 4: 3, 9: 3} {
		p.Steps = steps
		all := p.Tasks(2)
		test.Len(t, tasks, all, test.Sprint(steps))
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
