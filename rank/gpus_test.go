package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestAssignGPUs(t *testing.T) {
	see := func(machine, uuids string) visible { return visible{Machine: machine, UUIDs: strings.Fields(uuids)} }
	near := func(numa []int, cpus ...int) visible {
		return visible{Machine: "m", UUIDs: []string{"a", "b"}, NUMA: numa, Near: cpus}
	}
	for name, k := range map[string]struct {
		ranks  []visible
		want   string
		shared string
	}{
		"all to every rank":     {[]visible{see("m", "a b c"), see("m", "a b c"), see("m", "a b c")}, "a b c", "- - -"},
		"one to each":           {[]visible{see("m", "a"), see("m", "b")}, "a b", "- -"},
		"two machines":          {[]visible{see("m", "a b"), see("n", "a b"), see("m", "a b"), see("n", "a b")}, "a a b b", "- - - -"},
		"sets that overlap":     {[]visible{see("m", "a b"), see("m", "b c"), see("m", "c a")}, "a c b", ""},
		"one must make room":    {[]visible{see("m", "a b"), see("m", "a")}, "b a", "- -"},
		"more ranks than GPUs":  {[]visible{see("m", "a b"), see("m", "a b"), see("m", "a b")}, "a b a", "s - s"},
		"one GPU for two tasks": {[]visible{see("m", "a"), see("m", "a")}, "a a", "s s"},
		"near its CPUs":         {[]visible{near([]int{0, 1}, 1), near([]int{0, 1}, 0)}, "b a", "- -"},
		"CPUs of both nodes":    {[]visible{near([]int{0, 1}, 0, 1), near([]int{0, 1}, 0, 1)}, "a b", "- -"},
		"nodes not known":       {[]visible{near([]int{-1, -1}, 1), near([]int{-1, -1}, 1)}, "a b", "- -"},
	} {
		t.Run(name, func(t *testing.T) {
			ordinal, shared, err := assignGPUs(k.ranks)
			if err != nil {
				t.Fatal(err)
			}
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
					t.Errorf("rank %d is said to be alone on %s", r, g)
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
	if _, _, err := assignGPUs([]visible{see("m", "a"), see("m", "")}); err == nil || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("a rank without a GPU: %v", err)
	}
}

func TestSharedGPUsAreNamed(t *testing.T) {
	g := gpuFacts{Name: "H200", UUID: "GPU-1", PCI: "0000:1b:00.0"}
	facts := make([]rankFacts, 3)
	for i := range facts {
		facts[i] = rankFacts{Host: fmt.Sprintf("node%d", i/2), Machine: fmt.Sprint(i / 2)}
	}
	got := sharedGPUs([]gpuFacts{g, g, g}, facts)
	if want := "ranks 0, 1 on node0 share one GPU (H200, 0000:1b:00.0, GPU-1)"; got != want {
		t.Errorf("%q, wanted %q", got, want)
	}
}

func TestAutoReason(t *testing.T) {
	facts := []rankFacts{{Host: "node0"}, {Host: "node0"}}
	has := func(uuids ...string) autoVerdict {
		return autoVerdict{Seen: visible{Machine: "m", UUIDs: uuids}, Said: true}
	}
	for _, k := range []struct {
		all   []autoVerdict
		share bool
		want  string // "" is NCCL
	}{
		{[]autoVerdict{has("a", "b"), has("a", "b")}, false, ""},
		{[]autoVerdict{has("a"), has("a")}, false, "more ranks than GPUs on node0"},
		{[]autoVerdict{has("a"), has("a")}, true, ""},
		{[]autoVerdict{has("a", "b"), {Why: "no libnccl.so.2"}}, false, "rank 1 on node0: no libnccl.so.2"},
	} {
		if got := autoReason(k.all, facts, k.share); (got == "") != (k.want == "") || !strings.Contains(got, k.want) {
			t.Errorf("%v: %q, wanted %q", k.all, got, k.want)
		}
	}
}
