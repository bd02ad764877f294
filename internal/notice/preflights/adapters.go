package preflights

import (
	"fmt"

	"busbar/internal/notice"
)

// Notices of rank --preflight on the network adapters of hosts and on their PCIe bus.

// NoRDMADevice states that a host has no RDMA adapter.
type NoRDMADevice struct{}

// RDMAPorts are the active ports of a host.
type RDMAPorts struct {
	Ports []PortKind `json:"ports"`
}

// PortKind is equal ports.
type PortKind struct {
	Ports int    `json:"ports"`
	Kind  string `json:"kind"` // "InfiniBand 400 Gb/sec (4X NDR)"
}

func (k PortKind) String() string { return fmt.Sprintf("%d x %s", k.Ports, k.Kind) }

// RDMAPortsDown reports ports that are not active.
type RDMAPortsDown struct {
	Active int         `json:"active"`
	Of     int         `json:"of"`
	Down   []PortState `json:"down"`
}

// PortState is the state of a port in the kernel's words.
type PortState struct {
	Port     string `json:"port"`
	State    string `json:"state"`
	Physical string `json:"physical_state"`
}

func (p PortState) String() string { return fmt.Sprintf("%s is %s (%s)", p.Port, p.State, p.Physical) }

// RDMALinkNarrow reports links below their speed.
type RDMALinkNarrow struct {
	Links []PortRate `json:"links"`
}

// PortRate is the speed of a port in the kernel's words.
type PortRate struct {
	Port string `json:"port"`
	Rate string `json:"rate"`
}

func (p PortRate) String() string { return p.Port + " runs at " + p.Rate }

// RDMANotPermitted reports ports that programs may not open.
type RDMANotPermitted struct {
	Ports []string `json:"ports"`
}

// IOMMU is its state where that needs no attention.
type IOMMU struct {
	State IOMMUState `json:"state"`
}

// IOMMUState is what an IOMMU does.
type IOMMUState string

// The states.
const (
	IOMMUOff     IOMMUState = "off"
	IOMMUVirtual IOMMUState = "virtual-machine"
	IOMMUUnused  IOMMUState = "unused"
	IOMMUPasses  IOMMUState = "passthrough"
)

func (s IOMMUState) String() string { return notice.TextOf(s) }

// IOMMUTranslates reports devices whose addresses are translated.
type IOMMUTranslates struct {
	Devices []string `json:"devices"`
}

// ACSBridges are bridges with ACS that redirect nothing.
type ACSBridges struct {
	Bridges int `json:"bridges"`
}

// ACSHidden states that only root can read the ACS settings.
type ACSHidden struct{}

// ACSRedirects reports bridges that send traffic between devices through the processor.
type ACSRedirects struct {
	Redirecting int      `json:"redirecting"`
	Of          int      `json:"of"`
	Bridges     []string `json:"bridges"`
}
