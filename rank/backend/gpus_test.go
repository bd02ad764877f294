package backend

import (
	"slices"
	"strings"
	"testing"

	"busbar/rank/exit"
	"busbar/rank/launch"

	"github.com/shoenig/test"
)

func TestAssignGPUs(t *testing.T) {
	see := func(machine, uuids string) VisibleGPUs {
		return VisibleGPUs{Machine: machine, UUIDs: strings.Fields(uuids)}
	}
	near := func(numa []int, cpus ...int) VisibleGPUs {
		return VisibleGPUs{Machine: "m", UUIDs: []string{"a", "b"}, NUMA: numa, Near: cpus}
	}
	for name, k := range map[string]struct {
		ranks  []VisibleGPUs
		want   string
		shared string
	}{
		"all to every rank": {[]VisibleGPUs{see("m", "a b c"), see("m", "a b c"), see("m", "a b c")}, "a b c",
			"- - -"},
		"one to each": {[]VisibleGPUs{see("m", "a"), see("m", "b")}, "a b", "- -"},
		"two machines": {[]VisibleGPUs{see("m", "a b"), see("n", "a b"), see("m", "a b"), see("n", "a b")},
			"a a b b", "- - - -"},
		"sets that overlap":     {[]VisibleGPUs{see("m", "a b"), see("m", "b c"), see("m", "c a")}, "a c b", ""},
		"one must make room":    {[]VisibleGPUs{see("m", "a b"), see("m", "a")}, "b a", "- -"},
		"more ranks than GPUs":  {[]VisibleGPUs{see("m", "a b"), see("m", "a b"), see("m", "a b")}, "a b a", "s - s"},
		"one GPU for two tasks": {[]VisibleGPUs{see("m", "a"), see("m", "a")}, "a a", "s s"},
		"near its CPUs":         {[]VisibleGPUs{near([]int{0, 1}, 1), near([]int{0, 1}, 0)}, "b a", "- -"},
		"CPUs of both nodes":    {[]VisibleGPUs{near([]int{0, 1}, 0, 1), near([]int{0, 1}, 0, 1)}, "a b", "- -"},
		"nodes not known":       {[]VisibleGPUs{near([]int{-1, -1}, 1), near([]int{-1, -1}, 1)}, "a b", "- -"},
	} {
		t.Run(name, func(t *testing.T) {
			ordinal, shared := AssignGPUs(k.ranks)
			var got, marks []string
			used := map[string]bool{}
			for r, o := range ordinal {
				g := k.ranks[r].UUIDs[o]
				got = append(got, g)
				mark := "-"
				if shared[r] {
					mark = "s"
				}
				marks = append(marks, mark)
				if key := k.ranks[r].Machine + g; used[key] && !shared[r] {
					t.Errorf("rank %d is not reported as sharing %s", r, g)
				} else {
					used[key] = true
				}
			}
			if k.shared == "" { // more than one answer is right
				if len(used) != len(k.ranks) {
					t.Errorf("ranks share although they need not: %v", got)
				}
				return
			}
			if s := strings.Join(got, " "); s != k.want || strings.Join(marks, " ") != k.shared {
				t.Errorf("%s (%v), wanted %s (%s)", s, marks, k.want, k.shared)
			}
		})
	}
	if ordinal, shared := AssignGPUs([]VisibleGPUs{see("m", "a"), see("m", "")}); ordinal[0] != 0 || ordinal[1] != -1 ||
		shared[0] || shared[1] {
		t.Errorf("beside a rank that sees no GPU: %v %v", ordinal, shared)
	}
}

func TestSlicedGPUs(t *testing.T) {
	slice := func(pci, uuid string) gpuFacts { return gpuFacts{Name: "H200", UUID: uuid, PCI: pci} }
	ranks := []gpuFacts{slice("1b", "MIG-1"), slice("1c", "MIG-2"), slice("1b", "MIG-3"), slice("1b", "MIG-4"),
		slice("1d", "GPU-5"), slice("1d", "GPU-5"), {}, {}}
	facts := make([]launch.RankFacts, len(ranks))
	for r := range facts {
		facts[r] = launch.RankFacts{Host: "a", Machine: "a"}
	}
	facts[3] = launch.RankFacts{Host: "b", Machine: "b"}
	test.SliceEqOp(t, []bool{true, false, true, false, false, false, false,
		false}, slicedGPUs(ranks, facts))
	want := "ranks 0, 2 on a share one GPU (H200, 1b, MIG-1, MIG-3); ranks 4, 5 on a share one GPU (H200, 1d, GPU-5)"
	test.EqOp(t, want, sharedGPUs(ranks, facts))
}

// hostsOf are ranks that see GPUs: "a:0 1" is a rank on host a that sees two.
func hostsOf(ranks ...string) (seen []VisibleGPUs, facts []launch.RankFacts) {
	for _, text := range ranks {
		host, uuids, _ := strings.Cut(text, ":")
		v := VisibleGPUs{Machine: host, UUIDs: strings.Fields(uuids)}
		if uuids == "" {
			v.None = exit.FailureOf(exit.Remedied("more about it", "no driver"))
		}
		seen, facts = append(seen, v), append(facts, launch.RankFacts{Host: host, Machine: host})
	}
	return seen, facts
}

func TestFitWorlds(t *testing.T) {
	six := func(uuids string) []string {
		return []string{"a:" + uuids, "a:" + uuids, "a:" + uuids, "a:" + uuids, "a:" + uuids, "a:" + uuids}
	}
	for name, k := range map[string]struct {
		ranks          []string
		worlds         []int
		share          bool
		served, takers int
		said           string // of the largest world
	}{
		"eight GPUs": {six("0 1 2 3 4 5 6 7"), []int{2, 4, 6}, false, 6, 6, ""},
		"five GPUs": {six("0 1 2 3 4"), []int{2, 4, 6}, false, 5, 4,
			"needs 6 GPUs: the first 5 ranks have one each, rank 5 on a has no GPU of its own"},
		"one GPU": {six("0"), []int{2, 4, 6}, false, 1, 0,
			"needs 6 GPUs: rank 0 has one, rank 1 on a has no GPU of its own"},
		"no driver": {six(""), []int{2, 4, 6}, false, 0, 0,
			"needs 6 GPUs: rank 0 on a sees no GPU (no driver)"},
		"GPUs are shared": {six("0"), []int{2, 4, 6}, true, 6, 6, ""},
		"sharing needs one to share": {[]string{"a:0", "a:0", "b:"}, []int{2, 3}, true, 2, 2,
			"needs 3 GPUs: the first 2 ranks have one each, rank 2 on b sees no GPU (no driver)"},
		"the second host is short": {[]string{"a:0 1", "a:0 1", "b:0", "b:0"}, []int{2, 3, 4}, false, 3, 3,
			"needs 4 GPUs: the first 3 ranks have one each, rank 3 on b has no GPU of its own"},
		"the first host is short": {[]string{"a:0", "a:0", "b:0 1", "b:0 1"}, []int{1, 2, 4}, false, 1, 1,
			"needs 4 GPUs: rank 0 has one, rank 1 on a has no GPU of its own"},
		"a later rank makes no room": {[]string{"a:0 1", "a:0", "a:1"}, []int{2, 3}, false, 2, 2,
			"needs 3 GPUs: the first 2 ranks have one each, rank 2 on a has no GPU of its own"},
		"worlds beyond the launch": {[]string{"a:0 1", "a:0 1"}, []int{4}, false, 2, 2,
			"needs 4 GPUs: the first 2 ranks have one each, "},
	} {
		t.Run(name, func(t *testing.T) {
			seen, facts := hostsOf(k.ranks...)
			g := fitWorlds(seen, facts, k.worlds, k.share)
			if got := g.unfit(slices.Max(k.worlds)); g.served != k.served || g.takers != k.takers || got != k.said {
				t.Errorf("%d served, %d users, %q; want %d, %d, %q", g.served, g.takers, got, k.served, k.takers,
					k.said)
			}
		})
	}
}

func TestAdjustedWorlds(t *testing.T) {
	seen, facts := hostsOf("a:0 1", "a:0 1", "a:0 1", "a:0 1")
	worlds := []int{2, 4, 6}
	g := fitWorlds(seen, facts, worlds, false)
	want := "worlds adjusted to the GPUs: 2 of 2, 4, 6; a world of 4 needs 4 GPUs: the first 2 ranks have one each, " +
		"rank 2 on a has no GPU of its own"
	test.EqOp(t, want, g.adjusted(worlds, 4))
	test.EqOp(t, "", g.adjusted([]int{2, 6}, 4))
}

func TestAutoReason(t *testing.T) {
	for _, k := range []struct {
		ranks  []string
		worlds []int
		share  bool
		want   string // "" is NCCL
	}{
		{[]string{"a:0 1", "a:0 1"}, []int{2}, false, ""},
		{[]string{"a:0", "a:0"}, []int{2}, false,
			"more ranks than GPUs on a: a world of 2 needs 2 GPUs: rank 0 has one, rank 1 on a has no GPU of its own"},
		{[]string{"a:0", "a:0"}, []int{2}, true, ""},
		{[]string{"a:0", "a:0", "a:0"}, []int{1, 3}, false, ""},
		{[]string{"a:0 1", "b:"}, []int{2}, false, "rank 1 on b: no driver; more about it"},
		{[]string{"a:0 1", "a:0 1", "b:"}, []int{2, 3}, false, ""},
	} {
		seen, facts := hostsOf(k.ranks...)
		var all []sight
		for _, v := range seen {
			all = append(all, sight{Seen: v})
		}
		if got, _ := autoReason(all, facts, k.worlds, k.share); (got == "") != (k.want == "") ||
			!strings.Contains(got, k.want) {
			t.Errorf("%v: %q, wanted %q", k.ranks, got, k.want)
		}
	}
}
