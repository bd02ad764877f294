package mpi

import (
	_ "embed"
	"os"
	"strings"
	"testing"

	"busbar/internal/golden"

	"github.com/shoenig/test"
)

//go:embed testdata/launchers.txt
var launchers string

func TestLauncher(t *testing.T) {
	variables := map[string]string{
		"ompi": "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 " +
			"OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_RANK=3",
		"hydra": "PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2",
		"batch": "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NTASKS=16",
		"step":  "SLURM_JOB_ID=7 SLURM_PROCID=5 SLURM_LOCALID=1 SLURM_NTASKS=16 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=8",
	}
	for _, c := range golden.Table[struct {
		Case, Env string
		Launch
		Families []string
	}](t, os.Expand(launchers, func(name string) string { return variables[name] })) {
		env := map[string]string{}
		for word := range strings.FieldsSeq(c.Env) {
			name, value, _ := strings.Cut(word, "=")
			env[name] = value
		}
		c.families = c.Families
		test.Eq(t, c.Launch, Launcher(func(name string) string { return env[name] }), test.Sprint(c.Case))
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
