package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"busbar/internal/needs"
	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// An interrupted sweep resumes and finally has each point once.

func TestRequeue(t *testing.T) {
	needs.TestAll(t)
	j := submit(t, 2, nil, plan...)
	j.midst()
	output(t)(asUser(nil, "scontrol", "requeue", j.id))
	j.checkResumed(1)
}

// checkResumed waits for the end of a sweep that was interrupted once.
func (j *job) checkResumed(restarts int) {
	j.t.Helper()
	j.ended("COMPLETED", 0, restarts)
	j.checkPoints()
	j.logHas("start 1,", "--resume")
	if runs := j.runs(); len(runs) != 2 || len(runs[1].Run.Resumes) != 1 || len(runs[0].Records) >= pointsOfPlan {
		j.t.Errorf("%d files; the first has %d points", len(runs), len(runs[0].Records))
	}
}

func TestPreemption(t *testing.T) {
	needs.TestAll(t)
	j := submit(t, 2, nil, plan...)
	j.midst()
	urgent, err := asUser(nil, "sbatch", "--parsable", jobLimit, "-p", "urgent", "-N4", "--exclusive", "-o",
		"/dev/null", "--wrap", "true")
	must.NoError(t, err)
	j.awaitState("PENDING")
	j.checkResumed(1)
	if other := (&job{t: t, id: urgent}); other.field("JobState") != "COMPLETED" {
		t.Errorf("the urgent job is %s", other.field("JobState"))
	}
}

// Near the limit rank finishes the current case. A stopped rank keeps it running until Slurm sends its warning.
func TestTimeLimit(t *testing.T) {
	j := submit(t, 2, nil, plan...)
	j.midst()
	j.signal(1, "STOP")
	asAdmin(t, "scontrol", "update", "JobId="+j.id,
		"EndTime="+time.Now().Add(100*time.Second).Format("2006-01-02T15:04:05"))
	await(t, "Slurm's warning", func() bool { return strings.Contains(j.text(), "the time limit is near") })
	before := j.points()
	j.signal(1, "CONT")
	j.awaitState("PENDING")
	asAdmin(t, "scontrol", "update", "JobId="+j.id, "TimeLimit="+minutes) // enough for the rest
	if j.points() <= before {
		t.Errorf("%d points, as many as before the warning: the current case is lost", before)
	}
	j.checkResumed(1)
	j.logHas("(the time limit is near): requeue 1 of 3")
	checkEnd(t, j.runs()[0], result.Interrupted, 143)
}

// A case that does not end within the grace is stopped, and the job requeues itself.
func TestGrace(t *testing.T) {
	needs.TestAll(t)
	j := submit(t, 2, []string{"BUSBAR_GRACE=1"}, plan...)
	j.midst()
	j.signal(1, "STOP")
	output(t)(asUser(nil, "scancel", "--batch", "--signal=USR1", j.id))
	await(t, "the end of the file", func() bool { return j.runs()[0].End != nil })
	// Slurm waits for a stopped rank.
	onNode(t, j.node(1), "sh", "-c", "pkill -CONT -x rank || [ $? = 1 ]")
	j.checkResumed(1)
	checkEnd(t, j.runs()[0], result.Interrupted, 143)
}

func checkEnd(t *testing.T, f *result.File, outcome result.Outcome, code int) {
	t.Helper()
	if f.End == nil || f.End.Outcome != outcome || f.End.Code != code {
		t.Errorf("%s ends with %+v, want %s, code %d", f.Path, f.End, outcome, code)
	}
}

func TestRankKilled(t *testing.T) {
	needs.TestAll(t)
	for name, n := range map[string]int{"rank 0": 0, "rank 1": 1} {
		t.Run(name, func(t *testing.T) {
			j := submit(t, 2, nil, plan...)
			j.midst()
			j.signal(n, "KILL")
			j.checkResumed(1)
			j.logHas("requeue 1 of 3")
		})
	}
}

// A rank that dies before MPI_Init, as on a node with a broken filesystem, stops the job at once. Otherwise the others
// would wait for it until their deadline.
func TestRankDiesBeforeMPI(t *testing.T) {
	needs.TestAll(t)
	onCluster(t)
	program := filepath.Join(home, "bin/rank")
	asMounter(t, "node2", "mount", "--bind", "/bin/false", program)
	t.Cleanup(func() { asMounter(t, "node2", "umount", program) })
	j := submitWith(t, 2, nil, []string{"--nodelist=node1,node2"}, plan...)
	j.ended("FAILED", -1, 0)
	j.logHas("node2: task 1: Exited with exit code 1", "rank measured no point")
	test.StrNotContains(t, j.text(), "rank: hang")
}

// A job that may not requeue itself exits with rank's code and writes a report; the next job continues in that folder.
func TestResumedByHand(t *testing.T) {
	needs.TestAll(t)
	j := submit(t, 2, []string{"BUSBAR_REQUEUES=0"}, plan...)
	j.midst()
	j.signal(1, "KILL")
	j.ended("FAILED", 5, 0)
	j.logHas("the job was requeued 0 times", "results: ")
	if n := len(j.merged()); n < 3 || n >= pointsOfPlan {
		t.Errorf("%d points are merged", n)
	}
	next := submit(t, 2, []string{"BUSBAR_OUT=" + j.out}, plan...)
	next.ended("COMPLETED", 0, 0)
	next.checkPoints()
}

// After scancel nothing is lost, and nothing restarts.
func TestCancel(t *testing.T) {
	needs.TestAll(t)
	j := submit(t, 2, nil, plan...)
	j.midst()
	output(t)(asUser(nil, "scancel", j.id))
	j.ended("CANCELLED", -1, 0)
	await(t, "the end of the file", func() bool { return j.runs()[0].End != nil })
	checkEnd(t, j.runs()[0], result.Interrupted, 143)
	_, err := os.Stat(filepath.Join(j.out, "requeued.txt"))
	test.Error(t, err)
}

// Only the batch script gets a signal. After SIGTERM it stops the ranks; after SIGKILL, Slurm does.
func TestBatchScriptKilled(t *testing.T) {
	needs.TestAll(t)
	for name, code := range map[string]int{"TERM": 143, "KILL": 0} {
		t.Run(name, func(t *testing.T) {
			j := submit(t, 2, nil, plan...)
			j.midst()
			onNode(t, j.node(0), "pkill", "-"+name, "-f", "[s]lurm_script")
			j.ended("FAILED", code, 0)
			if n := j.points(); n < 3 || n >= pointsOfPlan {
				t.Errorf("%d points are kept", n)
			}
			if name == "TERM" {
				checkEnd(t, j.runs()[0], result.Interrupted, 143)
			}
			next := submit(t, 2, []string{"BUSBAR_OUT=" + j.out}, plan...)
			next.ended("COMPLETED", 0, 0)
			next.checkPoints()
		})
	}
}

// power switches a node on or off.
func power(t *testing.T, to, node string) {
	t.Helper()
	if out, err := cluster(nil, "up.sh", to, node).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A node dies: that of the batch script, or another.
func TestNodeDies(t *testing.T) {
	needs.TestAll(t)
	for name, n := range map[string]int{"the first": 0, "the second": 1} {
		t.Run(name, func(t *testing.T) {
			j := submit(t, 2, nil, plan...)
			j.midst()
			node := j.node(n)
			power(t, "off", node)
			t.Cleanup(func() { power(t, "on", node) })
			await(t, "the job to start again", func() bool {
				return j.field("Restarts") == "1" && j.field("JobState") == "RUNNING" ||
					j.field("JobState") == "COMPLETED"
			})
			j.checkResumed(1)
		})
	}
}
