package mpi

import (
	"maps"
	"os"
	"testing"

	"github.com/shoenig/test"
)

func TestLauncher(t *testing.T) {
	ompi := map[string]string{"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8",
		"OMPI_COMM_WORLD_LOCAL_RANK": "1",
		"OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_RANK": "3"}
	hydra := map[string]string{"PMI_RANK": "2", "PMI_SIZE": "4", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "2"}
	batch := map[string]string{"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NTASKS": "16"}
	step := map[string]string{"SLURM_JOB_ID": "7", "SLURM_PROCID": "5", "SLURM_LOCALID": "1", "SLURM_NTASKS": "16",
		"SLURM_STEP_ID":        "0",
		"SLURM_STEP_NUM_TASKS": "8"}
	ours := Launch{OpenMPI, "mpirun of Open MPI", 3, 8, 1, 2, []string{OpenMPI}}
	hydras := Launch{MPICH, "hydra, the mpirun of MPICH", 2, 4, 0, 2, []string{MPICH}}
	either := []string{OpenMPI, MPICH}
	none := Launch{"", "", -1, -1, -1, -1, either}
	for _, c := range []struct {
		name string
		env  []map[string]string
		want Launch
	}{
		{"nothing", nil, none},
		{"Open MPI", []map[string]string{ompi}, ours},
		{"Open MPI in a batch script", []map[string]string{batch, ompi}, ours},
		{"Open MPI whose daemons srun started", []map[string]string{step, ompi}, ours},
		{"hydra", []map[string]string{hydra}, hydras},
		{"hydra whose proxies srun started", []map[string]string{step, hydra}, hydras},
		{"hydra whose proxies srun started with PMIx", []map[string]string{step, {"PMIX_RANK": "0"}, hydra}, hydras},
		{"srun with PMI-2", []map[string]string{step, {"PMI_RANK": "5", "PMI_SIZE": "8"}},
			Launch{MPICH, "srun with PMI", 5, 8, 1, -1, []string{MPICH, OpenMPI}}},
		{"srun with PMIx", []map[string]string{step, {"PMIX_RANK": "5"}},
			Launch{"", "srun with PMIx", 5, 8, 1, -1, either}},
		{"PMIx alone", []map[string]string{{"PMIX_RANK": "5"}}, Launch{"", "a PMIx launcher", 5, -1, -1, -1, either}},
		{"srun without PMI", []map[string]string{step}, Launch{"", "srun", 5, 8, 1, -1, either}},
		{"srun without the step's number of tasks", []map[string]string{step, {"SLURM_STEP_NUM_TASKS": ""}},
			Launch{"", "srun", 5, 16, 1, -1, either}},
		{"srun with the step's tasks by node",
			[]map[string]string{step, {"PMIX_RANK": "5", "SLURM_STEP_TASKS_PER_NODE": "2(x4)",
				"SLURM_TASKS_PER_NODE": "8(x2)"}},
			Launch{"", "srun with PMIx", 5, 8, 1, 2, either}},
		{"srun with the job's tasks by node",
			[]map[string]string{step, {"PMI_RANK": "5", "PMI_SIZE": "8", "SLURM_TASKS_PER_NODE": "4(x2)"}},
			Launch{MPICH, "srun with PMI", 5, 8, 1, 4, []string{MPICH, OpenMPI}}},
		{"the batch script itself", []map[string]string{batch}, none},
		{"the batch step", []map[string]string{batch, {"SLURM_STEP_ID": "4294967291"}},
			none},
		{"an allocation's shell", []map[string]string{{"SLURM_JOB_ID": "7", "SLURM_NTASKS": "16"}},
			none},
		{"numbers that are none", []map[string]string{{"OMPI_COMM_WORLD_SIZE": "many", "OMPI_COMM_WORLD_RANK": "-3"}},
			Launch{OpenMPI, "mpirun of Open MPI", -1, -1, -1, -1, []string{OpenMPI}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{}
			for _, part := range c.env {
				maps.Copy(env, part)
			}
			got := Launcher(func(name string) string { return env[name] })
			test.Eq(t, c.want, got)
		})
	}
}

func TestTasksOfNodes(t *testing.T) {
	for list, want := range map[string]int{"4": 4, "4(x2)": 4, "12(x16)": 12, "4(x2),3": -1, "4,2,1": -1, "": -1,
		"many": -1, "0": -1} {
		test.EqOp(t, want, tasksOfNodes(list), test.Sprint(list))
	}
}

func TestVersionLines(t *testing.T) {
	for _, c := range []struct{ full, first, short string }{
		{"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022",
			"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022", "Open MPI 4.1.4"},
		{"MPICH Version:      4.0.2\nMPICH Release date: Thu Apr 7\n", "MPICH Version: 4.0.2", "MPICH 4.0.2"},
		{"MPI VERSION    : CRAY MPICH version 8.1.25 (ANL base 3.4a2)\nMPI BUILD",
			"MPI VERSION : CRAY MPICH version 8.1.25 (ANL base 3.4a2)",
			"MPI VERSION : CRAY MPICH version 8.1.25 (ANL base 3.4a2)"},
		{"Intel(R) MPI Library 2021.9 for Linux* OS\n", "Intel(R) MPI Library 2021.9 for Linux* OS",
			"Intel(R) MPI Library 2021.9"},
		{"MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date :", "MVAPICH2 Version : 2.3.7", "MVAPICH2 2.3.7"},
		{"", "", ""},
	} {
		first, short := versionLines(c.full)
		if first != c.first || short != c.short {
			t.Errorf("%q: %q, %q", c.full, first, short)
		}
	}
}

func TestQuietLibraries(t *testing.T) {
	for _, name := range []string{"UCX_ERROR_SIGNALS", "UCX_DEBUG_SIGNO", "HFI_NO_BACKTRACE", "IPATH_NO_BACKTRACE"} {
		t.Setenv(name, "") // so that the test puts it back
		_ = os.Unsetenv(name)
	}
	t.Setenv("UCX_DEBUG_SIGNO", "SIGHUP")
	quietLibraries()
	for name, want := range map[string]string{"UCX_ERROR_SIGNALS": "", "UCX_DEBUG_SIGNO": "SIGHUP",
		"HFI_NO_BACKTRACE": "1"} {
		if got, set := os.LookupEnv(name); !set || got != want {
			t.Errorf("%s is %q (set: %t), want %q", name, got, set, want)
		}
	}
}
