//go:build cgo

package gloo

import (
	"testing"

	"github.com/shoenig/test"
)

func TestParseDevice(t *testing.T) {
	for text, want := range map[string]Device{
		"tcp, pci=, iface=lo, speed=-1, addr=[127.0.0.1]":                      {"lo", "127.0.0.1"},
		"tcp, pci=0000:00:05.0, iface=eth0, speed=25000, addr=[10.1.2.3]:4711": {"eth0", "10.1.2.3"},
		"tcp, pci=, iface=ib0, speed=-1, addr=[fe80::1]":                       {"ib0", "fe80::1"},
		"a transport with an unknown description":                              {},
	} {
		test.EqOp(t, want, parseDevice(text), test.Sprint(text))
	}
}

func TestChoose(t *testing.T) {
	env := func(value string) func(string) string {
		return func(key string) string {
			if key == "GLOO_SOCKET_IFNAME" {
				return value
			}
			return ""
		}
	}
	for _, c := range []struct {
		named, toward, env, iface, address, why, fails string
	}{
		{named: "lo", env: "eth7", iface: "lo", why: "named"},
		{named: "nowhere0", fails: "no interface nowhere0 on this host; it has lo"},
		{env: "lo", toward: "10.0.0.1", iface: "lo", why: "GLOO_SOCKET_IFNAME"},
		{env: "nowhere0", fails: "nowhere0"},
		{env: "lo,eth0", fails: "names lo and eth0"},
		{toward: "127.0.0.1", address: "127.0.0.1", why: "route to 127.0.0.1"},
		{toward: "no such name.invalid", fails: "name the interface"},
	} {
		got, err := Choose(c.named, c.toward, env(c.env))
		if c.fails != "" {
			test.ErrorContains(t, err, c.fails, test.Sprint(c))
			continue
		}
		if err != nil || got != (Choice{c.iface, c.address, c.why}) {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if got, err := Choose("", "", env("")); err != nil || got.Address == "" || got.Why == "" {
		t.Errorf("by default: %+v, %v", got, err)
	}
}
