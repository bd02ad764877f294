package preflight

import (
	"maps"
	"slices"

	"busbar/internal/notice/preflights"
	"busbar/rank/machine"
)

// fabric holds the RDMA facts of a host and the paths between its devices.
type fabric struct {
	Ports []machine.RDMAPort
	pcie
	Peermem bool   // NVIDIA's module for RDMA to GPU memory
	Plugin  string // path of NCCL's network plugin; "" if the loader finds none
}

func readFabric(root string, env func(string) string) fabric {
	return fabric{
		Ports:   machine.RDMAPorts(root),
		pcie:    readPCIe(root),
		Peermem: machine.Exists(root, "sys/module/nvidia_peermem"),
		Plugin:  netPlugin(root, env),
	}
}

// kinds counts the active ports: "8 x InfiniBand 400 Gb/sec (4X NDR)".
func (f fabric) kinds() (list []preflights.PortKind) {
	count := map[string]int{}
	for _, p := range f.Ports {
		if p.Active() {
			count[p.Kind()]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(count)) {
		list = append(list, preflights.PortKind{Ports: count[k], Kind: k})
	}
	return list
}

// checkRDMA checks the adapters of a host.
func checkRDMA(host []Setup) (rows []Row) {
	ports := host[0].Fabric.Ports
	if len(ports) == 0 {
		return []Row{found(preflights.NoRDMADevice{})}
	}
	var down []preflights.PortState
	var narrow []preflights.PortRate
	var closed []string
	for _, p := range ports {
		if !p.Active() {
			down = append(down, preflights.PortState{Port: p.Name, State: p.State, Physical: orUnknown(p.Phys)})
			continue
		}
		if p.Narrow() {
			narrow = append(narrow, preflights.PortRate{Port: p.Name, Rate: p.Rate})
		}
		if !p.Open {
			closed = append(closed, p.Name)
		}
	}
	if down != nil {
		rows = append(rows,
			found(preflights.RDMAPortsDown{Active: len(ports) - len(down), Of: len(ports), Down: down}))
	}
	if narrow != nil {
		rows = append(rows, found(preflights.RDMALinkNarrow{Links: narrow}))
	}
	if closed != nil {
		rows = append(rows, found(preflights.RDMANotPermitted{Ports: closed}))
	}
	if rows == nil {
		rows = []Row{found(preflights.RDMAPorts{Ports: host[0].Fabric.kinds()})}
	}
	return rows
}
