package launch

import (
	"fmt"
	"net"
	"testing"
)

func TestOrderOfAddresses(t *testing.T) {
	_, lan, _ := net.ParseCIDR("10.1.0.0/16")
	lan.IP = net.ParseIP("10.1.0.7")
	_, bridge, _ := net.ParseCIDR("172.17.0.0/16")
	bridge.IP = net.ParseIP("172.17.0.1")
	c := contact{Host: "head", Addresses: []string{"172.17.0.1", "192.168.3.4", "10.1.0.9"}}
	for host, want := range map[string]string{
		"node1": "[10.1.0.9 192.168.3.4 head 172.17.0.1]",
		"head":  "[127.0.0.1 ::1 10.1.0.9 192.168.3.4 head 172.17.0.1]",
	} {
		if got := fmt.Sprint(order(c, host, []*net.IPNet{bridge, lan})); got != want {
			t.Errorf("from %s: %s, want %s", host, got, want)
		}
	}
}
