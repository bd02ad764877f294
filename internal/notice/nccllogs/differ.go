package nccllogs

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices on the differences between two NCCL logs, A and B.

// LogKind is a kind of what two logs are compared in.
type LogKind string

// The kinds.
const (
	LogWorlds       LogKind = "world"
	LogVariable     LogKind = "variable"
	LogLibrary      LogKind = "library"
	LogDriver       LogKind = "cuda-driver"
	LogPlugin       LogKind = "network-plugin"
	LogProvider     LogKind = "libfabric-provider"
	LogTuner        LogKind = "tuner"
	LogDevices      LogKind = "network-devices"
	LogNetwork      LogKind = "network"
	LogDirectEnds   LogKind = "gpudirect-rdma-ends"
	LogChannels     LogKind = "collective-channels"
	LogNVLSChannels LogKind = "nvls-channels"
	LogSendChannels LogKind = "send-channels"
	LogPeerChannels LogKind = "channels-per-peer"
	LogGPULinks     LogKind = "gpu-links"
	LogNICPaths     LogKind = "gpu-nic-paths"
	LogPrediction   LogKind = "predicted-all-reduce-bandwidth"
	LogRings        LogKind = "rings-found"
	LogTrees        LogKind = "trees-found"
	LogTransports   LogKind = "transports"
	LogChoice       LogKind = "choice" // for a collective and sizes
	LogBusBW        LogKind = "busbw"  // at the size with the largest difference
	LogInitTime     LogKind = "init-time"
	LogSettings     LogKind = "settings" // those that are the same
	LogChoices      LogKind = "choices"  // sizes with the same choice
	LogRows         LogKind = "rows"     // of nccl-tests that are about equal
)

// logKinds are the kinds whose text is not their name without hyphens.
var logKinds = map[LogKind]string{
	LogDriver: "CUDA driver", LogDirectEnds: "GPUDirect RDMA ends", LogNVLSChannels: "NVLS channels",
	LogGPULinks: "GPU links", LogNICPaths: "GPU-NIC paths", LogPrediction: "predicted all_reduce bandwidth",
	LogRows: "nccl-tests times", LogChoices: "algorithm/protocol/channels",
}

// LogAspect is what two logs are compared in.
type LogAspect struct {
	Kind       LogKind     `json:"kind"`
	Variable   string      `json:"variable,omitempty"`
	Collective string      `json:"collective,omitempty"`
	From       units.Bytes `json:"from_bytes,omitempty"`
	To         units.Bytes `json:"to_bytes,omitempty"`
	Sizes      int         `json:"sizes,omitempty"` // that it holds for; of LogBusBW, that were compared
}

func (a LogAspect) String() string {
	switch a.Kind {
	case LogVariable:
		return a.Variable
	case LogChoice:
		if a.Sizes > 1 {
			return fmt.Sprintf("%s of %v–%v (%d sizes)", a.Collective, a.From, a.To, a.Sizes)
		}
		return fmt.Sprintf("%s of %v", a.Collective, a.From)
	case LogBusBW:
		return fmt.Sprintf("busbw at %v (largest of %s)", a.From, units.Count(a.Sizes, "difference"))
	}
	return cmp.Or(logKinds[a.Kind], strings.ReplaceAll(string(a.Kind), "-", " "))
}

// LogValue is what one log has of an aspect, in the field that fits it; empty where it has nothing.
type LogValue struct {
	Count     *int            `json:"count,omitempty"`
	Of        int             `json:"of,omitempty"`     // that Count is a part of
	Names     []string        `json:"names,omitempty"`  // of networks, devices, plugins
	Values    []string        `json:"values,omitempty"` // of a variable; several where processes differ
	Ranks     int             `json:"ranks,omitempty"`
	Nodes     int             `json:"nodes,omitempty"` // 0: unknown
	Libraries []Build         `json:"libraries,omitempty"`
	Rate      Gigabytes       `json:"rate_GBps,omitempty"`
	Time      TenthSeconds    `json:"time_s,omitempty"`
	Paths     []PathsFound    `json:"paths,omitempty"`
	Found     *ChannelsFound  `json:"found,omitempty"`
	Pairs     []TransportKind `json:"transports,omitempty"`
	Ways      []LogWay        `json:"ways,omitempty"`
	Within    units.Share     `json:"within,omitempty"` // that rows differ by at most
}

// Empty reports whether the log has nothing of the aspect.
func (v LogValue) Empty() bool { return reflect.ValueOf(v).IsZero() }

// Equal reports whether two logs have the same.
func (v LogValue) Equal(w LogValue) bool { return reflect.DeepEqual(v, w) }

func (v LogValue) String() string {
	switch {
	case v.Count != nil && v.Of > 0:
		return fmt.Sprintf("%d of %d", *v.Count, v.Of)
	case v.Count != nil:
		return fmt.Sprint(*v.Count)
	case v.Values != nil:
		return strings.Join(v.Values, " and ")
	case v.Ranks > 0 && v.Nodes > 0:
		return units.Count(v.Ranks, "rank") + " on " + units.Count(v.Nodes, "node")
	case v.Ranks > 0:
		return units.Count(v.Ranks, "rank")
	case v.Rate > 0:
		return v.Rate.String()
	case v.Time > 0:
		return v.Time.String()
	case v.Found != nil:
		return v.Found.String()
	case v.Libraries != nil:
		return joined(v.Libraries, " and ")
	case v.Ways != nil:
		return joined(v.Ways, " or ")
	case v.Pairs != nil:
		return joined(v.Pairs, ", ")
	case v.Paths != nil:
		return notice.Word(v.Paths)
	}
	return units.Some(v.Names)
}

func joined[T fmt.Stringer](all []T, by string) string { return strings.Join(textsOf(all), by) }

func textsOf[T fmt.Stringer](all []T) (texts []string) {
	for _, v := range all {
		texts = append(texts, v.String())
	}
	return texts
}

// LogWay is what the library chose for a size.
type LogWay struct {
	Algorithm string `json:"algorithm,omitempty"`
	Protocol  string `json:"protocol,omitempty"`
	Kernel    string `json:"kernel,omitempty"`   // where that was named instead
	Channels  int    `json:"channels,omitempty"` // 0: unknown
}

func (w LogWay) String() string {
	text := w.Kernel
	if w.Algorithm != "" {
		text = w.Algorithm + "/" + w.Protocol
	}
	if w.Channels > 0 {
		text += " on " + units.Count(w.Channels, "channel")
	}
	return text
}

// LogAgreement is what two logs have the same.
type LogAgreement struct {
	Aspect LogAspect
	Value  LogValue
}

func (a LogAgreement) String() string {
	switch a.Aspect.Kind {
	case LogSettings:
		return units.Count(*a.Value.Count, "setting")
	case LogChoices:
		return a.Aspect.String() + " at " + units.Count(*a.Value.Count, "size")
	case LogRows:
		return fmt.Sprintf("%v: %s within %v", a.Aspect, units.Count(*a.Value.Count, "row"), a.Value.Within)
	}
	return a.Aspect.String() + ": " + a.Value.String()
}

// MarshalText returns the text: JSON has it in a list of texts.
func (a LogAgreement) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// LogDifference reports a difference in what the library did, with what may have caused it.
type LogDifference struct {
	What   LogAspect `json:"aspect"`
	A      LogValue  `json:"a"`
	B      LogValue  `json:"b"`
	Causes LogCauses `json:"causes"`
}

// LogCauses are differences in what the library was given.
type LogCauses struct {
	All    []LogCause `json:"all"`
	Before bool       `json:"as_before"` // the same as of the difference before
}

// String states how likely causes are: logs show that both differ, never that one follows from the other.
func (c LogCauses) String() string {
	const most = 3
	texts := textsOf(c.All)
	switch n := len(texts); {
	case c.Before:
		return "The same may explain it."
	case n == 0:
		return "Nothing in the logs explains it."
	case n == 1:
		return "The most likely cause: " + texts[0] + "."
	case n > most:
		return fmt.Sprintf("Likely causes: %s; and %d more.", strings.Join(texts[:most], "; "), n-most)
	}
	return "Likely causes: " + strings.Join(texts, "; ") + "."
}

// LogCause is a difference in what the library was given.
type LogCause struct {
	What   LogAspect `json:"aspect"`
	A      LogValue  `json:"a"` // empty where that log does not have it
	B      LogValue  `json:"b"`
	Effect Effect    `json:"effect,omitempty"` // of a variable
}

func (c LogCause) String() string {
	switch {
	case c.Effect == "":
		a, b := cmp.Or(c.A.String(), "none"), cmp.Or(c.B.String(), "none")
		return fmt.Sprintf("%v differs (%s in A, %s in B)", c.What, a, b)
	case c.A.Empty():
		return fmt.Sprintf("%v is set only in B (%v), and it %v", c.What, c.B, c.Effect)
	case c.B.Empty():
		return fmt.Sprintf("%v is set only in A (%v), and it %v", c.What, c.A, c.Effect)
	}
	return fmt.Sprintf("%v is %v in A and %v in B, and it %v", c.What, c.A, c.B, c.Effect)
}

// LogsAlike reports that no difference in effect was found.
type LogsAlike struct {
	Causes int `json:"causes"` // differences that may have an effect that the logs do not show
}

// WorldsDiffer reports logs of different worlds.
type WorldsDiffer struct {
	A LogValue `json:"a"`
	B LogValue `json:"b"`
}

// SettingsNotRecorded reports a log without settings.
type SettingsNotRecorded struct {
	Log string `json:"log"` // A or B
}
