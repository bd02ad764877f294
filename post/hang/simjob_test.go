package hang_test

// The simulation makes the evidence of jobs whose cause is known: it runs the programs of ranks on a model of
// collectives and writes what each rank would leave.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Call is one operation of a rank's program.
type Call struct {
	Group   string // "" is the group of all ranks
	Op      string // "all_reduce", or "send" and "recv" with a Peer
	In, Out int64  // elements; 0 is 1024
	Peer    int    // rank
	Late    int64  // s that the rank waits before the call
	Part    bool   // of the coalesced group that the next call closes
}

// Job is a job of ranks.
type Job struct {
	World  int
	Gloo   bool             // the backend has no events, and calls block; else NCCL, whose calls return at once
	Groups map[string][]int // members
	Stuck  bool             // the network fails: the last collective does not finish though all enter

	programs [][]Call
	dumps    []*Dump
}

// All adds calls to the programs of ranks; to those of all if there are none.
func (j *Job) All(call Call, times int, ranks ...int) *Job {
	if j.programs == nil {
		j.programs = make([][]Call, j.World)
	}
	for rank := range j.World {
		if len(ranks) > 0 && !slices.Contains(ranks, rank) {
			continue
		}
		for range times {
			j.programs[rank] = append(j.programs[rank], call)
		}
	}
	return j
}

// Except adds a call to the programs of all ranks but some.
func (j *Job) Except(call Call, not ...int) *Job {
	var ranks []int
	for rank := range j.World {
		if !slices.Contains(not, rank) {
			ranks = append(ranks, rank)
		}
	}
	return j.All(call, 1, ranks...)
}

func (j *Job) members(group string) (all []int) {
	if group != "" {
		return j.Groups[group]
	}
	for rank := range j.World {
		all = append(all, rank)
	}
	return all
}

// made is a call that a rank made.
type made struct {
	Call
	seq  int64
	at   int64 // s
	done bool
}

// Run runs the programs until nothing proceeds and returns the dump of each rank.
func (j *Job) Run() []*Dump {
	calls := make([][]made, j.World)
	next := make([]int, j.World)
	clock := make([]int64, j.World)
	counts := map[string]int64{}
	for moved := true; moved; {
		moved = false
		for rank := range j.World {
			blocked := j.Gloo && len(calls[rank]) > 0 && !calls[rank][len(calls[rank])-1].done
			if blocked || next[rank] >= len(j.programs[rank]) {
				continue
			}
			c := j.programs[rank][next[rank]]
			next[rank]++
			key := fmt.Sprint(rank, c.Group, c.Op == "send" || c.Op == "recv")
			if !c.Part {
				counts[key]++
			}
			clock[rank] += 1 + c.Late
			calls[rank] = append(calls[rank], made{Call: c, seq: counts[key] + bit(c.Part), at: clock[rank]})
			moved = true
			j.complete(calls)
		}
	}
	j.dumps = nil
	for rank := range j.World {
		j.dumps = append(j.dumps, j.dump(rank, calls[rank]))
	}
	return j.dumps
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// complete ends the calls that all members made alike, in the order of each rank.
func (j *Job) complete(calls [][]made) {
	for changed := true; changed; {
		changed = false
		for rank := range calls {
			for i := range calls[rank] {
				if calls[rank][i].done {
					continue
				}
				if !j.completes(calls, rank, &calls[rank][i]) {
					break // a stream executes in order
				}
				calls[rank][i].done, changed = true, true
			}
		}
	}
}

func (j *Job) completes(calls [][]made, rank int, c *made) bool {
	if c.Op == "send" || c.Op == "recv" {
		return j.paired(calls, rank, c)
	}
	for _, other := range j.members(c.Group) {
		i := slices.IndexFunc(calls[other], func(m made) bool {
			return m.Group == c.Group && m.Op != "send" && m.Op != "recv" && m.seq == c.seq && m.Part == c.Part
		})
		if i < 0 {
			return false
		}
		m := &calls[other][i]
		legal := strings.HasPrefix(c.Op, "all_to_all") || c.Op == "gather" || c.Op == "scatter"
		if m.Op != c.Op || !legal && (m.In != c.In || m.Out != c.Out) {
			return false
		}
		if j.Stuck && i == len(calls[other])-1 && i == len(j.programs[other])-1 {
			return false
		}
		// The call before must have completed on the other rank, as on a stream.
		if i > 0 && !calls[other][i-1].done {
			return false
		}
	}
	return true
}

// paired reports whether the peer made the opposite call as often.
func (j *Job) paired(calls [][]made, rank int, c *made) bool {
	opposite := map[string]string{"send": "recv", "recv": "send"}[c.Op]
	own, theirs := 0, 0
	for i := range calls[rank] {
		m := &calls[rank][i]
		if m.Op == c.Op && m.Peer == c.Peer && m.Group == c.Group {
			own++
		}
		if m == c {
			break
		}
	}
	for _, m := range calls[c.Peer] {
		if m.Op == opposite && m.Peer == rank && m.Group == c.Group {
			theirs++
		}
	}
	return theirs >= own
}

// epoch is when the job began, in ns.
const epoch = int64(1_795_000_000_000_000_000)

func (j *Job) dump(rank int, calls []made) *Dump {
	d := &Dump{Rank: rank, Gloo: j.Gloo, Groups: map[string][]int{"0": j.members("")}}
	for name, members := range j.Groups {
		if slices.Contains(members, rank) {
			d.Groups[name] = members
		}
	}
	for i, c := range calls {
		e := Entry{
			Group: c.Group, Op: c.Op, In: c.In, Out: c.Out, Record: int64(i),
			Created: epoch + c.at*1e9 + int64(rank)*1e6,
			Done:    c.done, Retired: c.done, Seq: c.seq,
		}
		if e.In == 0 {
			e.In, e.Out = 1024, 1024
		}
		if c.Op == "send" || c.Op == "recv" {
			members := j.members(c.Group)
			arrow := map[string]string{"send": "->", "recv": "<-"}[c.Op]
			e.P2P = true
			e.Op = fmt.Sprintf("%s %d%s%d", c.Op, slices.Index(members, rank), arrow, slices.Index(members, c.Peer))
		}
		d.Entries = append(d.Entries, e)
	}
	return d
}

// Fail retires what did not complete, as Gloo does when it gives up.
func (d *Dump) Fail() *Dump {
	for i := range d.Entries {
		d.Entries[i].Retired = true
	}
	return d
}

// Keep is the dump of a ring with n entries.
func (d *Dump) Keep(n int) *Dump {
	d.Entries = d.Entries[max(0, len(d.Entries)-n):]
	return d
}

// Until is the dump as it was after n calls, all of which completed.
func (d *Dump) Until(n int) *Dump {
	d.Entries = d.Entries[:n]
	for i := range d.Entries {
		d.Entries[i].Done, d.Entries[i].Retired = true, true
	}
	return d
}

// Folder is where evidence is written.
type Folder struct {
	t    testing.TB
	Path string
}

// NewFolder returns an empty folder.
func NewFolder(t testing.TB) *Folder { return &Folder{t, t.TempDir()} }

// Dumps writes the dumps of all ranks but some.
func (f *Folder) Dumps(dumps []*Dump, not ...int) *Folder {
	for _, d := range dumps {
		if !slices.Contains(not, d.Rank) {
			f.File(fmt.Sprintf("trace_%d", d.Rank), string(d.Pickle()))
		}
	}
	return f
}

// File writes a file.
func (f *Folder) File(name, text string) *Folder {
	f.t.Helper()
	path := filepath.Join(f.Path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
	return f
}

// Log writes the log of a rank.
func (f *Folder) Log(rank int, lines ...string) *Folder {
	return f.File(fmt.Sprintf("rank%d.log", rank), strings.Join(lines, "\n")+"\n")
}
