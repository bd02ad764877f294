package backend

import (
	"fmt"
	"math"
	"os"

	"busbar/internal/notice"
	"busbar/internal/ranges"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// ParseGlooCPUs reads --gloo-cpus.
func ParseGlooCPUs(s string, to *string) error {
	cpus, err := machine.ParseCPUs(s)
	if s != "same" && s != "any" && (err != nil || len(cpus) == 0) {
		return fmt.Errorf("want same, any, or a list of CPUs such as 0-3,8")
	}
	*to = s
	return nil
}

// threadPlace is where Gloo's thread of this rank may run.
type threadPlace struct {
	cpus []int // empty: where its rank may
	why  string
}

// placeThread decides where Gloo's thread may run: as word, of --gloo-cpus, says; without it as its rank (own), as a
// thread inherits it. A rank bound to a single CPU most likely is so by a launcher that takes a rank for one thread;
// torch is mostly not bound at all. Its thread goes where the system lets it, if that is two CPUs for each of the
// host's ranks: with fewer, threads only get into each other's way. In a job of Slurm other CPUs may be another
// job's.
func placeThread(word, own string, granted []int, ranks int, slurm bool) threadPlace {
	cpus, err := machine.ParseCPUs(own)
	switch {
	case word == "same":
		return threadPlace{why: "--gloo-cpus same"}
	case word == "any":
		return threadPlace{cpus: granted, why: "--gloo-cpus any"}
	case word != "":
		named, _ := machine.ParseCPUs(word) // glooCPUs has seen it
		return threadPlace{cpus: named, why: "--gloo-cpus " + word}
	case err == nil && len(cpus) == 1 && len(granted) >= 2*ranks && !slurm:
		return threadPlace{cpus: granted, why: "all that the system grants, since its rank has CPU " + own + " alone"}
	}
	return threadPlace{why: "as its rank"}
}

// placeThread is where the thread of this rank runs in the world in hand.
func (b *glooBackend) placeThread() threadPlace {
	h := b.l.h
	mine, ranks := h.Ranks[h.Rank], 0
	for _, r := range b.w.Names {
		ranks += b2i(h.Ranks[r].Machine == mine.Machine)
	}
	return placeThread(h.Options.Gloo.CPUs, mine.CPUs, machine.GrantedCPUs(), ranks, os.Getenv("SLURM_JOB_ID") != "")
}

// notGranted is what the system does not grant of the CPUs that --gloo-cpus names.
func notGranted(word string, granted []int) error {
	named, err := machine.ParseCPUs(word)
	if err != nil || len(granted) == 0 || machine.Within(named, granted) { // no list, or nothing is known
		return nil
	}
	return fmt.Errorf("--gloo-cpus names CPUs %s, and the system grants this rank %s", word, ranges.Format(granted))
}

// crowded is a warning for the first host on which the two threads of each rank have less than a CPU each. threads are
// the CPUs of Gloo's, by rank.
func crowded(ranks []launch.RankFacts, threads []string) []notice.Fact {
	type host struct {
		name  string
		ranks int
		cpus  map[int]bool
		quota float64
	}
	hosts := map[string]*host{}
	var order []*host
	for i, r := range ranks {
		h := hosts[r.Machine]
		if h == nil {
			h = &host{name: r.Host, cpus: map[int]bool{}}
			hosts[r.Machine], order = h, append(order, h)
		}
		h.ranks++
		h.quota = r.Quota
		cpus, err := machine.ParseCPUs(r.CPUs + "," + threads[i])
		if err != nil {
			return nil
		}
		for _, c := range cpus {
			h.cpus[c] = true
		}
	}
	for _, h := range order {
		n := len(h.cpus)
		if h.quota > 0 { // a cgroup's, in CPUs of time
			n = min(n, max(1, int(math.Ceil(h.quota-0.01))))
		}
		if n > 0 && 2*h.ranks > n {
			return []notice.Fact{notice.SharedThreads{Host: h.name, CPUs: n, Ranks: h.ranks}}
		}
	}
	return nil
}
