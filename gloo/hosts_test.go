//go:build cgo

package gloo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"busbar/internal/coll"
	"busbar/internal/needs"
)

// Two network namespaces simulate two hosts: no route through loopback, other addresses, other interface names. Each
// rank has a thread in one of them, and finds its network by the route to the other one.
func TestTwoHosts(t *testing.T) {
	library(t)
	if os.Getuid() != 0 {
		t.Skip("only root may make network namespaces")
	}
	needs.Command(t, "ip", "two network namespaces are the hosts; it comes with iproute2")
	names := []string{fmt.Sprintf("busbar-%d-a", os.Getpid()), fmt.Sprintf("busbar-%d-b", os.Getpid())}
	ip := func(words ...string) error {
		if out, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(words, " "), err, out)
		}
		return nil
	}
	t.Cleanup(func() { _ = errors.Join(ip("netns", "del", names[0]), ip("netns", "del", names[1])) })
	if err := errors.Join(ip("netns", "add", names[0]), ip("netns", "add", names[1])); err != nil {
		t.Skipf("this machine makes no network namespaces: %v", err)
	}
	if err := errors.Join(ip("link", "add", "left", "netns", names[0], "type", "veth", "peer", "name", "right", "netns",
		names[1]),
		ip("-n", names[0], "addr", "add", "10.77.0.1/24", "dev", "left"),
		ip("-n", names[1], "addr", "add", "10.77.0.2/24", "dev", "right"),
		ip("-n", names[0], "link", "set", "left", "up"), ip("-n", names[1], "link", "set", "right", "up")); err != nil {
		t.Skipf("this machine connects no network namespaces: %v", err)
	}
	enter := func(rank int) (Options, error) {
		f, err := os.Open("/run/netns/" + names[rank])
		if err != nil {
			return Options{}, err
		}
		defer f.Close()
		if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
			return Options{}, err
		}
		network, err := Choose("", fmt.Sprintf("10.77.0.%d", 2-rank), func(string) string { return "" })
		return Options{Address: network.Address, ConnectTimeout: 20 * time.Second}, err
	}
	must(t, groupOf(t, 2, enter, func(c *Context) error {
		if want := []Device{{"left", "10.77.0.1"}, {"right", "10.77.0.2"}}[c.rank]; c.Device() != want {
			return fmt.Errorf("on %+v, want %+v", c.Device(), want)
		}
		return collectives(c, []coll.DataType{coll.Float32}, []coll.RedOp{coll.Sum}, 100_000)
	}))
}
