package nccllog

import (
	"math"
	"slices"
)

// effect is what a setting can change, and what a log shows of it.
type effect string

const (
	onChannels   effect = "channels"
	onTopology   effect = "topology"
	onTransports effect = "transports"
	onNetwork    effect = "network"
	onDirect     effect = "GPUDirect RDMA"
	onChoice     effect = "algorithms and protocols"
	onSpeed      effect = "speed"
)

// variable is a setting that is known to matter.
type knownSetting struct {
	Name    string
	Does    string // it …
	Touches []effect
	Slow    func(value string, l *Log) Severity // of having it so; nil: neither good nor bad. "" is no finding
	Anew    string                              // what to do about it
	Local   bool                                // may rightly differ between hosts, or is read by one rank alone
}

const (
	environmentDoc = "NCCL documentation, Environment Variables, "
	gpuDoc         = "NCCL documentation, GPU troubleshooting"
	networkDoc     = "NCCL documentation, Networking Troubleshooting"
	runtimeDoc     = "NCCL documentation, Runtime and MPI issues"
)

// set gives one severity wherever a switch is on.
func set(s Severity) func(string, *Log) Severity {
	return func(value string, _ *Log) Severity {
		if on(value) {
			return s
		}
		return ""
	}
}

// off gives one severity wherever a switch is 0.
func off(s Severity) func(string, *Log) Severity {
	return func(value string, _ *Log) Severity {
		if value == "0" {
			return s
		}
		return ""
	}
}

// always gives one severity for every value.
func always(s Severity) func(string, *Log) Severity { return func(string, *Log) Severity { return s } }

// between gives a severity where there are several nodes, or nobody knows.
func between(f func(string, *Log) Severity) func(string, *Log) Severity {
	return func(value string, l *Log) Severity {
		if l.nodes() == 1 {
			return ""
		}
		return f(value, l)
	}
}

func never(words ...string) func(string, *Log) Severity {
	return func(value string, _ *Log) Severity {
		if slices.Contains(words, value) {
			return Warning
		}
		return ""
	}
}

const unset = "leave it unset, and set it only to find out what it costs"

// variables are the settings that are known to matter, the strongest first. What they do is NVIDIA's description in
// our words: NCCL documentation, Environment Variables, under their names.
var variables = []knownSetting{
	{Name: "NCCL_TOPO_FILE", Does: "changes the topology that NCCL sees", Touches: []effect{onChannels, onTopology, onTransports, onDirect, onChoice, onSpeed}, Local: true},
	{Name: "NCCL_GRAPH_FILE", Does: "gives NCCL its rings and trees instead of a search", Touches: []effect{onChannels, onChoice, onSpeed}, Slow: always(Note), Anew: unset, Local: true},
	{Name: "NCCL_P2P_DISABLE", Does: "keeps GPUs from reaching each other's memory", Touches: []effect{onTransports, onChannels, onChoice, onSpeed}, Slow: set(Serious), Anew: unset},
	{Name: "NCCL_P2P_LEVEL", Does: "bounds how far apart GPUs may be that reach each other's memory", Touches: []effect{onTransports, onChannels, onChoice, onSpeed}, Slow: never("LOC", "0"), Anew: unset},
	{Name: "NCCL_P2P_DIRECT_DISABLE", Does: "keeps GPUs of one process from reaching the program's buffers", Touches: []effect{onTransports, onSpeed}, Slow: set(Note), Anew: unset},
	{Name: "NCCL_SHM_DISABLE", Does: "forbids shared memory: what P2P can't do within a host goes over the network", Touches: []effect{onTransports, onSpeed}, Slow: set(Warning), Anew: unset},
	{Name: "NCCL_IB_DISABLE", Does: "makes NCCL go over TCP instead of InfiniBand or RoCE", Touches: []effect{onNetwork, onTransports, onDirect, onChannels, onChoice, onSpeed}, Slow: between(set(Serious)), Anew: unset},
	{Name: "NCCL_NET", Does: "fixes the network", Touches: []effect{onNetwork, onTransports, onDirect, onChannels, onChoice, onSpeed}},
	{Name: "NCCL_NET_PLUGIN", Does: "chooses the network plugin", Touches: []effect{onNetwork, onTransports, onDirect, onChannels, onSpeed}},
	{Name: "NCCL_IB_HCA", Does: "chooses the network cards", Touches: []effect{onNetwork, onTransports, onChannels, onSpeed}, Local: true},
	{Name: "NCCL_SOCKET_IFNAME", Does: "chooses the interfaces for TCP", Touches: []effect{onNetwork, onSpeed}, Local: true},
	{Name: "NCCL_NET_GDR_LEVEL", Does: "bounds how far a card may be from a GPU whose memory it reaches", Touches: []effect{onDirect, onTransports, onSpeed}, Slow: between(never("LOC", "0")), Anew: unset},
	{Name: "NCCL_NET_GDR_READ", Does: "says whether cards read GPU memory themselves", Touches: []effect{onDirect, onTransports, onSpeed}, Slow: between(off(Note)), Anew: unset},
	{Name: "NCCL_DMABUF_ENABLE", Does: "says whether DMA-BUF is used for GPUDirect RDMA", Touches: []effect{onDirect, onTransports, onSpeed}},
	{Name: "NCCL_MAX_NCHANNELS", Does: "bounds the number of channels", Touches: []effect{onChannels, onChoice, onSpeed}, Slow: fewAllowed, Anew: unset},
	{Name: "NCCL_MAX_CTAS", Does: "bounds the number of thread blocks, and with them of channels", Touches: []effect{onChannels, onChoice, onSpeed}, Slow: fewAllowed, Anew: unset},
	{Name: "NCCL_MIN_NCHANNELS", Does: "asks for more channels", Touches: []effect{onChannels, onChoice, onSpeed}},
	{Name: "NCCL_MIN_CTAS", Does: "asks for more thread blocks, and with them channels", Touches: []effect{onChannels, onChoice, onSpeed}},
	{Name: "NCCL_ALGO", Does: "fixes the algorithms", Touches: []effect{onChoice, onSpeed}, Slow: always(Note), Anew: unset},
	{Name: "NCCL_PROTO", Does: "fixes the protocols", Touches: []effect{onChoice, onSpeed}, Slow: always(Note), Anew: "leave it unset; NVIDIA advises against it: LL128 where the platform doesn't have it corrupts data"},
	{Name: "NCCL_NVLS_ENABLE", Does: "switches NVLink SHARP", Touches: []effect{onChannels, onChoice, onSpeed}, Slow: withoutSHARP, Anew: unset},
	{Name: "NCCL_TUNER_PLUGIN", Does: "lets a plugin choose algorithms and protocols", Touches: []effect{onChoice, onSpeed}},
	{Name: "NCCL_CROSS_NIC", Does: "says whether a ring may go on by another card at the next node", Touches: []effect{onChannels, onTransports, onSpeed}},
	{Name: "NCCL_PXN_DISABLE", Does: "keeps GPUs from sending by another GPU's card", Touches: []effect{onTransports, onSpeed}, Slow: between(set(Note)), Anew: unset},
	{Name: "NCCL_NVB_DISABLE", Does: "forbids the way over another GPU's NVLink", Touches: []effect{onTransports, onChannels, onSpeed}, Slow: set(Note), Anew: unset},
	{Name: "NCCL_COLLNET_ENABLE", Does: "switches reduction in the network", Touches: []effect{onChoice, onChannels, onSpeed}},
	{Name: "NCCL_MNNVL_ENABLE", Does: "switches NVLink between nodes", Touches: []effect{onTransports, onChannels, onChoice, onSpeed}},
	{Name: "NCCL_CUMEM_ENABLE", Does: "chooses how GPU memory is allocated", Touches: []effect{onTransports, onSpeed}},
	{Name: "NCCL_CUMEM_HOST_ENABLE", Does: "chooses how host memory is shared", Touches: []effect{onTransports}},
	{Name: "NCCL_BUFFSIZE", Does: "changes the buffer between two GPUs", Touches: []effect{onSpeed}, Slow: smallBuffer, Anew: unset},
	{Name: "NCCL_NTHREADS", Does: "changes the threads of a block", Touches: []effect{onSpeed}},
	{Name: "NCCL_NCHANNELS_PER_NET_PEER", Does: "changes the channels of sends between nodes", Touches: []effect{onSpeed}},
	{Name: "NCCL_IB_QPS_PER_CONNECTION", Does: "spreads a connection over queue pairs", Touches: []effect{onSpeed}},
	{Name: "NCCL_IB_GID_INDEX", Does: "chooses the address of RoCE ports", Touches: []effect{onSpeed}, Slow: oldIndex, Anew: "leave it unset: since 2.21 NCCL chooses it", Local: true},
	{Name: "NCCL_IB_TC", Does: "chooses the traffic class", Touches: []effect{onSpeed}},
	{Name: "NCCL_IB_SL", Does: "chooses the service level", Touches: []effect{onSpeed}},
	{Name: "NCCL_IB_PCI_RELAXED_ORDERING", Does: "says whether cards may write in any order", Touches: []effect{onSpeed}},
	{Name: "NCCL_SOCKET_NTHREADS", Does: "changes the threads of a TCP connection", Touches: []effect{onSpeed}},
	{Name: "NCCL_NSOCKS_PERTHREAD", Does: "changes the sockets of a thread", Touches: []effect{onSpeed}},
	{Name: "NCCL_IGNORE_CPU_AFFINITY", Does: "says whether NCCL keeps to the CPUs that the job was given", Touches: []effect{onSpeed}},
	{Name: "NCCL_LAUNCH_MODE", Does: "changes how kernels of one process are launched", Touches: []effect{onSpeed}},
}

// withoutSHARP judges that NVLink SHARP is off, unless the topology shows GPUs that have none: without NVLink, or with links of
// 20 GB/s (V100, A100) or 12 GB/s (others before H100), as NCCL writes them.
func withoutSHARP(value string, l *Log) Severity {
	if c := l.largest(); c != nil && c.Topology.GPUs > 0 {
		if bw := c.Topology.MaxBw; !l.nvlinks() || bw > 0 && (math.Mod(bw, 20) == 0 || math.Mod(bw, 12) == 0) {
			return ""
		}
	}
	return off(Note)(value, l)
}

// fewAllowed judges a bound on channels; 1 and 2 fill no link of today's.
func fewAllowed(value string, _ *Log) Severity {
	if value == "1" || value == "2" {
		return Warning
	}
	return Note
}

// smallBuffer judges a buffer under the default of 4 MiB.
func smallBuffer(value string, _ *Log) Severity {
	if n, ok := wholeNumber(value); ok && n < 4<<20 {
		return Note
	}
	return ""
}

// oldIndex judges an index that was given although the version chooses it.
func oldIndex(_ string, l *Log) Severity {
	if len(l.Versions) > 0 && l.Versions[0].Library != RCCL && l.Versions[0].Code >= 22100 {
		return Note
	}
	return ""
}

// known is what is known of a variable; nil for nothing.
func theVariable(name string) *knownSetting {
	i := slices.IndexFunc(variables, func(v knownSetting) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return &variables[i]
}

// aside are settings that change what is written, and not what is done, or that name places.
var aside = []string{"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_TIMESTAMP_FORMAT", "NCCL_DEBUG_TIMESTAMP_LEVELS",
	"NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE", "NCCL_COMM_ID", "NCCL_HOSTID", "NCCL_CONF_FILE", "NCCL_SET_THREAD_NAME"}
