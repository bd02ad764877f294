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

var iommuStates = map[IOMMUState]string{
	IOMMUOff:     "the IOMMU is off",
	IOMMUVirtual: "virtual machine: the IOMMU belongs to its host",
	IOMMUUnused:  "the IOMMU is on; the host has no GPU or RDMA device",
	IOMMUPasses:  "the IOMMU is on and passes GPUs and adapters through",
}

func (s IOMMUState) String() string { return iommuStates[s] }

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

func (NoRDMADevice) Code() Code     { return "no-rdma-device" }
func (RDMAPorts) Code() Code        { return "rdma-ports" }
func (RDMAPortsDown) Code() Code    { return "rdma-ports-down" }
func (RDMALinkNarrow) Code() Code   { return "rdma-link-narrow" }
func (RDMANotPermitted) Code() Code { return "rdma-not-permitted" }
func (IOMMU) Code() Code            { return "iommu" }
func (IOMMUTranslates) Code() Code  { return "iommu-translates" }
func (ACSBridges) Code() Code       { return "acs-bridges" }
func (ACSHidden) Code() Code        { return "acs-hidden" }
func (ACSRedirects) Code() Code     { return "acs-redirects" }

var preflightAdapters = []notice.Entry{
	{Example: NoRDMADevice{}, Text: "no InfiniBand, RoCE or EFA device: TCP between hosts, shared memory within",
		Doc: "The host has no RDMA adapter."},
	{Example: RDMAPorts{[]PortKind{{8, "InfiniBand 400 Gb/sec (4X NDR)"}}}, Text: "active: {Ports}",
		Doc: "The active RDMA ports with their speed; programs may open all of them."},
	{Example: RDMAPortsDown{7, 8, []PortState{{"mlx5_7/1", "DOWN", "Polling"}}}, Severity: notice.Warning,
		Text: "{Active} of {Of port} active: {Down}", Advice: notice.AdviceCable,
		Doc: "Ports are not active. A port without a cable may stay down."},
	{Example: RDMALinkNarrow{[]PortRate{{"mlx5_1/1", "100 Gb/sec (1X NDR)"}}}, Severity: notice.Warning,
		Text: "{Links}", Advice: "reseat or change the cable: the link came up with one lane, or at the lowest speed",
		Doc: "An InfiniBand link has one lane of four, or the initial speed of link training."},
	{Example: RDMANotPermitted{[]string{"mlx5_0/1"}}, Severity: notice.Warning,
		Text: "{Ports} cannot be opened: MPI and NCCL will fall back to TCP", Advice: notice.AdviceDevices,
		Doc: "The device is in /sys, but its file in /dev/infiniband is missing or may not be opened."},
	{Example: IOMMU{IOMMUOff}, Text: "{State}", Doc: "Whether an IOMMU translates what devices send to each other."},
	{Example: IOMMUTranslates{[]string{"0000:01:00.0"}}, Severity: notice.Warning,
		Source: notice.GPUDoc + ", PCI Access Control Services (ACS)",
		Text:   "the IOMMU translates for {Devices}: GPUs and adapters reach each other slowly, or not at all",
		Advice: notice.AdviceIOMMU,
		Doc:    "GPUs or RDMA adapters are behind an IOMMU that translates addresses."},
	{Example: ACSBridges{4}, Text: "{Bridges bridge} with ACS, none redirects",
		Doc: "PCIe bridges with access control (ACS) send traffic between devices directly."},
	{Example: ACSHidden{},
		Text: "only root can read the ACS settings: sudo lspci -vvv | grep ACSCtl (ReqRedir+ is bad for GPUs)",
		Doc:  "Only root can read the settings of bridges."},
	{Example: ACSRedirects{2, 9, []string{"0000:00:01.0", "0000:00:02.0"}}, Severity: notice.Warning,
		Source: notice.GPUDoc + ", PCI Access Control Services (ACS)",
		Text:   "{Redirecting} of {Of bridge} send traffic between devices through the processor: {Bridges}",
		Advice: notice.AdviceACS,
		Doc: `Access control (ACS) of PCIe bridges redirects what GPUs and adapters send to each other. Virtual machines
			need it.`},
}
