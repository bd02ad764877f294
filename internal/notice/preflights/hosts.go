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
type HostMemoryShort HostBuffers

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
	Folder string           `json:"folder"`
	Free   units.RoughBytes `json:"free_bytes,omitempty"`
}

// OutputFull reports a folder with little room.
type OutputFull struct {
	Folder string           `json:"folder"`
	Free   units.RoughBytes `json:"free_bytes"`
}

// OutputUnusable reports a folder that cannot be written.
type OutputUnusable struct{ Failed }
