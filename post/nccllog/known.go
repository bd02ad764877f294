package nccllog

import (
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
)

// effect is what a setting can change, or several of them, and what a log shows of it. Those that explain the most are
// the first.
type effect int

const (
	onNetwork effect = 1 << iota
	onChannels
	onTransports
	onDirect // GPUDirect RDMA
	onTopology
	onChoice // algorithms and protocols
	onSpeed  // which any cause can change
	every    = 1<<iota - 1
)

// knownSetting is a setting that is known to matter.
type knownSetting struct {
	Name    string
	Touches effect // beside speed
	Slow    judge  // nil: no value of it slows NCCL down
}

// judge grades a value of a setting; slow is false where it does no harm.
type judge func(value string, l *Log) (s notice.Severity, slow bool)

// set gives one severity wherever a switch is on.
func set(s notice.Severity) judge {
	return func(value string, _ *Log) (notice.Severity, bool) { return s, on(value) }
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

// either gives one severity for some values.
func either(s notice.Severity, values ...string) judge {
	return func(value string, _ *Log) (notice.Severity, bool) { return s, slices.Contains(values, value) }
}

// variables are the settings that are known to matter, the strongest first. internal/notice has what they do.
var variables = []knownSetting{
	{"NCCL_TOPO_FILE", onChannels | onTopology | onTransports | onDirect | onChoice, nil},
	{"NCCL_GRAPH_FILE", onChannels | onChoice, always(notice.Info)},
	{"NCCL_P2P_DISABLE", onTransports | onChannels | onChoice, set(notice.Error)},
	{"NCCL_P2P_LEVEL", onTransports | onChannels | onChoice, either(notice.Warning, "LOC", "0")},
	{"NCCL_P2P_DIRECT_DISABLE", onTransports, set(notice.Info)},
	{"NCCL_SHM_DISABLE", onTransports, set(notice.Warning)},
	{"NCCL_IB_DISABLE", every &^ onTopology, between(set(notice.Error))},
	{"NCCL_NET", every &^ onTopology, nil},
	{"NCCL_NET_PLUGIN", onNetwork | onTransports | onDirect | onChannels, nil},
	{"NCCL_IB_HCA", onNetwork | onTransports | onChannels, nil},
	{"NCCL_SOCKET_IFNAME", onNetwork, nil},
	{"NCCL_NET_GDR_LEVEL", onDirect | onTransports, between(either(notice.Warning, "LOC", "0"))},
	{"NCCL_NET_GDR_READ", onDirect | onTransports, between(either(notice.Info, "0"))},
	{"NCCL_DMABUF_ENABLE", onDirect | onTransports, nil},
	{"NCCL_MAX_NCHANNELS", onChannels | onChoice, fewAllowed},
	{"NCCL_MAX_CTAS", onChannels | onChoice, fewAllowed},
	{"NCCL_MIN_NCHANNELS", onChannels | onChoice, nil},
	{"NCCL_MIN_CTAS", onChannels | onChoice, nil},
	{"NCCL_ALGO", onChoice, always(notice.Info)},
	{"NCCL_PROTO", onChoice, always(notice.Info)},
	{"NCCL_NVLS_ENABLE", onChannels | onChoice, either(notice.Info, "0")},
	{"NCCL_TUNER_PLUGIN", onChoice, nil},
	{"NCCL_CROSS_NIC", onChannels | onTransports, nil},
	{"NCCL_PXN_DISABLE", onTransports, between(set(notice.Info))},
	{"NCCL_NVB_DISABLE", onTransports | onChannels, set(notice.Info)},
	{"NCCL_COLLNET_ENABLE", onChoice | onChannels, nil},
	{"NCCL_MNNVL_ENABLE", onTransports | onChannels | onChoice, nil},
	{"NCCL_CUMEM_ENABLE", onTransports, nil},
	{"NCCL_CUMEM_HOST_ENABLE", onTransports, nil},
	{"NCCL_BUFFSIZE", onSpeed, smallBuffer},
	{"NCCL_NTHREADS", onSpeed, nil},
	{"NCCL_NCHANNELS_PER_NET_PEER", onSpeed, nil},
	{"NCCL_IB_QPS_PER_CONNECTION", onSpeed, nil},
	{"NCCL_IB_GID_INDEX", onSpeed, oldIndex},
	{"NCCL_IB_TC", onSpeed, nil},
	{"NCCL_IB_SL", onSpeed, nil},
	{"NCCL_IB_PCI_RELAXED_ORDERING", onSpeed, nil},
	{"NCCL_SOCKET_NTHREADS", onSpeed, nil},
	{"NCCL_NSOCKS_PERTHREAD", onSpeed, nil},
	{"NCCL_IGNORE_CPU_AFFINITY", onSpeed, nil},
	{"NCCL_LAUNCH_MODE", onSpeed, nil},
}

// perHost are settings that may rightly differ between hosts, or are read by one rank alone.
var perHost = []string{"NCCL_TOPO_FILE", "NCCL_GRAPH_FILE", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_IB_GID_INDEX"}

// fewAllowed judges a limit of channels; 1 and 2 fill no current link.
func fewAllowed(value string, _ *Log) (notice.Severity, bool) {
	if value == "1" || value == "2" {
		return notice.Warning, true
	}
	return notice.Info, true
}

// smallBuffer judges a buffer under the default of 4 MiB.
func smallBuffer(value string, _ *Log) (notice.Severity, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
	return notice.Info, err == nil && n < 4<<20
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
var aside = strings.Fields(`
	NCCL_DEBUG NCCL_DEBUG_FILE NCCL_DEBUG_SUBSYS NCCL_DEBUG_TIMESTAMP_FORMAT NCCL_DEBUG_TIMESTAMP_LEVELS
	NCCL_TOPO_DUMP_FILE NCCL_GRAPH_DUMP_FILE NCCL_COMM_ID NCCL_HOSTID NCCL_CONF_FILE NCCL_SET_THREAD_NAME`)
