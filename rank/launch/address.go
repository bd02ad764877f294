package launch

import (
	"net"
	"slices"
	"strings"
)

// ownAddresses are the IP addresses that another host may know this one by. Bridges of containers and virtual machines
// come last: every host has the same.
func ownAddresses() []string {
	const most = 16
	var first, last []string
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			ip, ok := a.(*net.IPNet)
			if !ok || ip.IP.IsLinkLocalUnicast() || ip.IP.IsMulticast() {
				continue
			}
			if isBridge(i.Name) {
				last = append(last, ip.IP.String())
			} else {
				first = append(first, ip.IP.String())
			}
		}
	}
	all := append(first, last...)
	return all[:min(most, len(all))]
}

func isBridge(name string) bool {
	for _, prefix := range []string{"docker", "br-", "virbr", "cni", "veth", "lxc", "lxd", "podman", "cilium",
		"flannel"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// order lists the places to look for the server: this host first if it is the server's, then addresses on a network
// that this host is on, then the others, then the name. An address that this host has itself (every host's container
// bridge) comes last.
func order(c contact, host string, nets []*net.IPNet) []string {
	const loopback, near, far, name, own = 0, 1, 2, 3, 4
	type target struct {
		address string
		class   int
	}
	var targets []target
	if host == c.Host {
		targets = append(targets, target{"127.0.0.1", loopback}, target{"::1", loopback})
	}
	for _, a := range c.Addresses {
		ip, class := net.ParseIP(a), far
		for _, n := range nets {
			switch {
			case n.IP.Equal(ip):
				class = own
			case class == far && n.Contains(ip):
				class = near
			}
		}
		targets = append(targets, target{a, class})
	}
	if c.Host != "" {
		targets = append(targets, target{c.Host, name})
	}
	slices.SortStableFunc(targets, func(a, b target) int { return a.class - b.class })
	var addresses []string
	for _, t := range targets {
		addresses = append(addresses, t.address)
	}
	return addresses
}

func localNets() []*net.IPNet {
	var nets []*net.IPNet
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			nets = append(nets, n)
		}
	}
	return nets
}
