package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"busbar/internal/needs"
	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// twoByTwo has 8 launches in 4 jobs: two variants that differ in the environment, on one and two nodes, twice.
const twoByTwo = `name: trial
launches: 2
nodes: [1, 2]
ranks_per_node: 2
seed: 7
flags: ` + campaignSweep + `
variants:
  algorithms:
    tuned:
    basic: {environment: {OMPI_MCA_coll: ^tuned}}
sbatch: {time: "00:06:00", throttle: 1}
`

// trial is a campaign on the cluster.
type trial struct {
	t         *testing.T
	plan, out string
}

func newTrial(t *testing.T, plan string) *trial {
	t.Helper()
	onCluster(t)
	awaitIdle(t)
	c := &trial{t: t, plan: filepath.Join(home, "trial.yaml"), out: filepath.Join(home, "results", "trial")}
	if err := os.RemoveAll(c.out); err != nil { // of another test
		t.Fatal(err)
	}
	must.NoError(t, os.WriteFile(c.plan, []byte(plan), 0o644))
	t.Cleanup(func() {
		_, err := asUser(nil, "scancel", "--quiet", "--user="+submitter)
		test.NoError(t, err)
		if t.Failed() {
			c.logs()
		}
	})
	return c
}

func (c *trial) logs() {
	paths, _ := filepath.Glob(filepath.Join(c.out, "log", "*"))
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		c.t.Logf("%s:\n%s", path, text)
	}
}

func (c *trial) run(args ...string) string {
	c.t.Helper()
	out, err := asUser(nil, append([]string{"slurm/campaign.sh"}, args...)...)
	must.NoError(c.t, err)
	return out
}

func (c *trial) has(out string, words ...string) {
	c.t.Helper()
	for _, w := range words {
		test.StrContains(c.t, out, w)
	}
}

// points counts the records of a launch on disk.
func (c *trial) points(launch string) int {
	n := 0
	paths, _ := filepath.Glob(filepath.Join(c.out, launch, "profile_*.jsonl"))
	for _, path := range paths {
		b, _ := os.ReadFile(path)
		n += len(record.FindAll(b, -1))
	}
	return n
}

// release releases the held jobs on this many nodes. A test that interrupts jobs releases them one after the other, so
// that none ends while the test interrupts another.
func (c *trial) release(nodes int) {
	c.t.Helper()
	var ids []string
	for line := range strings.Lines(asAdmin(c.t, "squeue", "-h", "-o", "%A %D")) {
		if id, n, _ := strings.Cut(strings.TrimSpace(line), " "); n == strconv.Itoa(nodes) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		c.t.Fatalf("no held job on %d nodes", nodes)
	}
	asAdmin(c.t, "scontrol", "release", strings.Join(ids, ","))
}

// midst waits until a job of the block has measured a few points of its first variant, and returns the job's number.
func (c *trial) midst(nodes, launch int) string {
	c.t.Helper()
	block := fmt.Sprintf("nodes%d/launch%d", nodes, launch)
	await(c.t, "the first points of "+block, func() bool { return c.points(block+"/*") >= 3 })
	id := regexp.MustCompile(`job (\S+), start 1`).FindStringSubmatch(c.log(nodes, launch))
	if id == nil {
		c.t.Fatalf("no job number in %s", c.log(nodes, launch))
	}
	return id[1]
}

// log returns the output of a job.
func (c *trial) log(nodes, task int) string {
	paths, _ := filepath.Glob(filepath.Join(c.out, "log", fmt.Sprintf("trial-*.%d_%d.out", nodes, task)))
	if len(paths) != 1 {
		c.t.Fatalf("logs of task %d on %d nodes: %v", task, nodes, paths)
	}
	b, _ := os.ReadFile(paths[0])
	return string(b)
}

// over waits until no job is left, including the job of the report.
func (c *trial) over() {
	c.t.Helper()
	await(c.t, "the end of the campaign's jobs", func() bool { return asAdmin(c.t, "squeue", "-h") == "" })
}

// merged counts the rows of the table by launch and by point.
func (c *trial) merged() (launches, points map[string]int) {
	c.t.Helper()
	launches, points = map[string]int{}, map[string]int{}
	for _, of := range mergedRows(c.t, c.out) {
		if of("status") != "ok" || !strings.HasPrefix(of("block"), "nodes"+of("nodes")+"/") ||
			!strings.HasPrefix(of("campaign"), "trial-") {
			c.t.Errorf("unexpected row: %s in block %s of campaign %s, on %s nodes", of("status"),
				of("block"), of("campaign"), of("nodes"))
		}
		launch := of("block") + "/" + of("variant")
		launches[launch]++
		points[strings.Join([]string{launch, of("collective"), of("mode"), of("size_bytes")}, " ")]++
	}
	return launches, points
}

// checkPoints checks that every launch has each of its points once.
func (c *trial) checkPoints() {
	c.t.Helper()
	launches, points := c.merged()
	for nodes := 1; nodes <= 2; nodes++ {
		for number := 1; number <= 2; number++ {
			for _, variant := range []string{"tuned", "basic"} {
				launch := fmt.Sprintf("nodes%d/launch%d/%s", nodes, number, variant)
				if launches[launch] != pointsOfLaunch {
					c.t.Errorf("%s has %d points", launch, launches[launch])
				}
			}
		}
	}
	test.EqOp(c.t, 8*pointsOfLaunch, len(points))
}

// twoTasks is an array of two jobs, each with one launch.
const twoTasks = `name: trial
launches: 2
nodes: [2]
ranks_per_node: 1
seed: 7
flags: ` + campaignSweep + `
variants: {only: {default: }}
sbatch: {time: "00:06:00", throttle: 1}
`

// A requeued task of an array resumes its own launch; the other task is not affected.
func TestArray(t *testing.T) {
	c := newTrial(t, twoTasks)
	c.has(c.run("trial.yaml"), "--array=1-2%1", "2 jobs to submit")
	output(t)(asUser(nil, "scontrol", "requeue", c.midst(2, 1)))
	c.over()
	c.has(c.log(2, 1), "start 2", "--resume")
	test.StrNotContains(t, c.log(2, 2), "start 2")
	launches, points := c.merged()
	for _, launch := range []string{"nodes2/launch1/default", "nodes2/launch2/default"} {
		if launches[launch] != pointsOfLaunch {
			t.Errorf("%s has %d points", launch, launches[launch])
		}
	}
	test.EqOp(t, 2*pointsOfLaunch, len(points))
	c.has(c.run("trial.yaml"), "nothing is missing")
}

// A campaign with one cancelled and one requeued job: the same command submits only what is missing, and in the end the
// campaign has all points.
func TestCampaign(t *testing.T) {
	needs.TestAll(t)
	c := newTrial(t, twoByTwo)
	c.has(c.run("--dry-run", "trial.yaml"), "8 (2 of each variant on each number of nodes)",
		"4 jobs to submit",
		"--nodes=2 --ntasks-per-node=2 --array=1-2%1 --time=00:06:00", "slurm/sweep.sh", `--dependency="afterany$jobs"`)
	_, err := os.Stat(c.out)
	test.Error(t, err)

	c.run("trial.yaml", "--hold")
	c.has(c.run("trial.yaml"), "nothing to submit: all missing launches are in the queue")
	c.release(1)
	output(t)(asUser(nil, "scontrol", "requeue", c.midst(1, 1)))
	c.release(2)
	output(t)(asUser(nil, "scancel", c.midst(2, 1)))
	c.over()
	c.checkResumed(1, 1)
	launches, _ := c.merged()
	if n := launches["nodes2/launch1/tuned"] + launches["nodes2/launch1/basic"]; n < 3 || n >= 2*pointsOfLaunch ||
		launches["nodes2/launch2/tuned"] != pointsOfLaunch {
		t.Errorf("after a job was cancelled: %v", launches)
	}

	again := c.run("trial.yaml")
	c.has(again, "--array=1%1", "1 job to submit")
	if n := strings.Count(again, "submitted: "); n != 2 { // with the job of the report
		t.Errorf("%d jobs submitted:\n%s", n, again)
	}
	c.over()
	c.checkPoints()
	c.has(c.run("trial.yaml"), "nothing is missing")
	c.checkRecorded()
	for _, name := range []string{"show.txt", "plots/scaling_busbw_mpi_tuned.png"} {
		_, err := os.Stat(filepath.Join(c.out, name))
		test.NoError(t, err)
	}
	(&job{t: t, out: c.out}).belongsToUser()
}

// checkResumed checks that the second start of a requeued job resumes its launch. A job that was stopped between two
// launches starts no variant twice.
func (c *trial) checkResumed(nodes, task int) {
	c.t.Helper()
	log := c.log(nodes, task)
	c.has(log, "start 2")
	if strings.Contains(log, "--resume") {
		return
	}
	for _, variant := range []string{"tuned", "basic"} {
		test.EqOp(c.t, 1, strings.Count(log, "BUSBAR_VARIANT="+variant+" "), test.Sprint(variant, log))
	}
}

// checkRecorded checks that the files identify variants and their place in the plan.
func (c *trial) checkRecorded() {
	files, err := result.Find(filepath.Join(c.out, "nodes2", "launch2"))
	if err != nil || len(files) != 2 {
		c.t.Fatalf("files of a block: %v, %v", files, err)
	}
	places := map[string]bool{}
	for _, path := range files {
		f, err := result.ReadFile(c.t.Context(), path)
		must.NoError(c.t, err)
		want := map[string]string{"basic": "^tuned"}[f.Run.Variant]
		if f.Run.Environment["OMPI_MCA_coll"] != want || f.Run.Block != "nodes2/launch2" || f.Run.World != 4 {
			c.t.Errorf("%s: variant %s, block %s, %d ranks, %v", path, f.Run.Variant, f.Run.Block, f.Run.World,
				f.Run.Environment)
		}
		places[f.Run.Environment["BUSBAR_PLACE"]] = true
	}
	if !places["1 of 2 by seed 7"] || !places["2 of 2 by seed 7"] {
		c.t.Errorf("places %v", places)
	}
}
