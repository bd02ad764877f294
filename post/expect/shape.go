package expect

import (
	"cmp"
	"fmt"
	"math/bits"
	"regexp"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// Shape is what two results must share to be comparable, beside the size.
type Shape struct {
	GPU        string          `json:"gpu"` // "H100", "A100 PCIe"
	PerNode    int             `json:"ranks_per_node,omitempty"`
	Nodes      int             `json:"nodes,omitempty"`
	Fabric     string          `json:"fabric"` // what joins the ranks that are farthest apart: "NVSwitch", "EFA"
	Collective coll.Collective `json:"collective"`
}

// Comparable reports whether bandwidths of both may be compared: all is equal, the fabric but for its case, and the
// nodes are within one power of two.
func (s Shape) Comparable(with Shape) bool {
	near := bits.Len(uint(s.Nodes)) == bits.Len(uint(with.Nodes)) && strings.EqualFold(s.Fabric, with.Fabric)
	s.Nodes, s.Fabric = with.Nodes, with.Fabric
	return near && s == with
}

// covers reports whether a limit, which may leave out ranks and nodes, is about a shape.
func (r Row) covers(s Shape) bool {
	r.PerNode, r.Nodes = cmp.Or(r.PerNode, s.PerNode), cmp.Or(r.Nodes, s.Nodes)
	return r.Comparable(s)
}

// String is "8 x H100, 2 nodes, EFA, all_reduce".
func (s Shape) String() string {
	return fmt.Sprintf("%d x %s, %s, %s, %v", s.PerNode, s.GPU, units.Count(s.Nodes, "node"), s.Fabric, s.Collective)
}

var gpuNames = regexp.MustCompile(`\b(GB[23]00|B[23]00|H[12]00|H800|H20|A100|A800|V100|MI3\d\dX)\b`)

// gpuOf is the name of a GPU in tables; "" for others, for slices of one, and where ranks have several kinds.
func gpuOf(device string) string {
	name := gpuNames.FindString(device)
	switch {
	case name == "" || strings.Contains(device, "MIG"), strings.Contains(device, "other kinds"):
		return ""
	case strings.HasPrefix(name, "H") && strings.Contains(device, "NVL"):
		return name + " NVL"
	case strings.Contains(strings.ToUpper(device), "PCIE"):
		return name + " PCIe"
	}
	return name
}

// inside is what joins the GPUs of a node, where the model decides that.
func inside(gpu string) string {
	switch {
	case strings.Contains(gpu, " "): // cards, with bridges or without
		return ""
	case strings.HasPrefix(gpu, "MI"):
		return "Infinity Fabric"
	case strings.HasPrefix(gpu, "GB") || gpu == "V100":
		return "NVLink"
	}
	return "NVSwitch"
}

// fabrics are the classes of networks between nodes, by the marks of NCCL's log. The first that is found counts. NVLink
// may join the nodes of a GB200; the plugin of AWS serves Slingshot, too.
var fabrics = []struct{ mark, fabric string }{
	{"NVIDIA GB", ""}, {"FasTrak", "TCPXO"}, {"TCPXO", "TCPXO"}, {"rovider is cxi", "Slingshot"},
	{"rovider is efa", "EFA"}, {"Using network AWS Libfabric", "EFA"},
	{"Using network SHARP", "InfiniBand SHARP"}, {"1/IB", "InfiniBand"},
	{"1/RoCE", "RoCE"}, {"Using network Socket", "TCP"},
}

// FabricInLog is the network that NCCL's lines in a log name; "" where there are none.
func FabricInLog(log string) string {
	for _, f := range fabrics {
		if strings.Contains(log, f.mark) {
			return f.fabric
		}
	}
	return ""
}

// fabricOf is the network between the nodes of a run, as far as its record has it.
func fabricOf(run *result.Run) (fabric string) {
	if run.Hardware == nil || strings.Contains(run.Device, "GB200") || strings.Contains(run.Device, "GB300") {
		return "" // NVLink may join the nodes
	}
	if strings.EqualFold(run.Environment["NCCL_NET"], "Socket") {
		return "TCP"
	}
	for _, p := range run.Hardware.Ports {
		switch {
		case p.Link == "EFA":
			return "EFA"
		case run.Environment["NCCL_IB_DISABLE"] == "1":
			fabric = "TCP"
		case p.Link == "InfiniBand" && run.Environment["NCCL_COLLNET_ENABLE"] == "1":
			return "InfiniBand SHARP"
		case p.Link == "InfiniBand":
			fabric = "InfiniBand"
		case p.Link == "Ethernet" && strings.Contains(p.Name, "/"):
			fabric = cmp.Or(fabric, "RoCE")
		}
	}
	return fabric
}

// shapeOf is the shape of a curve. The network between several nodes is that which was stated, or else of its log or
// record; within a node, what was stated counts only where the model does not decide. gap is what is missing; "":
// nothing is.
func shapeOf(c *analysis.Curve, stated, logged string) (s Shape, gap notice.ReferenceGap) {
	s = Shape{gpuOf(c.Device), c.PerNode, c.Nodes, cmp.Or(stated, logged, fabricOf(c.Runs[0])), c.Collective}
	if s.Nodes == 1 {
		s.Fabric = cmp.Or(inside(s.GPU), stated)
	}
	switch _, trusted := c.Trusted(); {
	case !trusted || c.Mode == coll.Latency || c.Uneven() || c.Groups.Divided() && !c.Groups.Alone:
		return s, notice.NoSpeedMeasured
	case s.GPU == "":
		return s, notice.UnnamedGPU
	case s.Nodes == 0 || s.PerNode*s.Nodes != c.World: // nodes with different numbers of ranks are not comparable
		return s, notice.UnrecordedNodes
	case s.Fabric == "":
		return s, notice.UnrecordedFabric
	}
	return s, ""
}
