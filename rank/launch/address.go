package launch

import (
	"net"
	"slices"
)

// ownAddresses are the IP addresses that another host may know this one by.
func ownAddresses() (addresses []string) {
	const most = 16
	for _, n := range localNets() {
		if ip := n.IP; len(addresses) < most && ip.IsGlobalUnicast() {
			addresses = append(addresses, ip.String())
		}
	}
	return addresses
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
