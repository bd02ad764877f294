//go:build cgo

package gloo

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/needs"
)

// Two network namespaces are two hosts: no route through the loopback interface, other addresses, other interface
// names. The ranks are processes, told each other's address by pipes, and find their network by the route to the
// other one.
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
	var hosts [2]host
	for rank := range hosts {
		hosts[rank] = startHost(t, names[rank], rank, fmt.Sprintf("10.77.0.%d", 2-rank))
	}
	a, b := hosts[0].line(t), hosts[1].line(t)
	for rank := range hosts {
		if _, err := fmt.Fprintf(hosts[rank].in, "[%s,%s]\n", a, b); err != nil {
			t.Fatal(err)
		}
	}
	for rank, want := range []string{"left 10.77.0.1", "right 10.77.0.2"} {
		if got := hosts[rank].line(t); got != want {
			t.Errorf("rank %d is on %q, want %q", rank, got, want)
		}
		if err := hosts[rank].cmd.Wait(); err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// host is a rank as a process of its own in a namespace.
type host struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startHost(t *testing.T, namespace string, rank int, other string) host {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := host{cmd: exec.Command("ip", "netns", "exec", namespace, executable)}
	h.cmd.Env = append(os.Environ(), fmt.Sprint("BUSBAR_TEST_RANK=", rank), "BUSBAR_TEST_TOWARD="+other)
	h.cmd.Stderr = os.Stderr
	in, err1 := h.cmd.StdinPipe()
	out, err2 := h.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, h.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.cmd.Process.Kill() })
	h.in, h.out = in, bufio.NewReader(out)
	return h
}

func (h host) line(t *testing.T) string {
	t.Helper()
	text, err := h.out.ReadString('\n')
	if err != nil {
		t.Fatalf("a rank ended early: %v", err)
	}
	return strings.TrimSpace(text)
}

func TestMain(m *testing.M) {
	if toward := os.Getenv("BUSBAR_TEST_TOWARD"); toward != "" {
		if err := beHost(toward); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beHost is the life of one rank of that test.
func beHost(toward string) error {
	runtime.LockOSThread()
	rank := 0
	if os.Getenv("BUSBAR_TEST_RANK") == "1" {
		rank = 1
	}
	l, err := Load("../lib/" + shimFile)
	if err != nil {
		return err
	}
	network, err := Choose("", toward, func(string) string { return "" })
	if err != nil {
		return err
	}
	c, err := l.NewContext(Options{Rank: rank, Size: 2, Address: network.Address, Timeout: time.Minute,
		ConnectTimeout: 20 * time.Second})
	if err != nil {
		return err
	}
	defer c.Close()
	mine, err := c.Address()
	if err != nil {
		return err
	}
	text, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", text)
	var all [][]byte
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		return err
	}
	if err := c.Connect(all); err != nil {
		return err
	}
	if err := collectives(c, []coll.DataType{coll.Float32}, []coll.RedOp{coll.Sum}, 100_000); err != nil {
		return err
	}
	fmt.Println(c.Device().Interface, c.Device().Address)
	return nil
}
