package nccllogs

import (
	"slices"

	"busbar/internal/notice"
)

// Notices on settings of NCCL, from its logs.

// Effect is what a variable does; its value is the variable's name.
type Effect string

func (e Effect) String() string {
	i := slices.IndexFunc(effects, func(d described) bool { return d.name == string(e) })
	if i < 0 {
		return ""
	}
	return effects[i].does
}

// described is a variable with what it does, in words that follow "it".
type described struct{ name, does string }

// effects are the variables that are known to matter: NCCL documentation, Environment Variables, under their names.
var effects = []described{
	{"NCCL_TOPO_FILE", "changes the topology that NCCL sees"},
	{"NCCL_GRAPH_FILE", "replaces NCCL's search for rings and trees"},
	{"NCCL_P2P_DISABLE", "prevents GPUs from accessing each other's memory"},
	{"NCCL_P2P_LEVEL", "limits how far apart GPUs may be that access each other's memory"},
	{"NCCL_P2P_DIRECT_DISABLE", "prevents GPUs of one process from accessing the program's buffers"},
	{"NCCL_SHM_DISABLE", "forbids shared memory: without P2P, data within a host goes over the network"},
	{"NCCL_IB_DISABLE", "makes NCCL use TCP instead of InfiniBand or RoCE"},
	{"NCCL_NET", "fixes the network"},
	{"NCCL_NET_PLUGIN", "selects the network plugin"},
	{"NCCL_IB_HCA", "selects the NICs"},
	{"NCCL_SOCKET_IFNAME", "selects the interfaces for TCP"},
	{"NCCL_NET_GDR_LEVEL", "limits how far a NIC may be from a GPU whose memory it accesses"},
	{"NCCL_NET_GDR_READ", "controls whether NICs read GPU memory themselves"},
	{"NCCL_DMABUF_ENABLE", "controls whether GPUDirect RDMA uses DMA-BUF"},
	{"NCCL_MAX_NCHANNELS", "limits the number of channels"},
	{"NCCL_MAX_CTAS", "limits the number of thread blocks, and with them of channels"},
	{"NCCL_MIN_NCHANNELS", "asks for more channels"},
	{"NCCL_MIN_CTAS", "asks for more thread blocks, and with them channels"},
	{"NCCL_ALGO", "fixes the algorithms"},
	{"NCCL_PROTO", "fixes the protocols"},
	{"NCCL_NVLS_ENABLE", "switches NVLink SHARP"},
	{"NCCL_TUNER_PLUGIN", "lets a plugin select algorithms and protocols"},
	{"NCCL_CROSS_NIC", "controls whether a ring may use another NIC at the next node"},
	{"NCCL_PXN_DISABLE", "prevents GPUs from sending through another GPU's NIC"},
	{"NCCL_NVB_DISABLE", "forbids the path over another GPU's NVLink"},
	{"NCCL_COLLNET_ENABLE", "switches reduction in the network"},
	{"NCCL_MNNVL_ENABLE", "switches NVLink between nodes"},
	{"NCCL_CUMEM_ENABLE", "selects how GPU memory is allocated"},
	{"NCCL_CUMEM_HOST_ENABLE", "selects how host memory is shared"},
	{"NCCL_BUFFSIZE", "changes the buffer between two GPUs"},
	{"NCCL_NTHREADS", "changes the number of threads of a block"},
	{"NCCL_NCHANNELS_PER_NET_PEER", "changes the channels of sends between nodes"},
	{"NCCL_IB_QPS_PER_CONNECTION", "spreads a connection over queue pairs"},
	{"NCCL_IB_GID_INDEX", "selects the address of RoCE ports"},
	{"NCCL_IB_TC", "selects the traffic class"},
	{"NCCL_IB_SL", "selects the service level"},
	{"NCCL_IB_PCI_RELAXED_ORDERING", "controls whether NICs may write in any order"},
	{"NCCL_SOCKET_NTHREADS", "changes the threads of a TCP connection"},
	{"NCCL_NSOCKS_PERTHREAD", "changes the sockets of a thread"},
	{"NCCL_IGNORE_CPU_AFFINITY", "controls whether NCCL keeps to the CPUs of the job"},
	{"NCCL_LAUNCH_MODE", "changes how kernels of one process are launched"},
}

// SettingAffectsSpeed reports a setting that slows NCCL down, or is for tests.
type SettingAffectsSpeed struct {
	Variable string `json:"variable"`
	Value    string `json:"value"`
	Effect   Effect `json:"effect"`
	Line     string `json:"line" alike:"-"` // of the log
}

// Advice depends on the variable.
func (s SettingAffectsSpeed) Advice() string {
	switch s.Variable {
	case "NCCL_PROTO":
		return "leave it unset; NVIDIA advises against it: LL128 on a platform without support for it corrupts data"
	case "NCCL_IB_GID_INDEX":
		return "leave it unset: since 2.21 NCCL selects it"
	}
	return "leave it unset, and set it only to measure what it costs"
}

// Source is the documentation of the variable.
func (s SettingAffectsSpeed) Source() string { return notice.EnvironmentDoc + s.Variable }

// TopologyFromFile reports a topology that was read from a file.
type TopologyFromFile struct {
	File string `json:"file"`
}

// SettingsDiffer reports a variable that has different values in processes.
type SettingsDiffer struct {
	Variable string    `json:"variable"`
	Values   []string  `json:"values"`
	Each     []ValueOf `json:"each"`
	PerHost  bool      `json:"per_host"` // hosts may rightly differ in it
}

// ValueOf is a value with the processes that have it.
type ValueOf struct {
	Assigned
	Who string `json:"who" alike:"-"`
}

func (v ValueOf) String() string { return v.Assigned.String() + ": " + v.Who }

// Advice depends on the variable.
func (s SettingsDiffer) Advice() string {
	if s.PerHost {
		return "correct if the hosts differ in this"
	}
	return "give all ranks one environment (mpirun -x NAME, srun --export, the same image): ranks that select " +
		"differently can hang"
}

// Source is the documentation of the variable.
func (s SettingsDiffer) Source() string { return notice.EnvironmentDoc + s.Variable }

func (SettingAffectsSpeed) Code() notice.Code { return "setting-affects-speed" }
func (TopologyFromFile) Code() notice.Code    { return "topology-from-file" }
func (SettingsDiffer) Code() notice.Code      { return "settings-differ" }

var ncclSettings = []notice.Entry{
	{
		Example: SettingAffectsSpeed{
			"NCCL_P2P_DISABLE",
			"1",
			"NCCL_P2P_DISABLE",
			"NCCL_P2P_DISABLE set by environment to 1.",
		},
		Severity: notice.Warning,
		Text:     "{Variable} is {Value}: it {Effect}",
		Details:  []string{"{Line}"},
		Doc: `A variable that slows NCCL down or is for tests was set. The severity depends on the variable and its
			value.`,
	},
	{
		Example:  TopologyFromFile{"/etc/nccl/topo.xml"},
		Severity: notice.Info,
		Source:   notice.EnvironmentDoc + "NCCL_TOPO_FILE",
		Text:     "NCCL reads the topology from a file, not only from the machine",
		Details:  []string{"NCCL_TOPO_FILE={File}."},
		Advice:   "check that the file describes this machine; run without it to compare",
		Doc:      "NCCL_TOPO_FILE is set, and not by a plugin.",
	},
	{
		Example: SettingsDiffer{
			"NCCL_ALGO", []string{"Ring", "Tree"}, []ValueOf{{Assigned{"NCCL_ALGO", "Tree"}, "ranks 4-7 on n2"}}, false,
		},
		Severity: notice.Warning,
		Text:     "processes have different values of {Variable}: {Values}",
		Details:  []string{"{Each...}"},
		Doc: `Only values that differ count: many variables are read by one rank alone, or once. Where hosts may differ,
			as in the names of NICs, it is for information.`,
	},
}
