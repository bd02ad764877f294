package nccllogs

import (
	"fmt"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices on GPUs of a host, channels, algorithms and protocols, from NCCL's logs.

// HostMemoryBetweenGPUs reports GPUs of one host that exchange data through its memory.
type HostMemoryBetweenGPUs struct {
	Pairs    int        `json:"pairs"`
	Of       int        `json:"of"`
	P2P      int        `json:"p2p"`
	NVLink   bool       `json:"nvlink,omitempty"`
	Settings []Assigned `json:"settings,omitempty"` // that explain it
	Vendor   Vendor     `json:"vendor"`
}

// Advice depends on the settings.
func (h HostMemoryBetweenGPUs) Advice() string {
	if len(h.Settings) > 0 {
		return unset(h.Settings)
	}
	return h.Vendor.peers()
}

func (v Vendor) peers() string {
	return v.pick(notice.Phrase("AdvicePeers"), "see rocm-smi --showtopoaccess"+notice.Phrase("MayForbid"))
}

// NetworkWithinHost reports ranks of one host that exchange data over the network.
type NetworkWithinHost struct {
	Pairs    int        `json:"pairs"`
	Settings []Assigned `json:"settings,omitempty"`
	Vendor   Vendor     `json:"vendor"`
}

// Advice depends on the settings.
func (n NetworkWithinHost) Advice() string {
	if len(n.Settings) > 0 {
		return unset(n.Settings)
	}
	return "if each rank has its own container, share /dev/shm and the network namespace (--ipc=host --net=host); " +
		"else " + n.Vendor.peers()
}

// RanksShareGPU reports ranks of one communicator that use one GPU.
type RanksShareGPU struct {
	Communicator Communicator `json:"communicator"`
	Ranks        Ranks        `json:"ranks"`
	GPUs         []UsedGPU    `json:"gpus"`
}

// UsedGPU is a GPU with the ranks that use it.
type UsedGPU struct {
	Ranks Ranks  `json:"ranks"`
	Bus   string `json:"bus" alike:"-"`
	Host  string `json:"host" alike:"-"`
}

func (g UsedGPU) String() string { return fmt.Sprintf("%v: busId %s on %s", g.Ranks, g.Bus, g.Host) }

// GPUsFar reports GPUs of a host that reach each other through processors.
type GPUsFar struct {
	Path   FarPath      `json:"path"`
	Search SearchResult `json:"search"`
	Vendor Vendor       `json:"vendor"`
}

// FewChannels reports communicators with few channels over NVLink.
type FewChannels struct {
	Communicator Communicator `json:"communicator"`
	Channels     int          `json:"channels"`
	Search       SearchResult `json:"search"`
	Links        UnlikeLinks  `json:"links,omitempty"`
	Settings     []Assigned   `json:"settings,omitempty"`
	Setting      string       `json:"setting,omitempty"` // the first of them
	Effect       Effect       `json:"effect,omitempty"`
	Vendor       Vendor       `json:"vendor"`
}

// LinkPaths are paths between GPUs of one type and bandwidth.
type LinkPaths struct {
	Paths int       `json:"paths"`
	Type  string    `json:"type"`
	Bw    Gigabytes `json:"bw_GBps"`
}

func (l LinkPaths) String() string {
	return fmt.Sprintf("%s of GPUs over %s at %v", units.Count(l.Paths, "path"), l.Type, l.Bw)
}

// UnlikeLinks are links between GPUs that differ.
type UnlikeLinks []LinkPaths

func (u UnlikeLinks) String() string { return joined(u, ", ") }

// LLForLarge reports the protocol for small messages at large ones.
type LLForLarge struct {
	From    units.Bytes `json:"from_bytes"`
	Choices []LLChoice  `json:"choices"`
	Setting []Assigned  `json:"setting,omitempty"`
}

// LLChoice is one such choice.
type LLChoice struct {
	Name      string      `json:"collective"`
	Size      units.Bytes `json:"size_bytes"`
	Algorithm string      `json:"algorithm"`
}

func (c LLChoice) String() string { return fmt.Sprintf("%s of %v: %s/LL", c.Name, c.Size, c.Algorithm) }

// Advice depends on whether the protocol was set.
func (l LLForLarge) Advice() string {
	if len(l.Setting) > 0 {
		return unset(l.Setting)
	}
	return "look for what keeps NCCL from Simple: a tuner plugin, or a wrong topology"
}
