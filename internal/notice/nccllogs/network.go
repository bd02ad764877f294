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
	PluginMissing NoPlugin   `json:"plugin_missing,omitempty"`
}

// NoPlugin is that NCCL did not find its network plugin.
type NoPlugin bool

func (NoPlugin) String() string { return "NCCL's network plugin was not found (libnccl-net.so)." }

// Advice depends on what explains it.
func (t TCPBetweenNodes) Advice() string {
	if len(t.Settings) > 0 {
		return unset(t.Settings)
	}
	all := []string{
		"with InfiniBand or RoCE, " + possible + "libibverbs (rdma-core) is not in the image; the container has no " +
			"/dev/infiniband (docker run --device=/dev/infiniband) or no rights; NCCL_IB_HCA names a NIC that is not " +
			"there; the port is not active (ibv_devinfo)",
		"rank --preflight there prints what the host has; without RDMA, NCCL_SOCKET_NTHREADS and " +
			"NCCL_NSOCKS_PERTHREAD give a connection more sockets",
	}
	if t.PluginMissing {
		all = append([]string{"on EFA: " + notice.AdvicePlugin}, all...)
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
	return v.pick(
		notice.AdvicePeermem,
		"check that /sys/kernel/mm/memory_peers/amdkfd/version exists (newer kernels: under /sys/kernel or /sys), "+
			"which a NIC driver with ib_peer_mem creates; not needed with DMA-BUF: NCCL_DMABUF_ENABLE=1, and a "+
			"kernel with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY",
	)
}

// GPUDirectDisabled reports NICs without GPUDirect RDMA that no connection shows.
type GPUDirectDisabled struct {
	NICs   NICs   `json:"nics"`
	Unused Unused `json:"unused"`
	Vendor Vendor `json:"vendor"`
}

// Unused is that the connections in the log do not use the NICs.
type Unused bool

func (u Unused) String() string {
	if u {
		return "the connections in this log do not use them"
	}
	return "data between GPUs and these NICs goes through host memory"
}

// Advice depends on the vendor.
func (g GPUDirectDisabled) Advice() string { return g.Vendor.peermem() }

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
type NICFar struct {
	Path   FarPath      `json:"path"`
	Search SearchResult `json:"search"`
	Vendor Vendor       `json:"vendor"`
}

// FarPath is a type of path as NCCL names it: PHB or SYS.
type FarPath string

func (p FarPath) String() string {
	if p == "PHB" {
		return "through a processor (PHB)"
	}
	return "across NUMA nodes (SYS)"
}

// Advice depends on the vendor.
func (n NICFar) Advice() string {
	return "see " + n.Vendor.topology() + ": each GPU needs a NIC under its own PCIe switch; in a container or a " +
		"virtual machine, check that /sys shows the real topology (NCCL documentation, Topology detection)"
}

func (TCPBetweenNodes) Code() Code      { return "tcp-between-nodes" }
func (NoGPUDirect) Code() Code          { return "no-gpudirect-rdma" }
func (GPUDirectDisabled) Code() Code    { return "gpudirect-rdma-disabled" }
func (OneNIC) Code() Code               { return "one-nic" }
func (LibfabricTCP) Code() Code         { return "libfabric-tcp" }
func (UnreachableInterface) Code() Code { return "unreachable-interface" }
func (NetworksDiffer) Code() Code       { return "networks-differ" }
func (PluginNotFound) Code() Code       { return "plugin-not-found" }
func (NICFar) Code() Code               { return "nic-far-from-gpu" }

var ncclNetwork = []notice.Entry{
	{
		Example: TCPBetweenNodes{
			"InfiniBand or RoCE devices: mlx5_0", 16, 16, []string{"eth0"}, []Assigned{{"NCCL_IB_DISABLE", "1"}}, true,
		},
		Severity: notice.Warning,
		Source:   notice.EnvironmentDoc + "NCCL_NET; docs/preflight.md, NCCL network",
		Text:     "NCCL uses TCP between nodes (NET/Socket)[, although the log names {RDMA}]",
		Details: []string{
			"[{TCP} of {Of connection} between nodes use NET/Socket.]",
			"[Interfaces: {Interfaces}.]",
			"[{Settings}.]",
			"[{PluginMissing}]",
		},
		Doc: "It is an error if the log names RDMA devices or EFA, or a setting forces TCP.",
	},
	{
		Example: NoGPUDirect{
			8, 16, Hosts{"n1"}, []HostEnds{{"n1", 4, 8, 4, 8}},
			DirectNICs{DirectDisabled, NICs{{"mlx5_0", Hosts{"n1"}}}},
			[]Assigned{{"NCCL_NET_GDR_LEVEL", "LOC"}}, NVIDIA,
		},
		Severity: notice.Warning,
		Source:   notice.GPUDoc + ", GPU-to-NIC communication",
		Text: `{Ends} of {Of connection end} between nodes go through host memory, without GPUDirect
			RDMA (on {Hosts})`,
		Details: []string{"{Each...}", "{Reason}.", "{Settings...}"},
		Doc: `[send] or [receive] ends of connections between nodes, other than TCP, without /GDRDMA: each end reaches
			GPU memory through a NIC of its own. It is for information if all senders and no receivers are without it
			and there is no NVLink, which is NCCL's default.`,
	},
	{
		Example:  GPUDirectDisabled{NICs{{"mlx5_0", Hosts{"n1"}}}, false, NVIDIA},
		Severity: notice.Warning,
		Source:   notice.GPUDoc + ", GPU-to-NIC communication",
		Text:     "GPUDirect RDMA is disabled for {NICs}: {Unused}",
		Doc: `NCCL prints at init for which NICs GPUDirect RDMA is disabled, other than for their distance. It is for
			information if no connection uses them.`,
	},
	{
		Example: OneNIC{
			8, Hosts{"n1", "n2"}, "n1", 0, Ranks{0, 1, 2, 3}, []string{"mlx5_0", "mlx5_1"}, []Assigned{{"NCCL_IB_HCA",
				"mlx5_0"}},
		},
		Severity: notice.Warning,
		Source:   notice.EnvironmentDoc + "NCCL_IB_HCA, NCCL_CROSS_NIC",
		Text:     "one of up to {NICs} NICs of a host carries all inter-node traffic (on {Hosts})",
		Details: []string{
			"All connections of {Host} use device {Device}, {Ranks}.", "Devices: {Devices}.", "[{Setting}.]",
		},
		Advice: "check that all NICs are up and named in NCCL_IB_HCA; " + notice.AdviceCable,
		Doc: `A host has several NICs and several ranks in the log, and sends through only one NIC. It is not
			reported if NCCL combines several NICs into one device.`,
	},
	{
		Example:  NetworksDiffer{[]NetworkOf{{"IBext_v8", "n1"}, {"IB", "n2"}}},
		Severity: notice.Error,
		Source:   ncclIssue + "1634",
		Text:     "ranks of one run use different networks, and cannot reach each other over them",
		Details:  []string{"{Networks...}."},
		Advice: `give all hosts the same plugin (libnccl-net.so, LD_LIBRARY_PATH) and devices, or set
			NCCL_NET_PLUGIN=none everywhere`,
		Doc: "Each process prints the network that it uses.",
	},
	{
		Example:  LibfabricTCP{"tcp;ofi_rxm"},
		Severity: notice.Error,
		Source:   "libfabric, fi_provider(7)",
		Text:     "libfabric uses the provider {Provider}: TCP, not the NIC's RDMA",
		Advice:   "see fi_info -p efa (or cxi, verbs) there, and FI_PROVIDER; " + notice.AdviceDevices,
		Doc:      "The network plugin prints the provider that it selected.",
	},
	{
		Example:  UnreachableInterface{"docker0", "172.17.0.1"},
		Severity: notice.Error,
		Source:   notice.NetworkDoc + ", IP network interfaces",
		Text:     "ranks meet or send over {Interface}[ ({Address})], which other hosts cannot reach",
		Advice:   meetCauses,
		Doc:      "Interfaces of containers, bridges and the loopback lead to no other host.",
	},
	{
		Example:  PluginNotFound{Assigned{"NCCL_NET_PLUGIN", "ofi"}, "libnccl-net-ofi.so"},
		Severity: notice.Warning,
		Source:   notice.EnvironmentDoc + "NCCL_NET_PLUGIN, NCCL_TUNER_PLUGIN, NCCL_PROFILER_PLUGIN",
		Text:     "NCCL did not find {File}, the plugin that {Setting} names, and continued without it",
		Advice:   "add its folder to LD_LIBRARY_PATH, or set the full path",
		Doc: `A plugin that a variable names was not found; a missing plugin that no variable names is
			not reported.`,
	},
	{
		Example:  NICFar{"SYS", SearchResult{"4", 2, 24, 12, "NVL/SYS"}, NVIDIA},
		Severity: notice.Info,
		Source:   notice.EnvironmentDoc + "NCCL_NET_GDR_LEVEL",
		Text:     "a GPU reaches its NIC {Path}",
		Details:  []string{"{Search}."},
		Doc: `NCCL's search over the topology prints the worst path of each pattern. It is a warning across NUMA nodes
			(SYS).`,
	},
}
