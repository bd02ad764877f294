package launch

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/mpi"
	"busbar/rank/exit"
)

// Meeting is where the ranks meet without MPI, and which of them this one is.
type Meeting struct {
	Source    string // what gave it, for people: "torchrun"
	Rank      int
	Size      int
	LocalRank int    // -1 if unknown
	LocalSize int    // -1 if unknown
	Host      string // where rank 0 listens
	HostFrom  string // the variable or rule that gave Host: "MASTER_ADDR"
	Port      int
	PortFrom  string // the variable that sets Port
	Identity  string // equal on all ranks, another for each run; "" if nothing identifies the run
}

// maxRanks is the limit of a world that TCP connects: one connection and one descriptor of rank 0 for each.
const maxRanks = 1 << 16

// Bootstrap is how the ranks meet.
type Bootstrap string

// The values of --bootstrap.
const (
	BootstrapAuto Bootstrap = "auto"
	BootstrapMPI  Bootstrap = "mpi"
	BootstrapTCP  Bootstrap = "tcp"
)

// Choose returns the meeting of ranks that TCP connects; nil if MPI connects them. auto takes MPI under mpirun and any
// PMI, then a complete environment of torchrun, Kubernetes or srun, and MPI for a program that was started alone.
func (b Bootstrap) Choose(getenv func(string) string) (*Meeting, error) {
	if b == BootstrapMPI || b == BootstrapAuto && mpi.HasPMI(getenv) {
		return nil, nil
	}
	m, err := readMeeting(getenv)
	if m == nil && err == nil && b == BootstrapTCP {
		return Alone(), nil
	}
	return m, err
}

// Alone is the meeting of one rank, which listens nowhere.
func Alone() *Meeting { return &Meeting{Size: 1, LocalSize: 1} }

// Set implements flag.Value.
func (b *Bootstrap) Set(s string) error {
	switch Bootstrap(s) {
	case BootstrapAuto, BootstrapMPI, BootstrapTCP:
		*b = Bootstrap(s)
		return nil
	}
	return coll.Unknown("bootstrap", s, []string{string(BootstrapAuto), string(BootstrapMPI), string(BootstrapTCP)})
}

// readMeeting reads the variables of torchrun and others that set RANK and WORLD_SIZE, of a Kubernetes Indexed Job, or
// of srun, in this order; nil if there are none.
func readMeeting(getenv func(string) string) (*Meeting, error) {
	e := environment{getenv: getenv}
	var m *Meeting
	switch {
	case getenv("RANK") != "" || getenv("WORLD_SIZE") != "" && getenv("JOB_COMPLETION_INDEX") == "":
		m = e.torch()
	case getenv("JOB_COMPLETION_INDEX") != "":
		m = &Meeting{Source: "a Kubernetes Indexed Job", Rank: e.number("JOB_COMPLETION_INDEX"),
			Size: e.number("WORLD_SIZE"), LocalRank: -1, LocalSize: -1}
		e.address(m, 29500)
	case getenv("PET_NNODES") != "":
		e.fail("PET_NNODES is set, but RANK is not: start rank by torchrun (torchrun --no-python … rank …)")
	default:
		l := mpi.Launcher(getenv)
		if l.Name == "" {
			return nil, nil
		}
		m = e.slurm(l)
	}
	if e.err == nil && m.Size > maxRanks {
		e.fail("a world size of %d is more than %d", m.Size, maxRanks)
	}
	if e.err == nil && m.Rank >= m.Size {
		e.fail("the rank %d of %s must be below the world size %d", m.Rank, m.Source, m.Size)
	}
	return m, e.err
}

// environment reads variables and keeps the first error.
type environment struct {
	getenv func(string) string
	err    error
}

func (e *environment) fail(format string, a ...any) {
	if e.err == nil {
		e.err = exit.Environmentf(format, a...)
	}
}

// number reads a variable that must be a number.
func (e *environment) number(name string) int {
	text := e.getenv(name)
	n, err := strconv.Atoi(text)
	switch {
	case text == "":
		e.fail("%s is not set, though the other variables of a launcher are: set it, or use --bootstrap mpi", name)
	case err != nil || n < 0:
		e.fail("%s=%s is not a number of at least 0", name, text)
	}
	return n
}

// optional reads a variable that may be missing, which is -1.
func (e *environment) optional(name string) int {
	if e.getenv(name) == "" {
		return -1
	}
	return e.number(name)
}

// address reads MASTER_ADDR and MASTER_PORT, which has a default.
func (e *environment) address(m *Meeting, port int) {
	m.Host, m.HostFrom, m.Port = e.getenv("MASTER_ADDR"), "MASTER_ADDR", port
	if m.Host == "" {
		e.fail("MASTER_ADDR is not set, though %s has a rank: set it to the address of rank 0", m.Source)
	}
	e.port(m)
}

// port reads MASTER_PORT over the default.
func (e *environment) port(m *Meeting) {
	m.PortFrom = "MASTER_PORT"
	if e.getenv("MASTER_PORT") != "" {
		m.Port = e.number("MASTER_PORT")
	}
	e.checkPort(m)
}

func (e *environment) checkPort(m *Meeting) {
	if m.Port < 1 || m.Port > 65535 {
		e.fail("port %d of %s must be from 1 to 65535", m.Port, m.Source)
	}
}

// torch reads the variables of torchrun, which PyTorchJob and many scripts set too.
func (e *environment) torch() *Meeting {
	m := &Meeting{Source: "RANK and WORLD_SIZE", Rank: e.number("RANK"), Size: e.number("WORLD_SIZE"),
		LocalRank: e.optional("LOCAL_RANK"), LocalSize: e.optional("LOCAL_WORLD_SIZE")}
	run := e.getenv("TORCHELASTIC_RUN_ID")
	if perNode, _ := strconv.Atoi(e.getenv("PET_NPROC_PER_NODE")); run == "" && m.LocalRank < 0 && perNode > 1 {
		e.fail("RANK=%d is the number of a pod, but WORLD_SIZE=%d counts processes (PET_NPROC_PER_NODE=%d): start "+
			"rank by torchrun, or set nprocPerNode to 1", m.Rank, m.Size, perNode)
	}
	e.address(m, 29500)
	if run != "" {
		m.Source, m.Identity = "torchrun", run+"/"+e.getenv("TORCHELASTIC_RESTART_COUNT")
	}
	// The agent of torchrun serves MASTER_PORT itself.
	if e.getenv("TORCHELASTIC_USE_AGENT_STORE") == "True" {
		m.PortFrom = "BUSBAR_PORT"
		if m.Port++; e.getenv("BUSBAR_PORT") != "" {
			m.Port = e.number("BUSBAR_PORT")
		}
		e.checkPort(m)
	}
	return m
}

// slurm reads the variables of a step of srun, or those of mpirun with --bootstrap tcp.
func (e *environment) slurm(l mpi.Launch) *Meeting {
	m := &Meeting{Source: l.Name, Rank: l.Rank, Size: l.Size, LocalRank: l.LocalRank, LocalSize: l.LocalSize}
	if m.Rank < 0 || m.Size < 1 {
		e.fail("%s does not set the rank and the world size: use --bootstrap mpi", l.Name)
	}
	nodes := cmp.Or(e.getenv("SLURM_STEP_NODELIST"), e.getenv("SLURM_JOB_NODELIST"))
	switch {
	case e.getenv("MASTER_ADDR") != "" || nodes == "" && m.Size != m.LocalSize:
		e.address(m, 29500)
	case m.Size == m.LocalSize:
		m.Host, m.HostFrom = "127.0.0.1", "one host"
	case strings.HasPrefix(e.getenv("SLURM_DISTRIBUTION"), "arbitrary"):
		e.fail("with --distribution=arbitrary the node of rank 0 is unknown: set MASTER_ADDR to it")
	default:
		m.Host, m.HostFrom = firstNode(nodes), "the first node of SLURM_STEP_NODELIST"
	}
	job, step := e.getenv("SLURM_JOB_ID"), e.getenv("SLURM_STEP_ID")
	if m.Port = 29500; job != "" {
		m.Identity = job + "." + step + "." + e.getenv("SLURM_RESTART_COUNT")
		m.Port = slurmPort(e.getenv("SLURM_STEP_RESV_PORTS"), job, step)
	}
	e.port(m)
	return m
}

// slurmPort is the first port that Slurm reserves for the step (srun --resv-ports), else one derived from job and step.
func slurmPort(reserved, job, step string) int {
	first := strings.FieldsFunc(reserved, func(r rune) bool { return r == '-' || r == ',' })
	if len(first) > 0 {
		if n, err := strconv.Atoi(first[0]); err == nil {
			return n
		}
	}
	n, _ := strconv.Atoi(job)
	s, _ := strconv.Atoi(step)
	return 10000 + (n*7+s)%20000
}

// firstNode is the first name of a list of Slurm: n01 of "n[01-03,7],m1".
func firstNode(list string) string {
	var name strings.Builder
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case ',':
			return name.String()
		case '[':
			inside, rest, _ := strings.Cut(list[i+1:], "]")
			first, _, _ := strings.Cut(inside, ",")
			first, _, _ = strings.Cut(first, "-")
			name.WriteString(first)
			return name.String() + firstNode(rest)
		default:
			name.WriteByte(list[i])
		}
	}
	return name.String()
}

// String names the address and its source, for messages.
func (m *Meeting) String() string { return fmt.Sprintf("%s:%d (%s)", m.Host, m.Port, m.HostFrom) }

// Started is what the meeting states about this process.
func (m *Meeting) Started() Started {
	return Started{m.Source, m.Rank, m.Size, m.LocalRank, m.LocalSize, true}
}
