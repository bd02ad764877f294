package gloo

import (
	"fmt"
	"net"
	"os"
	"strings"
)

// Choice is the network that a rank uses, and why.
type Choice struct {
	Interface, Address string // one of them, for Options
	Why                string
}

// Choose finds the network: the interface named, else the one that GLOO_SOCKET_IFNAME names, else the address from
// which this host reaches another one. That host is toward, an address or a name; with "" it is whatever the default
// route leads to. A host without a route takes the address of its name, and one without that its loopback.
//
// torch takes the address of the host's name at once, which on many systems is a loopback address that no other host
// can reach. Between ranks of one host the choice makes no difference: the kernel sends what is for itself through
// the loopback device, whatever the address.
func Choose(named, toward string, getenv func(string) string) (Choice, error) {
	if named != "" {
		return Choice{Interface: named, Why: "named"}, exists(named)
	}
	if list := getenv("GLOO_SOCKET_IFNAME"); list != "" {
		// torch takes a list and makes a device of each; one is what is measured here.
		first, rest, more := strings.Cut(list, ",")
		if more {
			return Choice{}, fmt.Errorf("gloo: GLOO_SOCKET_IFNAME names %s and %s, and busbar uses one interface: "+
				"name that one", first, rest)
		}
		return Choice{Interface: first, Why: "GLOO_SOCKET_IFNAME"}, exists(first)
	}
	if toward != "" {
		address, err := source(toward)
		if err != nil {
			return Choice{}, fmt.Errorf("gloo: no route from here to %s: %w; name the interface", toward, err)
		}
		return Choice{Address: address, Why: "route to " + toward}, nil
	}
	if address, err := source(anywhere); err == nil {
		return Choice{Address: address, Why: "default route"}, nil
	}
	host, err := os.Hostname()
	if err == nil && ownAddress(host) {
		return Choice{Address: host, Why: "address of " + host}, nil
	}
	return Choice{Address: "127.0.0.1", Why: "no route, and no address for the host's name: loopback"}, nil
}

// anywhere is an address that is kept for documentation (RFC 5737): only the default route leads to it.
const anywhere = "192.0.2.1"

// source is the address from which this host would send to another one. Nothing is sent: connecting a UDP socket asks
// for the route alone.
func source(to string) (string, error) {
	c, err := net.Dial("udp", net.JoinHostPort(to, "9"))
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).IP.String(), nil
}

func exists(name string) error {
	if _, err := net.InterfaceByName(name); err == nil {
		return nil
	}
	var names []string
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("gloo: no interface %s on this host, and listing the others failed: %w", name, err)
	}
	for _, i := range all {
		names = append(names, i.Name)
	}
	return fmt.Errorf("gloo: no interface %s on this host; it has %s", name, strings.Join(names, ", "))
}

// ownAddress reports whether a name resolves to an address of this host.
func ownAddress(host string) bool {
	addresses, err := net.LookupIP(host)
	if err != nil || len(addresses) == 0 {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(addresses[0]) {
			return true
		}
	}
	return false
}
