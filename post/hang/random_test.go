package hang_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"busbar/internal/notice/hangs"
	"busbar/post/hang"
)

// fault is what goes wrong in a random job, and the verdict with all evidence.
type fault struct {
	code  string
	ranks []int
}

// faulty makes a job of ranks in several groups, with one fault at a random place.
func faulty(r *rand.Rand) (*Job, fault) {
	world := 4 + 2*r.IntN(3)
	j := &Job{World: world, Gloo: r.IntN(2) == 0, Groups: map[string][]int{}}
	for rank := range world {
		tp, dp := fmt.Sprint("tp", rank/2), fmt.Sprint("dp", rank%2)
		j.Groups[tp] = append(j.Groups[tp], rank)
		j.Groups[dp] = append(j.Groups[dp], rank)
	}
	step := func(n int64) {
		for rank := range world {
			for _, group := range []string{fmt.Sprint("tp", rank/2), fmt.Sprint("dp", rank%2), ""} {
				j.All(Call{Op: "all_reduce", Group: group, In: n, Out: n}, 1, rank)
			}
		}
	}
	for i := range 2 + r.IntN(5) {
		step(int64(100 + i))
	}
	culprit := r.IntN(world)
	switch r.IntN(6) {
	case 0:
		j.Except(reduce(), culprit)
		return j, fault{"rank-missing", []int{culprit}}
	case 1:
		j.Except(reduce(), culprit).All(gather(), 1, culprit)
		return j, fault{"collective-mismatch", []int{culprit}}
	case 2:
		j.Except(sized(64), culprit).All(sized(32), 1, culprit)
		return j, fault{"size-mismatch", []int{culprit}}
	case 3: // it never enters its small group; all others wait for it, some only after another
		for rank := range world {
			if rank != culprit {
				j.All(in(fmt.Sprint("tp", rank/2)), 1, rank).All(in(fmt.Sprint("dp", rank%2)), 1, rank)
				j.All(reduce(), 1, rank)
			}
		}
		return j, fault{"rank-missing", []int{culprit}}
	case 4:
		j.Stuck = true
		return j, fault{"all-waiting", nil}
	}
	return j, fault{"no-hang", nil}
}

// Whatever evidence is lost or misleading, no verdict is certain and wrong; with all evidence, none is wrong.
func TestNothingCertainIsWrong(t *testing.T) {
	certain, right := 0, 0
	const jobs = 300
	for seed := range uint64(jobs) {
		r := rand.New(rand.NewPCG(seed, 7))
		j, truth := faulty(r)
		dumps := j.Run()
		f := NewFolder(t)
		whole := r.IntN(3) == 0
		if !whole {
			degrade(r, f, j, dumps, truth)
		} else {
			f.Dumps(dumps)
		}
		of, _, err := hang.Read(context.Background(), []string{f.Path})
		if err != nil {
			continue // nothing was left
		}
		v := hang.Analyze(*of).Verdict
		wrong := v.Code != truth.code || !slices.Equal(v.Ranks, truth.ranks)
		switch {
		case wrong && (whole || v.Confidence == hangs.Certain):
			t.Errorf("seed %d: %+v, not %+v (all evidence: %v)", seed, v, truth, whole)
		case !wrong:
			right++
			if v.Confidence == hangs.Certain {
				certain++
			}
		}
	}
	if right < jobs/2 || certain < jobs/10 {
		t.Errorf("%d of %d verdicts are right, %d of them certain", right, jobs, certain)
	}
}

// degrade writes part of the evidence: dumps that are missing, overwritten, early or late, and logs of some ranks.
func degrade(r *rand.Rand, f *Folder, j *Job, dumps []*Dump, truth fault) {
	if truth.code != "no-hang" && !j.Gloo {
		watched(r, f, dumps, truth)
	}
	var lost []int
	for _, d := range dumps {
		ended := 0
		for ended < len(d.Entries) && d.Entries[ended].Done {
			ended++
		}
		switch r.IntN(12) {
		case 0:
			lost = append(lost, d.Rank)
		case 1:
			d.Keep(1 + r.IntN(len(d.Entries)))
		case 2:
			d.Until(r.IntN(ended + 1))
		case 3, 4:
			if j.Gloo {
				d.Fail()
			}
		}
	}
	f.Dumps(dumps, lost...)
}

// watched writes what the watchdogs of some ranks print.
func watched(r *rand.Rand, f *Folder, dumps []*Dump, truth fault) {
	for _, d := range dumps {
		last := d.Entries[len(d.Entries)-1]
		switch {
		case r.IntN(3) > 0 || last.Group != "" || slices.Contains(truth.ranks, d.Rank) && truth.code != "rank-missing":
		case last.Done:
			f.Log(d.Rank, signalled(d.Rank, int(last.Seq)))
		default:
			f.Log(d.Rank, watchdog(d.Rank, int(last.Seq), int(last.Seq))...)
		}
	}
}
