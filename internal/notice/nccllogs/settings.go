package nccllogs

import (
	_ "embed" // for effects.tsv
	"strings"

	"busbar/internal/notice"
)

// Notices on settings of NCCL, from its logs.

// Effect is what a variable does; its value is the variable's name.
type Effect string

func (e Effect) String() string { return effects[e] }

//go:embed effects.tsv
var effectsFile string

// effects are the variables that are known to matter with what they do, in words that follow "it": NCCL documentation,
// Environment Variables, under their names.
var effects = func() map[Effect]string {
	all := map[Effect]string{}
	for line := range strings.Lines(effectsFile) {
		name, does, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all[Effect(name)] = does
	}
	return all
}()

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
func (s SettingAffectsSpeed) Source() string {
	return notice.Phrase("EnvironmentDoc") + " " + s.Variable
}

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

// Source is the documentation of the variable.
func (s SettingsDiffer) Source() string { return notice.Phrase("EnvironmentDoc") + " " + s.Variable }
