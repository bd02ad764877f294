package preflights

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/ranges"
	"busbar/internal/units"
)

// Notices of rank --preflight on hosts.

// OneHost is the only host of a launch.
type OneHost struct {
	Host   string           `json:"host"`
	CPU    string           `json:"cpu"`
	Memory units.RoughBytes `json:"memory_bytes"`
	System string           `json:"system"`
}

// HostsAlike states that the hosts of a launch are equal.
type HostsAlike struct {
	Hosts  int              `json:"hosts"`
	CPU    string           `json:"cpu"`
	CPUs   int              `json:"cpus"`
	Memory units.RoughBytes `json:"memory_bytes"`
}

// HostsDiffer reports properties in which hosts differ.
type HostsDiffer struct {
	Properties []HostProperty `json:"properties"`
}

// HostProperty is a property with its values.
type HostProperty struct {
	Name   string      `json:"name"`
	Values []HostValue `json:"values"` // the most frequent first
}

func (p HostProperty) String() string {
	const most = 4
	var values []string
	for _, v := range p.Values[:min(most, len(p.Values))] {
		values = append(values, fmt.Sprintf("%s (%s)", v.Value, ranges.Names(v.Hosts)))
	}
	if n := len(p.Values) - most; n > 0 {
		values = append(values, fmt.Sprintf("and %d more", n))
	}
	return p.Name + " " + strings.Join(values, ", ")
}

// HostValue is a value with the hosts that have it.
type HostValue struct {
	Value string   `json:"value"`
	Hosts []string `json:"hosts"`
}

// RanksAcrossNUMA reports ranks that may move between NUMA nodes.
type RanksAcrossNUMA struct {
	notice.RankCPUs
	Moving int `json:"moving"`
	Nodes  int `json:"numa_nodes"`
}

// CPUGovernor is the frequency governor of a rank's cores.
type CPUGovernor struct {
	Governor Governor `json:"governor"`
}

// Governor is a name of the kernel; "" where it shows none.
type Governor string

func (g Governor) String() string {
	if g == "" {
		return "not visible (virtual machine, or set by the firmware)"
	}
	return string(g)
}

// SlowGovernor reports cores whose frequency falls between operations.
type SlowGovernor struct{ CPUGovernor }

// NUMABalancing is whether the kernel moves pages between NUMA nodes.
type NUMABalancing struct {
	State BalancingState `json:"state"`
}

// BalancingState is a state that needs no attention.
type BalancingState string

// The states.
const (
	BalancingOff     BalancingState = "off"
	BalancingUnknown BalancingState = "unknown"
	OneNUMANode      BalancingState = "one-node"
)

func (s BalancingState) String() string {
	if s == OneNUMANode {
		return "the host has one NUMA node"
	}
	return "NUMA balancing is " + string(s)
}

// NUMABalancingOn reports a kernel that moves pages between NUMA nodes.
type NUMABalancingOn struct{}

// CPULoad is the load of a host.
type CPULoad struct {
	Load Load `json:"load1"`
	CPUs int  `json:"cpus"`
}

// Load is a one-minute load average.
type Load float64

func (l Load) String() string { return fmt.Sprintf("%.2f", float64(l)) }

// HostBusy reports other work on a host.
type HostBusy struct{ CPULoad }

// BufferLimit is the limit of buffers on a host.
type BufferLimit notice.MemoryLimit

func (l BufferLimit) String() string {
	return fmt.Sprintf("%v for buffers per rank: %s", l.Bytes, notice.MemoryLimit(l).Basis())
}

// HostBuffers is the memory for buffers on a host.
type HostBuffers struct {
	Limit BufferLimit `json:"limit"`
}

// HostMemoryShort reports too little of it.
type HostMemoryShort struct {
	Limit BufferLimit `json:"limit"`
}

// HostMemoryUnknown reports that free memory cannot be read.
type HostMemoryUnknown struct{}

// SharedMemory is the room in /dev/shm.
type SharedMemory struct {
	Free  units.RoughBytes `json:"free_bytes"`
	Total units.RoughBytes `json:"total_bytes"`
	Ranks int              `json:"ranks"`
}

// ShmTooSmall reports that libraries crash for lack of shared memory.
type ShmTooSmall struct{ SharedMemory }

// ShmSmallForNCCL reports shared memory that is enough for MPI only.
type ShmSmallForNCCL struct{ SharedMemory }

// NoShm reports a host without /dev/shm.
type NoShm struct {
	Ranks int `json:"ranks"`
}

// Limit is a limit of the system; in JSON a number, "unlimited" or "unknown".
type Limit int64

// Limits that are no number.
const (
	Unlimited    Limit = -1
	LimitUnknown Limit = -2
)

var limitWords = map[Limit]string{Unlimited: "unlimited", LimitUnknown: "unknown"}

func (l Limit) String() string {
	if word := limitWords[l]; word != "" {
		return word
	}
	return strconv.FormatInt(int64(l), 10)
}

// MarshalJSON writes a number or a word.
func (l Limit) MarshalJSON() ([]byte, error) {
	if word := limitWords[l]; word != "" {
		return json.Marshal(word)
	}
	return json.Marshal(int64(l))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Limit) UnmarshalJSON(text []byte) error {
	for limit, word := range limitWords {
		if string(text) == strconv.Quote(word) {
			*l = limit
			return nil
		}
	}
	return json.Unmarshal(text, (*int64)(l))
}

// ByteLimit is a limit in bytes.
type ByteLimit struct{ Limit }

func (l ByteLimit) String() string {
	if l.Limit < 0 {
		return l.Limit.String()
	}
	return units.RoughBytes(l.Limit).String()
}

// LockedMemory is ulimit -l.
type LockedMemory struct {
	Limit  ByteLimit  `json:"limit"`
	Reason LockReason `json:"reason,omitempty"`
}

// LockReason is why a low ulimit -l does not matter.
type LockReason string

// The reasons.
const (
	NoRDMA     LockReason = "no-rdma"
	LockExempt LockReason = "exempt"
)

func (r LockReason) String() string {
	if r == LockExempt {
		return "this process is exempt (CAP_IPC_LOCK)"
	}
	return "enough without RDMA devices"
}

// MemlockLimited reports a limit that keeps RDMA from registering memory.
type MemlockLimited struct {
	Limit ByteLimit `json:"limit"`
}

// OpenFiles is ulimit -n.
type OpenFiles struct {
	Limit Limit `json:"limit"`
}

// OpenFilesLimited reports a limit that is low for the number of ranks.
type OpenFilesLimited struct {
	Limit  Limit `json:"limit"`
	Ranks  int   `json:"ranks"`
	Needed int   `json:"needed"`
}

// OutputFolder is the folder for results.
type OutputFolder struct {
	Folder string    `json:"folder"`
	Free   FreeSpace `json:"free_bytes,omitempty"`
}

// FreeSpace is the room of a filesystem; 0: unknown.
type FreeSpace float64

func (f FreeSpace) String() string {
	if f == 0 {
		return "free space unknown"
	}
	return units.RoughBytes(f).String() + " free"
}

// OutputFull reports a folder with little room.
type OutputFull struct {
	Folder string           `json:"folder"`
	Free   units.RoughBytes `json:"free_bytes"`
}

// OutputUnusable reports a folder that cannot be written.
type OutputUnusable struct{ Failed }

func (OneHost) Code() Code     { return "one-host" }
func (HostsAlike) Code() Code  { return "hosts-alike" }
func (HostsDiffer) Code() Code { return "hosts-differ" }

func (RanksAcrossNUMA) Code() Code   { return "ranks-across-numa-nodes" }
func (CPUGovernor) Code() Code       { return "cpu-governor" }
func (SlowGovernor) Code() Code      { return "cpu-governor-slow" }
func (NUMABalancing) Code() Code     { return "numa-balancing-state" }
func (NUMABalancingOn) Code() Code   { return "numa-balancing-on" }
func (CPULoad) Code() Code           { return "cpu-load" }
func (HostBusy) Code() Code          { return "host-busy" }
func (HostBuffers) Code() Code       { return "host-memory" }
func (HostMemoryShort) Code() Code   { return "host-memory-short" }
func (HostMemoryUnknown) Code() Code { return "host-memory-unknown" }
func (SharedMemory) Code() Code      { return "shared-memory" }
func (ShmTooSmall) Code() Code       { return "shm-too-small" }
func (ShmSmallForNCCL) Code() Code   { return "shm-small-for-nccl" }
func (NoShm) Code() Code             { return "shm-missing" }
func (LockedMemory) Code() Code      { return "locked-memory" }
func (MemlockLimited) Code() Code    { return "memlock-limited" }
func (OpenFiles) Code() Code         { return "open-files" }
func (OpenFilesLimited) Code() Code  { return "open-files-limited" }
func (OutputFolder) Code() Code      { return "output-folder" }
func (OutputFull) Code() Code        { return "output-full" }
func (OutputUnusable) Code() Code    { return "output-unusable" }

// Values for the documentation.
var (
	exampleMemory = BufferLimit{Host: "node1", Bytes: 200 << 20, Bound: "MemAvailable", Free: 2 << 30, Ranks: 8,
		Kept: 32 << 20}
	exampleShm = SharedMemory{48 << 20, 64 << 20, 8}

	exampleProperties = []HostProperty{{"kernel", []HostValue{{"6.1", []string{"n1", "n3"}}, {"5.15", []string{"n2"}}}}}
)

const (
	cpusText = "{Ranks rank} on {CPUs CPU}, {Binding}"
	shmText  = "/dev/shm has {Free} free of {Total} for {Ranks rank}"
)

var preflightHosts = []notice.Entry{
	{Example: OneHost{"node1", "EPYC 9454", 768 << 30, "Debian 12"}, Text: "{Host}: {CPU}, {Memory}, {System}",
		Doc: "Processor, memory, operating system and container of the only host."},
	{Example: HostsAlike{4, "EPYC 9454", 96, 768 << 30}, Text: "{Hosts host} are alike: {CPU}, {CPUs CPU}, {Memory}",
		Doc: "CPU, memory, operating system, kernel, container, RDMA ports and GPUs are equal on all hosts."},
	{Example: HostsDiffer{exampleProperties}, Severity: notice.Warning,
		Text:   "the hosts differ: {Properties}",
		Advice: "leave out the hosts that differ, or make them equal: every collective is as slow as its slowest host",
		Doc:    "Hosts differ in hardware or settings. Memory is compared to 5 %: the firmware keeps some of it."},
	{
		Example: RanksAcrossNUMA{
			notice.RankCPUs{Ranks: 2, CPUs: 8, Binding: notice.Binding{Min: 4, Max: 8, Free: false}},
			1,
			2,
		},
		Severity: notice.Warning,
		Text:     cpusText + ": {Moving rank} may move between {Nodes} NUMA nodes",
		Advice: "bind each rank to one NUMA node: mpirun --map-by numa --bind-to numa, srun --cpu-bind=ldoms or " +
			"cores",
		Doc: "A rank that moves to another NUMA node leaves its memory behind, and times vary.",
	},
	{Example: CPUGovernor{"performance"}, Text: "the CPU governor is {Governor}",
		Doc: "The frequency governor of the ranks' cores."},
	{Example: SlowGovernor{CPUGovernor{"powersave"}}, Severity: notice.Warning,
		Text:   "the CPU governor is {Governor}: cores slow down between operations, and times of small sizes vary",
		Advice: "run cpupower frequency-set -g performance (as root), or srun --cpu-freq=performance",
		Doc:    "Any governor but performance lowers the frequency of cores that wait."},
	{Example: NUMABalancing{BalancingOff}, Text: "{State}", Doc: "The setting kernel.numa_balancing."},
	{Example: NUMABalancingOn{}, Severity: notice.Warning,
		Text:   "NUMA balancing is on: the kernel moves pages while they are in use; GPU drivers suffer most",
		Advice: notice.AdviceBalancing,
		Doc: `rank --preflight read kernel.numa_balancing: the kernel moves pages to the NUMA node that uses them.
			RCCL's own warning, in a log, is rccl-warns-numa-balancing.`},
	{Example: CPULoad{0.5, 96}, Text: "load average {Load} on {CPUs CPU}", Doc: "The one-minute load average."},
	{Example: HostBusy{CPULoad{40, 96}}, Severity: notice.Warning,
		Text:   "load average {Load} on {CPUs CPU}: other work disturbs the results",
		Advice: "end other work, or ask for whole nodes (srun --exclusive)",
		Doc:    "The load average is over a quarter of the CPUs."},
	{Example: HostBuffers{exampleMemory}, Text: "{Limit}",
		Doc: "The maximum size of a rank's buffers, from free memory, the cgroup's limit and ulimit -v."},
	{Example: HostMemoryShort{exampleMemory}, Severity: notice.Warning,
		Text: "{Limit}",
		Advice: "end what else uses memory, start fewer ranks per host, or ask for more (srun --mem=0, docker run " +
			"--memory); sizes that do not fit are skipped",
		Doc: "The buffers of a rank may use less than 256 MiB; below 16 MiB it is an error."},
	{Example: HostMemoryUnknown{}, Severity: notice.Warning,
		Text: "free memory is unknown", Advice: "mount /proc; without it a size that is too large ends the run",
		Doc: "/proc/meminfo cannot be read, so that sizes cannot be planned."},
	{Example: exampleShm, Text: shmText, Doc: "The size of /dev/shm, through which ranks of a host exchange data."},
	{Example: ShmTooSmall{exampleShm}, Severity: notice.Error,
		Source: notice.RuntimeDoc + ", Shared memory",
		Text:   shmText + ": too little, libraries crash (SIGBUS)", Advice: notice.AdviceShared,
		Doc: "Less than 8 MiB of /dev/shm for each rank. Docker gives a container 64 MiB."},
	{Example: ShmSmallForNCCL{SharedMemory{48 << 20, 64 << 20, 2}}, Severity: notice.Warning,
		Source: notice.RuntimeDoc + ", Shared memory",
		Text:   shmText + ": enough for MPI, not for NCCL", Advice: notice.AdviceShared,
		Doc: `Less than 64 MiB of /dev/shm for each rank: NCCL uses 4 MiB and more for each channel to each rank of the
			host.`},
	{Example: NoShm{8}, Severity: notice.Warning,
		Text:   "no /dev/shm for {Ranks rank}",
		Advice: "mount a tmpfs there: ranks of one host exchange data through it",
		Doc:    "The host has no /dev/shm. A single rank needs none."},
	{Example: LockedMemory{ByteLimit{64 << 10}, NoRDMA}, Text: "ulimit -l is {Limit}[; {Reason}]",
		Doc: "How much memory a process may lock, which RDMA needs."},
	{Example: MemlockLimited{ByteLimit{8 << 20}}, Severity: notice.Warning,
		Source: notice.NetworkDoc + ", InfiniBand",
		Text:   "ulimit -l is {Limit}: RDMA cannot register more than that", Advice: notice.AdviceLocked,
		Doc: `Memory that an adapter writes must be locked. Below 64 MiB a rank cannot register even the libraries' own
			buffers, which is an error.`},
	{Example: OpenFiles{1024}, Text: "ulimit -n is {Limit}", Doc: "How many files and connections a process may open."},
	{Example: OpenFilesLimited{1024, 512, 2304}, Severity: notice.Warning,
		Source: notice.RuntimeDoc + ", File Descriptors",
		Text:   "ulimit -n is {Limit}: {Ranks rank} need {Needed}", Advice: notice.AdviceFiles,
		Doc: `A library opens several connections to each rank. It is an error if the limit is too low for one
			connection to each.`},
	{Example: OutputFolder{"results", 1 << 30}, Text: "{Folder} can be written, {Free}",
		Doc: "The folder of --out; nothing is created in it."},
	{Example: OutputFull{"results", 20 << 20}, Severity: notice.Warning,
		Text: "{Folder} has {Free} free", Advice: "free disk space, or name another folder with --out",
		Doc: "Less than 100 MiB are free in the folder of --out; below 1 MiB it is an error."},
	{Example: OutputUnusable{Failed{Problem: "results folder a: /x/a is a file, not a folder"}}, Severity: notice.Error,
		Text: failedText, Advice: "name another folder with --out",
		Doc: "The folder of --out cannot be created or written."},
}
