package gloo

import (
	"strings"
	"testing"
)

func TestParseDevice(t *testing.T) {
	for text, want := range map[string]Device{
		"tcp, pci=, iface=lo, speed=-1, addr=[127.0.0.1]":                               {"lo", "127.0.0.1"},
		"tcp, pci=0000:00:05.0, iface=eth0, speed=25000, addr=[10.1.2.3]:4711":          {"eth0", "10.1.2.3"},
		"tcp, pci=, iface=ib0, speed=-1, addr=[fe80::1]":                                {"ib0", "fe80::1"},
		"a transport that says nothing of an interface in the words that are known now": {},
	} {
		if d := parseDevice(text); d != want {
			t.Errorf("%q: %+v, want %+v", text, d, want)
		}
	}
}

func TestAddressBlocks(t *testing.T) {
	block := func(rank, size int, entries string) []byte {
		return addressBlock{rank: rank, size: size, each: 2, entries: []byte(entries)}.bytes()
	}
	good := [][]byte{block(0, 3, "000102"), block(1, 3, "101112"), block(2, 3, "202122")}
	mine, err := entriesFor(1, 3, 2, good)
	if err != nil || string(mine) != "011121" {
		t.Errorf("%q, %v", mine, err)
	}
	for want, bad := range map[string][][]byte{
		"of 2 ranks":          good[:2],
		"same version":        {good[0], []byte("something else"), good[2]},
		"that of rank 2 of 3": {good[0], good[2], good[1]},
		"that of rank 1 of 4": {good[0], block(1, 4, "10111213"), good[2]},
		"5 bytes":             {good[0], good[1][:len(good[1])-1], good[2]},
	} {
		if _, err := entriesFor(1, 3, 2, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
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
		{named: "nowhere0", fails: "there is no interface nowhere0 on this host; it has lo"},
		{env: "lo", toward: "10.0.0.1", iface: "lo", why: "GLOO_SOCKET_IFNAME"},
		{env: "nowhere0", fails: "nowhere0"},
		{env: "lo,eth0", fails: "names lo and eth0"},
		{toward: "127.0.0.1", address: "127.0.0.1", why: "route to 127.0.0.1"},
		{toward: "no such name.invalid", fails: "name the interface"},
	} {
		got, err := Choose(c.named, c.toward, env(c.env))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%+v: %v", c, err)
			}
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
