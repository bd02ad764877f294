package nccllog

import (
	_ "embed" // for settings.tsv
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
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

// effectNames are the names of the effects in settings.tsv, in their order.
var effectNames = []string{"network", "channels", "transports", "direct", "topology", "choice"}

// knownSetting is a setting that is known to matter.
type knownSetting struct {
	Name     string
	Touches  effect // beside speed
	severity notice.Severity
	between  bool   // it matters only where there are several nodes, or their number is unknown
	slow     string // values that slow NCCL down: a list, any, on, or a rule of Slow; empty: none
}

//go:embed settings.tsv
var settingsFile string

// variables are the settings that are known to matter, the strongest first. internal/notice has what they do.
var variables = func() (all []knownSetting) {
	for f := range units.Rows(settingsFile, 4) {
		v := knownSetting{Name: f[0], slow: f[3]}
		for i, name := range effectNames {
			if slices.Contains(strings.Fields(f[1]), name) {
				v.Touches |= 1 << i
			}
		}
		severity, between := strings.CutSuffix(f[2], "*")
		_ = v.severity.UnmarshalText([]byte(severity)) // empty where no value is slow
		v.between = between
		all = append(all, v)
	}
	return all
}()

// perHost are settings that may rightly differ between hosts, or are read by one rank alone.
var perHost = []string{"NCCL_TOPO_FILE", "NCCL_GRAPH_FILE", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_IB_GID_INDEX"}

// Slow grades a value of a setting; slow is false where it does no harm.
func (v *knownSetting) Slow(value string, l *Log) (s notice.Severity, slow bool) {
	s = v.severity
	switch v.slow {
	case "any":
		slow = true
	case "on":
		slow = on(value)
	case "few-channels": // 1 and 2 fill no current link
		if slow = true; value == "1" || value == "2" {
			s = notice.Warning
		}
	case "small-buffer": // under the default of 4 MiB
		n, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
		slow = err == nil && n < 4<<20
	case "selected-since-2.21": // an index that was given although the version selects it
		slow = len(l.Versions) > 0 && l.Versions[0].Library != RCCL && l.Versions[0].Code >= 22100
	default:
		slow = v.slow != "" && slices.Contains(strings.Split(v.slow, ","), value)
	}
	return s, slow && !(v.between && l.nodes() == 1)
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
