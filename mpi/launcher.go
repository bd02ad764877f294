package mpi

import (
	"cmp"
	"os"
	"strconv"
	"strings"
)

// Launch is what the launcher's variables state about this process before MPI starts.
type Launch struct {
	Family string // MPI family of the launcher: openmpi or mpich; "" if it supports any, or without a launcher
	Name   string // for people: "mpirun of Open MPI"; "" if no launcher is seen

	// -1 if unknown; LocalSize also if Slurm's nodes differ in it.
	Rank, Size, LocalRank, LocalSize int

	families []string // whose libraries can work under this launcher, the most likely first
}

// Launcher reads the variables of Open MPI's mpirun, hydra (MPICH and its relatives), PMIx and Slurm.
//
// The most specific comes first: under mpirun inside a Slurm job, Slurm's variables describe something else. Those
// alone count only inside a step, since a batch script, which is no rank, has most of them as well.
func Launcher(getenv func(string) string) Launch {
	number := func(names ...string) int {
		for _, name := range names {
			if n, err := strconv.Atoi(getenv(name)); err == nil && n >= 0 {
				return n
			}
		}
		return -1
	}
	inStep := slurmStep(getenv) && number("SLURM_PROCID") >= 0
	slurmSize, slurmLocal := -1, -1
	if inStep {
		slurmSize = number("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
		slurmLocal = tasksOfNodes(cmp.Or(getenv("SLURM_STEP_TASKS_PER_NODE"), getenv("SLURM_TASKS_PER_NODE")))
	}
	either := []string{OpenMPI, MPICH}
	switch {
	case getenv("OMPI_COMM_WORLD_SIZE") != "":
		return Launch{OpenMPI, "mpirun of Open MPI", number("OMPI_COMM_WORLD_RANK"), number("OMPI_COMM_WORLD_SIZE"),
			number("OMPI_COMM_WORLD_LOCAL_RANK"), number("OMPI_COMM_WORLD_LOCAL_SIZE"), []string{OpenMPI}}
	case getenv("PMI_RANK") != "" && inStep && getenv("MPI_LOCALRANKID") == "":
		return Launch{MPICH, "srun with PMI", number("PMI_RANK"), number("PMI_SIZE"), number("SLURM_LOCALID"),
			slurmLocal,
			[]string{MPICH, OpenMPI}}
	case getenv("PMI_RANK") != "" || getenv("MPI_LOCALRANKID") != "":
		return Launch{MPICH, "hydra, the mpirun of MPICH", number("PMI_RANK"), number("PMI_SIZE"),
			number("MPI_LOCALRANKID"), number("MPI_LOCALNRANKS"), []string{MPICH}}
	case getenv("PMIX_RANK") != "" && inStep:
		return Launch{"", "srun with PMIx", number("PMIX_RANK"), slurmSize, number("SLURM_LOCALID"), slurmLocal, either}
	case getenv("PMIX_RANK") != "":
		return Launch{"", "a PMIx launcher", number("PMIX_RANK"), -1, -1, -1, either}
	case inStep:
		return Launch{"", "srun", number("SLURM_PROCID"), slurmSize, number("SLURM_LOCALID"), slurmLocal, either}
	}
	return Launch{"", "", -1, -1, -1, -1, either}
}

// slurmStep reports whether this process is a task of a step that srun made. The batch script and an interactive shell
// are steps of their own, with numbers from the top of the range.
func slurmStep(getenv func(string) string) bool {
	for _, name := range []string{"SLURM_STEP_ID", "SLURM_STEPID"} {
		if id, err := strconv.ParseUint(getenv(name), 10, 32); err == nil {
			return id < 0xfffffff0
		}
	}
	return false
}

// tasksOfNodes is how many tasks each node of a step has, by Slurm's list of them such as "4(x2)"; -1 where nodes
// differ, as in "4(x2),3", or if unknown.
func tasksOfNodes(list string) int {
	tasks, _, _ := strings.Cut(list, "(x")
	if n, err := strconv.Atoi(tasks); err == nil && n > 0 && !strings.Contains(list, ",") {
		return n
	}
	return -1
}

// HasPMI reports whether a launcher of MPI started this process: mpirun, or srun with PMI or PMIx.
func HasPMI(getenv func(string) string) bool {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "MPI_LOCALRANKID", "PMIX_RANK"} {
		if getenv(name) != "" {
			return true
		}
	}
	return false
}

// quietLibraries keeps the handlers for crashes that UCX and PSM install off those of the Go runtime, which turn a nil
// dereference into a panic that can be recovered. What the user has set stays.
func quietLibraries() {
	for _, v := range [][2]string{
		{"UCX_ERROR_SIGNALS", ""},
		{"UCX_DEBUG_SIGNO", ""},
		{"HFI_NO_BACKTRACE", "1"},
		{"IPATH_NO_BACKTRACE", "1"},
	} {
		if _, set := os.LookupEnv(v[0]); !set {
			_ = os.Setenv(v[0], v[1]) // fails only for names that are none
		}
	}
}
