package notice

import "busbar/internal/units"

// Notices on peaks: the bus bandwidth that the links of a collective allow. docs/analysis.md has how it is computed.

// PeakGiven reports that the user set the peak.
type PeakGiven struct {
	Text string `json:"text"` // as typed
}

// PeakNVLink reports that NVLink limits the bus bandwidth.
type PeakNVLink struct {
	Generation string         `json:"generation"` // NVLink 4
	Links      int            `json:"links"`      // of a GPU
	Each       units.LinkRate `json:"each"`       // bytes per second in one direction
	Device     string         `json:"device,omitempty"`
	Drawn      bool           `json:"from_topology,omitempty"`
	Nodes      bool           `json:"between_nodes,omitempty"`
}

// PeakPCIe reports that PCIe limits the bus bandwidth.
type PeakPCIe struct {
	Generation int    `json:"generation"`
	Width      int    `json:"width,omitempty"`
	Lanes      int    `json:"lanes,omitempty"` // of which a GPU uses only Width; 0: it uses all
	GPU        string `json:"gpu,omitempty"`   // "rank 1"
}

// PeakNetwork reports that the ports of a node limit the bus bandwidth.
type PeakNetwork struct {
	Ports []string `json:"ports"` // "4 x InfiniBand 400 Gbit/s", or names of different ports
	Idle  int      `json:"idle,omitempty"`
}

// PeakExceeded reports that something can exceed a peak, because data pass the slowest link less often than in a ring.
type PeakExceeded struct {
	By   PeakSaver      `json:"by"`
	UpTo units.LinkRate `json:"up_to"`
}

// PeakSaver is what lets data pass the slowest link less often.
type PeakSaver string

// The savers.
const (
	NVLinkSHARP  PeakSaver = "nvlink-sharp"
	Hierarchical PeakSaver = "hierarchical"
)

func (p PeakSaver) String() string { return TextOf(p) }

// Sources of peaks that are not a GPU's.
const (
	SourcePCI   = "Linux, drivers/pci/pci.h: rate less the line code"
	SourcePCI6  = "PCIe 6.0: 236 of the 256 bytes of a flit"
	SourcePorts = "the drivers of rank 0's host"
)

// PeakUnknown reports why a peak is unknown.
type PeakUnknown struct {
	Reason PeakReason `json:"reason"`
	Of     string     `json:"of,omitempty"` // a device, a port
}

// NoPeak reports why no peak applies.
type NoPeak struct {
	Reason PeakReason `json:"reason"`
}

// PeakReason is why there is no peak.
type PeakReason string

// The reasons.
const (
	UnknownNodes    PeakReason = "unknown-nodes"
	HostMemory      PeakReason = "host-memory"
	UnknownGPU      PeakReason = "unknown-gpu"
	UnevenLinks     PeakReason = "uneven-links"
	MissingLinks    PeakReason = "missing-links"
	OptionalBridges PeakReason = "optional-bridges"
	DependsOnGPUs   PeakReason = "depends-on-gpus"
	SwitchOrBoard   PeakReason = "switch-or-board"
	UnknownPCIe     PeakReason = "unknown-pcie"
	UnknownSpeed    PeakReason = "unknown-speed"
	UnknownNetwork  PeakReason = "unknown-network"
	NVLinkOrNetwork PeakReason = "nvlink-or-network"
	UnknownPorts    PeakReason = "unknown-ports"
	UnknownRate     PeakReason = "unknown-rate"

	Simulated   PeakReason = "simulated"
	UnknownCase PeakReason = "unknown-case"
	UnevenParts PeakReason = "uneven-parts"
	SharedLinks PeakReason = "shared-links"
	OneRank     PeakReason = "one-rank"
)

func (p PeakReason) String() string { return TextOf(p) }
