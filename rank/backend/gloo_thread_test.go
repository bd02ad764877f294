package backend

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/rank/launch"
)

func TestPlaceThread(t *testing.T) {
	four := []int{0, 1, 2, 3}
	for name, c := range map[string]struct {
		word, own string
		granted   []int
		ranks     int
		slurm     bool
		want      []int // nil: where the rank may
	}{
		"one CPU, and room":               {"", "2", four, 2, false, four},
		"one CPU, and no room":            {"", "2", four, 3, false, nil},
		"one CPU of Slurm's":              {"", "2", four, 2, true, nil},
		"two CPUs":                        {"", "2-3", four, 1, false, nil},
		"not bound":                       {"", "0-3", four, 2, false, nil},
		"nothing is known":                {"", "", nil, 2, false, nil},
		"where it may is not said":        {"", "2", nil, 1, false, nil},
		"same":                            {"same", "2", four, 2, false, nil},
		"any, without room":               {"any", "2", four, 4, true, four},
		"named":                           {"1,3", "2", four, 2, true, []int{1, 3}},
		"named beyond what is the rank's": {"7", "0-3", four, 2, false, []int{7}},
	} {
		p := placeThread(c.word, c.own, c.granted, c.ranks, c.slurm)
		if !slices.Equal(p.cpus, c.want) || p.why == "" || c.word != "" && p.why != "--gloo-cpus "+c.word {
			t.Errorf("%s: %+v, want %v", name, p, c.want)
		}
	}
}

func TestNamedCPUsAreChecked(t *testing.T) {
	for _, c := range []struct {
		word    string
		granted []int
		want    string
	}{
		{"", []int{0, 1}, ""},
		{"same", []int{0, 1}, ""},
		{"any", []int{0, 1}, ""},
		{"0-1", []int{0, 1}, ""},
		{"0-3", nil, ""},
		{"0-3", []int{0, 1}, "names CPUs 0-3, and the system grants this rank 0-1"},
		{"7", []int{0}, "names CPUs 7, and the system grants this rank 0"},
	} {
		if err := notGranted(c.word, c.granted); (err != nil) != (c.want != "") ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestGlooCPUsAreRead(t *testing.T) {
	var to string
	for _, s := range []string{"same", "any", "0", "0-3,8"} {
		if err := ParseGlooCPUs(s, &to); err != nil || to != s {
			t.Errorf("%q: %q, %v", s, to, err)
		}
	}
	for _, s := range []string{"", "all", "3-1", "a-b", ","} {
		if err := ParseGlooCPUs(s, &to); err == nil {
			t.Errorf("%q is let through", s)
		}
	}
}

func TestCrowded(t *testing.T) {
	rank := func(machine, cpus string) launch.RankFacts {
		return launch.RankFacts{Host: "host-" + machine, Machine: machine, CPUs: cpus}
	}
	granted := func(r launch.RankFacts, quota float64) launch.RankFacts { r.Quota = quota; return r }
	for _, c := range []struct {
		ranks   []launch.RankFacts
		threads []string    // nil: as the ranks
		want    notice.Fact // nil: none
	}{
		{[]launch.RankFacts{rank("a", "0-3"), rank("a", "0-3")}, nil, nil},
		{[]launch.RankFacts{rank("a", "0-1"), rank("a", "2-3")}, nil, nil},
		{[]launch.RankFacts{rank("a", "0"), rank("a", "1")}, nil,
			notice.SharedThreads{Host: "host-a", CPUs: 2, Ranks: 2}},
		{[]launch.RankFacts{rank("a", "0"), rank("a", "1")}, []string{"0-3", "0-3"}, nil},
		{[]launch.RankFacts{rank("a", "0"), rank("a", "1")}, []string{"1", "0"},
			notice.SharedThreads{Host: "host-a", CPUs: 2, Ranks: 2}},
		{[]launch.RankFacts{rank("a", "0-7"), rank("b", "0")}, nil,
			notice.SharedThreads{Host: "host-b", CPUs: 1, Ranks: 1}},
		{[]launch.RankFacts{granted(rank("a", "0-7"), 1.5)}, nil, nil},
		{[]launch.RankFacts{granted(rank("a", "0-7"), 1)}, nil,
			notice.SharedThreads{Host: "host-a", CPUs: 1, Ranks: 1}},
		{[]launch.RankFacts{rank("a", "")}, nil, nil},
	} {
		if c.threads == nil {
			for _, r := range c.ranks {
				c.threads = append(c.threads, r.CPUs)
			}
		}
		if got := crowded(c.ranks, c.threads); c.want == nil && got != nil ||
			c.want != nil && !slices.Equal(got, []notice.Fact{c.want}) {
			t.Errorf("%+v, %q: %v, want %v", c.ranks, c.threads, got, c.want)
		}
	}
}
