package nccllogs

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices on networks and NICs, from NCCL's logs.

// TCPBetweenNodes reports nodes that communicate over TCP.
type TCPBetweenNodes struct {
	RDMA          string     `json:"rdma,omitempty"` // what of RDMA the log has
	TCP           int        `json:"tcp_connections,omitempty"`
	Of            int        `json:"connections,omitempty"`
	Interfaces    []string   `json:"interfaces,omitempty"`
	Settings      []Assigned `json:"settings,omitempty"` // that explain it
	PluginMissing bool       `json:"plugin_missing,omitempty"`
}

// Advice depends on what explains it.
func (t TCPBetweenNodes) Advice() string {
	if len(t.Settings) > 0 {
		return unset(t.Settings)
	}
	all := []string{
		"with InfiniBand or RoCE, " + notice.Phrase("possible") + " libibverbs (rdma-core) is not in the image; the " +
			"container has no /dev/infiniband (docker run --device=/dev/infiniband) or no rights; NCCL_IB_HCA names " +
			"a NIC that is not there; the port is not active (ibv_devinfo)",
		"rank --preflight there prints what the host has; without RDMA, NCCL_SOCKET_NTHREADS and " +
			"NCCL_NSOCKS_PERTHREAD give a connection more sockets",
	}
	if t.PluginMissing {
		all = append([]string{"on EFA: " + notice.Phrase("AdvicePlugin")}, all...)
	}
	return strings.Join(all, "; ")
}

// HostEnds are the ends of connections on a host that pass through host memory.
type HostEnds struct {
	Host       string `json:"host" alike:"-"` // "" where it is unknown
	Sends      int    `json:"sends"`
	OfSends    int    `json:"of_sends"`
	Receives   int    `json:"receives"`
	OfReceives int    `json:"of_receives"`
}

func (h HostEnds) String() string {
	return fmt.Sprintf("%s: %d of %d [send] and %d of %d [receive] without /GDRDMA", h.Host, h.Sends, h.OfSends,
		h.Receives, h.OfReceives)
}

// NoGPUDirect reports connections between nodes that pass through host memory.
type NoGPUDirect struct {
	Ends     int        `json:"ends"`
	Of       int        `json:"of"`
	Hosts    Hosts      `json:"hosts" alike:"-"`
	Each     []HostEnds `json:"each"`
	Reason   DirectNICs `json:"reason"`
	Settings []Assigned `json:"settings,omitempty"`
	Vendor   Vendor     `json:"vendor"`
}

// DirectCause is why GPUDirect RDMA is not used.
type DirectCause string

// The causes.
const (
	DirectUnknown  DirectCause = ""
	DirectSends    DirectCause = "sends-without-nvlink" // NCCL's default
	DirectDisabled DirectCause = "disabled"             // NCCL cannot use it with these NICs
	DirectDistance DirectCause = "distance"             // the NICs are too far from the GPUs
	DirectChosen   DirectCause = "not-chosen"           // the NICs could
)

// DirectNICs is why GPUDirect RDMA is not used, with the NICs that the log names for it.
type DirectNICs struct {
	Cause DirectCause `json:"cause,omitempty"`
	NICs  NICs        `json:"nics,omitempty"`
}

// NIC is a NIC, and the hosts that have it where that is known.
type NIC struct {
	Device string `json:"device"`
	Hosts  Hosts  `json:"hosts,omitempty" alike:"-"`
}

func (n NIC) String() string {
	if len(n.Hosts) == 0 {
		return n.Device
	}
	return n.Device + " on " + n.Hosts.String()
}

// NICs are some of them.
type NICs []NIC

func (n NICs) String() string { return units.Some(textsOf(n)) }

func (d DirectNICs) String() string {
	switch d.Cause {
	case DirectDisabled:
		return "GPU Direct RDMA Disabled: " + d.NICs.String()
	case DirectDistance:
		return "GPU Direct RDMA Disabled, for the distance to the GPU: " + d.NICs.String()
	case DirectChosen:
		return "GPU Direct RDMA Enabled: " + d.NICs.String() + ", but NCCL considers the NICs too far from the GPUs"
	}
	return "The log does not state why"
}

// Advice depends on the cause.
func (n NoGPUDirect) Advice() string {
	switch n.Reason.Cause {
	case DirectSends:
		return "this is NCCL's default for sends of GPUs without NVLink; try NCCL_NET_GDR_READ=1"
	case DirectDisabled:
		return n.Vendor.peermem()
	case DirectDistance, DirectChosen:
		return "see " + n.Vendor.topology() +
			"; NCCL_NET_GDR_LEVEL=PHB allows the path through the host bridge, if that is faster"
	}
	return n.Vendor.peermem() + "; else see " + n.Vendor.topology() + ": NICs far from the GPUs are left out " +
		"(NCCL_NET_GDR_LEVEL)"
}

func (v Vendor) peermem() string {
	return v.pick(notice.Phrase("AdvicePeermem"), notice.Phrase("AMDPeermem"))
}

// GPUDirectDisabled reports NICs without GPUDirect RDMA that no connection shows.
type GPUDirectDisabled struct {
	NICs   NICs   `json:"nics"`
	Unused bool   `json:"unused"`
	Vendor Vendor `json:"vendor"`
}

// OneNIC reports hosts that use one of several NICs.
type OneNIC struct {
	NICs    int        `json:"nics"` // of a host at most
	Hosts   Hosts      `json:"hosts" alike:"-"`
	Host    string     `json:"host" alike:"-"` // the first of them
	Device  int        `json:"device"`
	Ranks   Ranks      `json:"ranks"`
	Devices []string   `json:"devices"`
	Setting []Assigned `json:"setting,omitempty"`
}

// LibfabricTCP reports a libfabric provider that uses TCP.
type LibfabricTCP struct {
	Provider string `json:"provider"`
}

// UnreachableInterface reports ranks that meet over an interface that leads to no other host.
type UnreachableInterface struct {
	Interface string `json:"interface"`
	Address   string `json:"address,omitempty" alike:"-"`
}

// NetworksDiffer reports hosts whose ranks use different networks of NCCL.
type NetworksDiffer struct {
	Networks []NetworkOf `json:"networks"`
}

// NetworkOf is a network and who uses it.
type NetworkOf struct {
	Name string `json:"name"`
	Who  string `json:"who" alike:"-"`
}

func (n NetworkOf) String() string { return n.Name + ": " + n.Who }

// PluginNotFound reports a plugin that was asked for and not found.
type PluginNotFound struct {
	Setting Assigned `json:"setting"`
	File    string   `json:"file"`
}

// NICFar reports GPUs that reach their NIC through processors.
type NICFar GPUsFar

// FarPath is a type of path as NCCL names it: PHB or SYS.
type FarPath string

func (p FarPath) String() string {
	if p == "PHB" {
		return "through a processor (PHB)"
	}
	return "across NUMA nodes (SYS)"
}
