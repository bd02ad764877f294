package nccllog

import (
	"math"
	"slices"

	"busbar/internal/notice"
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

// knownSetting is a setting that is known to matter.
type knownSetting struct {
	Name    string
	Touches []effect
	Slow    judge // nil: no value of it slows NCCL down
	Local   bool  // may rightly differ between hosts, or is read by one rank alone
}

// judge grades a value of a setting; slow is false where it does no harm.
type judge func(value string, l *Log) (s notice.Severity, slow bool)

// set gives one severity wherever a switch is on.
func set(s notice.Severity) judge {
	return func(value string, _ *Log) (notice.Severity, bool) { return s, on(value) }
}

// off gives one severity wherever a switch is 0.
func off(s notice.Severity) judge {
	return func(value string, _ *Log) (notice.Severity, bool) { return s, value == "0" }
}

// always gives one severity for every value.
func always(s notice.Severity) judge {
	return func(string, *Log) (notice.Severity, bool) { return s, true }
}

// between judges only where there are several nodes, or their number is unknown.
func between(f judge) judge {
	return func(value string, l *Log) (notice.Severity, bool) {
		s, slow := f(value, l)
		return s, slow && l.nodes() != 1
	}
}

// never warns of words.
func never(words ...string) judge {
	return func(value string, _ *Log) (notice.Severity, bool) {
		return notice.Warning, slices.Contains(words, value)
	}
}

// variables are the settings that are known to matter, the strongest first. internal/notice has what they do.
var variables = []knownSetting{
	{
		Name:    "NCCL_TOPO_FILE",
		Touches: []effect{onChannels, onTopology, onTransports, onDirect, onChoice, onSpeed},
		Local:   true,
	},
	{Name: "NCCL_GRAPH_FILE", Touches: []effect{onChannels, onChoice, onSpeed}, Slow: always(notice.Info), Local: true},
	{Name: "NCCL_P2P_DISABLE", Touches: []effect{onTransports, onChannels, onChoice, onSpeed}, Slow: set(notice.Error)},
	{Name: "NCCL_P2P_LEVEL", Touches: []effect{onTransports, onChannels, onChoice, onSpeed}, Slow: never("LOC", "0")},
	{Name: "NCCL_P2P_DIRECT_DISABLE", Touches: []effect{onTransports, onSpeed}, Slow: set(notice.Info)},
	{Name: "NCCL_SHM_DISABLE", Touches: []effect{onTransports, onSpeed}, Slow: set(notice.Warning)},
	{
		Name:    "NCCL_IB_DISABLE",
		Touches: []effect{onNetwork, onTransports, onDirect, onChannels, onChoice, onSpeed},
		Slow:    between(set(notice.Error)),
	},
	{Name: "NCCL_NET", Touches: []effect{onNetwork, onTransports, onDirect, onChannels, onChoice, onSpeed}},
	{Name: "NCCL_NET_PLUGIN", Touches: []effect{onNetwork, onTransports, onDirect, onChannels, onSpeed}},
	{Name: "NCCL_IB_HCA", Touches: []effect{onNetwork, onTransports, onChannels, onSpeed}, Local: true},
	{Name: "NCCL_SOCKET_IFNAME", Touches: []effect{onNetwork, onSpeed}, Local: true},
	{Name: "NCCL_NET_GDR_LEVEL", Touches: []effect{onDirect, onTransports, onSpeed}, Slow: between(never("LOC", "0"))},
	{Name: "NCCL_NET_GDR_READ", Touches: []effect{onDirect, onTransports, onSpeed}, Slow: between(off(notice.Info))},
	{Name: "NCCL_DMABUF_ENABLE", Touches: []effect{onDirect, onTransports, onSpeed}},
	{Name: "NCCL_MAX_NCHANNELS", Touches: []effect{onChannels, onChoice, onSpeed}, Slow: fewAllowed},
	{Name: "NCCL_MAX_CTAS", Touches: []effect{onChannels, onChoice, onSpeed}, Slow: fewAllowed},
	{Name: "NCCL_MIN_NCHANNELS", Touches: []effect{onChannels, onChoice, onSpeed}},
	{Name: "NCCL_MIN_CTAS", Touches: []effect{onChannels, onChoice, onSpeed}},
	{Name: "NCCL_ALGO", Touches: []effect{onChoice, onSpeed}, Slow: always(notice.Info)},
	{Name: "NCCL_PROTO", Touches: []effect{onChoice, onSpeed}, Slow: always(notice.Info)},
	{Name: "NCCL_NVLS_ENABLE", Touches: []effect{onChannels, onChoice, onSpeed}, Slow: withoutSHARP},
	{Name: "NCCL_TUNER_PLUGIN", Touches: []effect{onChoice, onSpeed}},
	{Name: "NCCL_CROSS_NIC", Touches: []effect{onChannels, onTransports, onSpeed}},
	{Name: "NCCL_PXN_DISABLE", Touches: []effect{onTransports, onSpeed}, Slow: between(set(notice.Info))},
	{Name: "NCCL_NVB_DISABLE", Touches: []effect{onTransports, onChannels, onSpeed}, Slow: set(notice.Info)},
	{Name: "NCCL_COLLNET_ENABLE", Touches: []effect{onChoice, onChannels, onSpeed}},
	{Name: "NCCL_MNNVL_ENABLE", Touches: []effect{onTransports, onChannels, onChoice, onSpeed}},
	{Name: "NCCL_CUMEM_ENABLE", Touches: []effect{onTransports, onSpeed}},
	{Name: "NCCL_CUMEM_HOST_ENABLE", Touches: []effect{onTransports}},
	{Name: "NCCL_BUFFSIZE", Touches: []effect{onSpeed}, Slow: smallBuffer},
	{Name: "NCCL_NTHREADS", Touches: []effect{onSpeed}},
	{Name: "NCCL_NCHANNELS_PER_NET_PEER", Touches: []effect{onSpeed}},
	{Name: "NCCL_IB_QPS_PER_CONNECTION", Touches: []effect{onSpeed}},
	{Name: "NCCL_IB_GID_INDEX", Touches: []effect{onSpeed}, Slow: oldIndex, Local: true},
	{Name: "NCCL_IB_TC", Touches: []effect{onSpeed}},
	{Name: "NCCL_IB_SL", Touches: []effect{onSpeed}},
	{Name: "NCCL_IB_PCI_RELAXED_ORDERING", Touches: []effect{onSpeed}},
	{Name: "NCCL_SOCKET_NTHREADS", Touches: []effect{onSpeed}},
	{Name: "NCCL_NSOCKS_PERTHREAD", Touches: []effect{onSpeed}},
	{Name: "NCCL_IGNORE_CPU_AFFINITY", Touches: []effect{onSpeed}},
	{Name: "NCCL_LAUNCH_MODE", Touches: []effect{onSpeed}},
}

// withoutSHARP judges that NVLink SHARP is off, unless the topology shows GPUs that have none: without NVLink, or with
// links of 20 GB/s (V100, A100) or 12 GB/s (others before H100), as NCCL writes them.
func withoutSHARP(value string, l *Log) (notice.Severity, bool) {
	if c := l.largest(); c != nil && c.Topology.GPUs > 0 {
		if bw := c.Topology.MaxBw; !l.nvlinks() || bw > 0 && (math.Mod(bw, 20) == 0 || math.Mod(bw, 12) == 0) {
			return notice.Info, false
		}
	}
	return notice.Info, value == "0"
}

// fewAllowed judges a limit of channels; 1 and 2 fill no current link.
func fewAllowed(value string, _ *Log) (notice.Severity, bool) {
	if value == "1" || value == "2" {
		return notice.Warning, true
	}
	return notice.Info, true
}

// smallBuffer judges a buffer under the default of 4 MiB.
func smallBuffer(value string, _ *Log) (notice.Severity, bool) {
	n, ok := wholeNumber(value)
	return notice.Info, ok && n < 4<<20
}

// oldIndex judges an index that was given although the version selects it.
func oldIndex(_ string, l *Log) (notice.Severity, bool) {
	return notice.Info, len(l.Versions) > 0 && l.Versions[0].Library != RCCL && l.Versions[0].Code >= 22100
}

// theVariable is what is known of a variable; nil for nothing.
func theVariable(name string) *knownSetting {
	i := slices.IndexFunc(variables, func(v knownSetting) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return &variables[i]
}

// aside are settings that change what is written, and not what is done, or that name places.
var aside = []string{
	"NCCL_DEBUG",
	"NCCL_DEBUG_FILE",
	"NCCL_DEBUG_SUBSYS",
	"NCCL_DEBUG_TIMESTAMP_FORMAT",
	"NCCL_DEBUG_TIMESTAMP_LEVELS",
	"NCCL_TOPO_DUMP_FILE",
	"NCCL_GRAPH_DUMP_FILE",
	"NCCL_COMM_ID",
	"NCCL_HOSTID",
	"NCCL_CONF_FILE",
	"NCCL_SET_THREAD_NAME",
}
