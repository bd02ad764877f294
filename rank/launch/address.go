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
	var near, far, own []string
	if host == c.Host {
		near = []string{"127.0.0.1", "::1"}
	}
	for _, a := range c.Addresses {
		ip := net.ParseIP(a)
		switch {
		case slices.ContainsFunc(nets, func(n *net.IPNet) bool { return n.IP.Equal(ip) }):
			own = append(own, a)
		case slices.ContainsFunc(nets, func(n *net.IPNet) bool { return n.Contains(ip) }):
			near = append(near, a)
		default:
			far = append(far, a)
		}
	}
	if c.Host != "" {
		far = append(far, c.Host)
	}
	return slices.Concat(near, far, own)
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
