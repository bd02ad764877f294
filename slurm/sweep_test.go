package slurm

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/needs"

	"github.com/shoenig/test"
)

// An ordinary user runs sweeps on two and four nodes with both MPIs.
func TestSweep(t *testing.T) {
	for _, c := range []struct {
		nodes    int
		flags    []string
		log, mpi string
	}{
		{2, nil, "srun --mpi=pmix with rank --mpi openmpi", "Open MPI"},
		{4, nil, "srun --mpi=pmix with rank --mpi openmpi", "Open MPI"},
		{2, []string{"--mpi", "mpich"}, "srun --mpi=pmi2 with rank --mpi mpich", "MPICH"},
	} {
		t.Run(strconv.Itoa(c.nodes)+c.mpi, func(t *testing.T) {
			if c.nodes > 2 || c.flags != nil {
				needs.TestAll(t)
			}
			j := submit(t, c.nodes, nil, append(plan, c.flags...)...)
			j.ended("COMPLETED", 0, 0)
			j.logHas(c.log, "results: "+j.out)
			j.checkPoints()
			runs := j.runs()
			if len(runs) != 1 || !strings.HasSuffix(runs[0].Path, "_job"+j.id+".0.jsonl") {
				t.Fatalf("files: %v", j.files())
			}
			r := runs[0].Run
			if r.World != c.nodes || r.Nodes != c.nodes || !strings.Contains(r.MPI.Library, c.mpi) ||
				r.Slurm["SLURM_JOB_ID"] != j.id {
				t.Errorf("world %d on %d nodes with %s, job %s", r.World, r.Nodes, r.MPI.Library,
					r.Slurm["SLURM_JOB_ID"])
			}
			hosts := map[string]bool{}
			for _, rank := range runs[0].Ranks {
				hosts[rank.Host] = true
			}
			if len(hosts) != c.nodes {
				t.Errorf("ranks on %v", hosts)
			}
			j.belongsToUser()
		})
	}
}

// belongsToUser checks the owner of all results.
func (j *job) belongsToUser() {
	j.t.Helper()
	want := strconv.Itoa(os.Getuid())
	if want == "0" {
		u, err := user.Lookup(submitter)
		if err != nil {
			j.t.Fatal(err)
		}
		want = u.Uid
	}
	err := filepath.Walk(j.out, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		test.EqOp(j.t, want, strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Uid)), test.Sprint(path))
		return nil
	})
	test.NoError(j.t, err)
}

// A plugin that does not fit the MPI is an error, and nothing is measured.
func TestWrongPlugin(t *testing.T) {
	needs.TestAll(t)
	for _, c := range golden.Table[struct {
		Name, Plugin string
		Flags        []string
		Code         int
		Want         []string
	}](t, `
		Name                 Plugin   Flags           Code  Want
		none                 none     -               1     no MPI in; (BUSBAR_MPI_PLUGIN=none); alone
		unknown plugin       pmix_v9  -               1     no MPI in; pmi2
		MPICH with PMIx      pmix     --mpi; mpich    -1    these are 2 one-rank worlds; try BUSBAR_MPI_PLUGIN=pmi2
		Open MPI with PMI-2  pmi2     --mpi; openmpi  -1    srun --mpi=pmi2 may not fit; try BUSBAR_MPI_PLUGIN=pmix
	`) {
		t.Run(c.Name, func(t *testing.T) {
			j := submit(t, 2, []string{"BUSBAR_MPI_PLUGIN=" + c.Plugin}, append(plan, c.Flags...)...)
			j.ended("FAILED", c.Code, 0)
			j.logHas(c.Want...)
			test.Len(t, 0, j.files())
		})
	}
}

// With more ranks than CPUs per node sweep.sh prints the required options and starts nothing.
func TestTooFewCPUs(t *testing.T) {
	needs.TestAll(t)
	j := submit(t, 2, []string{"BUSBAR_RANKS_PER_NODE=3"}, plan...)
	j.ended("FAILED", 1, 0)
	j.logHas("3 ranks per node", "--ntasks-per-node=3")
}

// Training steps on two nodes, with their table and plots.
func TestSweepOfSteps(t *testing.T) {
	needs.TestAll(t)
	j := submit(t, 2, nil, "--backend", "mpi", "--step", "uniform:4x16K", "--compute", "2ms", "--bucket", "all",
		"-n", "6")
	j.ended("COMPLETED", 0, 0)
	j.logHas("results: " + j.out + ": report.html, steps.csv, and plots/")
	if found, _ := filepath.Glob(filepath.Join(j.out, "step_mpi_world2_*_job"+j.id+".0.jsonl")); len(found) != 1 {
		t.Errorf("files of steps: %v", found)
	}
}
