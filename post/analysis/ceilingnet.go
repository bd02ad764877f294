package analysis

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// traffic is how many bytes went over each port of rank 0's host during what was measured.
type traffic map[string]int64

func (t traffic) add(use []result.NetUse) {
	for _, u := range use {
		t[u.Name] += u.RxBytes + u.TxBytes
	}
}

// carriers are the ports that carried a tenth or more of what the busiest one did: what else runs on a host is less.
// RDMA goes before interfaces, whose counters some adapters raise along with those of the port.
func (t traffic) carriers() []string {
	const loopback, protocol = "lo", "tcp" // neither is a port
	var busiest int64
	for name, bytes := range t {
		if name != loopback && name != protocol {
			busiest = max(busiest, bytes)
		}
	}
	var rdma, interfaces []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		switch {
		case name == loopback || name == protocol || t[name] == 0 || t[name] < busiest/10:
		case isRDMA(name):
			rdma = append(rdma, name)
		default:
			interfaces = append(interfaces, name)
		}
	}
	if len(rdma) > 0 {
		return rdma
	}
	return interfaces
}

func isRDMA(port string) bool { return strings.Contains(port, "/") }

// between is the ceiling of the network, where there are several nodes. Other hosts than rank 0's are taken to be like
// it.
func (c *Ceilings) between(run *result.Run, of coll.Case, nodes, perNode int) Ceiling {
	if run.Imported != nil {
		return unknown(notice.UnknownNetwork, "")
	}
	moved := c.moved[run.ID]
	carriers := moved.carriers()
	if rackNVLink.MatchString(run.Device) && len(moved) > 0 && !slices.ContainsFunc(carriers, isRDMA) {
		m, found := modelOf(run.Device)
		if !found || !hasRDMA(run) {
			return unknown(notice.NVLinkOrNetwork, "")
		}
		return nvlink(of, m, notice.PeakNVLink{Links: m.links, Device: run.Device, Nodes: true}, true)
	}
	if len(carriers) == 0 {
		return unknown(notice.UnknownPorts, "")
	}
	ports, missing := ratesOf(run, carriers)
	if missing != "" {
		return unknown(notice.UnknownRate, missing)
	}
	bus, beyond := busOverNetwork(of, nodes, perNode, ports)
	kind := kindOf(ports[0])
	name := fmt.Sprintf("%d x %s", len(ports), kind)
	what := notice.PeakNetwork{Ports: []string{name}, Idle: idleAlike(run, carriers, kind)}
	if slices.ContainsFunc(ports, func(p result.Port) bool { return kindOf(p) != kind }) {
		name, what.Ports = fmt.Sprintf("%d ports", len(ports)), carriers
	}
	ceiling := Ceiling{
		BusBW:  bus,
		Name:   name,
		Fact:   what,
		Source: notice.SourcePorts,
	}
	if beyond > bus {
		ceiling.Beyond, ceiling.By = beyond, notice.Hierarchical
	}
	return ceiling
}

// rackNVLink are the GPUs whose NVLink may lead from node to node. It need not: boards of four have no link that leaves
// them, and networks without RDMA ports in /sys are seen by no counter here.
var rackNVLink = regexp.MustCompile(`\bGB[23]00\b`)

// hasRDMA reports whether the host has RDMA ports, which carry the data between nodes.
func hasRDMA(run *result.Run) bool {
	return run.Hardware != nil &&
		slices.ContainsFunc(run.Hardware.Ports, func(p result.Port) bool { return isRDMA(p.Name) })
}

// ratesOf are the ports of that name, and the first that the record has no rate of.
func ratesOf(run *result.Run, names []string) (ports []result.Port, missing string) {
	for _, name := range names {
		i := -1
		if run.Hardware != nil {
			i = slices.IndexFunc(run.Hardware.Ports, func(p result.Port) bool { return p.Name == name })
		}
		if i < 0 {
			return nil, name
		}
		ports = append(ports, run.Hardware.Ports[i])
	}
	return ports, ""
}

func kindOf(p result.Port) string {
	words := fmt.Sprintf("%g Gbit/s", p.Rate)
	if p.Link != "" {
		words = p.Link + " " + words
	}
	return words
}

// idleAlike counts the ports of that kind that carried nothing.
func idleAlike(run *result.Run, carriers []string, kind string) (idle int) {
	for _, p := range run.Hardware.Ports {
		if isRDMA(p.Name) == isRDMA(carriers[0]) && kindOf(p) == kind && !slices.Contains(carriers, p.Name) {
			idle++
		}
	}
	return idle
}

// busOverNetwork is the bus bandwidth at which the ports of a node are saturated. All nodes have the same number of
// ranks. A ring sends the same data through each port, whatever the collective: the factor of busbw assumes it.
// Collectives that send from rank to rank use the ports for a part of the data. A library that reduces inside nodes
// first sends less than a ring.
func busOverNetwork(of coll.Case, nodes, perNode int, ports []result.Port) (bus, beyond float64) {
	var node, slowest float64
	for _, p := range ports {
		rate := p.Rate / 8 * 1e9
		node += rate
		if slowest == 0 || rate < slowest {
			slowest = rate
		}
	}
	n, k := float64(of.World), float64(perNode)
	switch of.Collective {
	case coll.SendRecv: // one rank of a node sends to the next node, over its share of the ports
		return max(node/k, slowest), 0
	case coll.AllToAll: // each of k ranks has n-k of n parts for other nodes
		return node / k * (n - 1) / (n - k), 0
	case coll.Gather, coll.Scatter: // n-k of n parts pass the root's node
		return node * (n - 1) / (n - k), 0
	case coll.AllReduce, coll.AllGather, coll.ReduceScatter:
		if perNode > 1 { // nodes as ranks of their own: (N-1)/N of the data in place of (n-1)/n
			return node, node * (n - 1) / n * float64(nodes) / float64(nodes-1)
		}
	}
	return node, 0
}

// toOneRankEach are the collectives whose data go from rank to rank.
func toOneRankEach(c coll.Collective) bool {
	return c == coll.AllToAll || c == coll.Gather || c == coll.Scatter || c == coll.SendRecv
}
