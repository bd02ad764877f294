package screen

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/vbauerster/mpb/v8"

	"busbar/rank/machine/machinetest"
)

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("input/output error") }

// A terminal that goes away takes the progress line along, not the run, and rows go where they would have gone.
func TestMeterWithoutItsTerminal(t *testing.T) {
	p := &meter{refresh: make(chan any), both: true}
	p.pool = mpb.New(mpb.WithOutput(brokenWriter{}), mpb.WithManualRefresh(p.refresh))
	var rows strings.Builder
	out := p.above(&rows)
	p.total(9)
	for range 9 {
		p.show(0, 9, 0, "all_reduce")
	}
	p.total(9) // the next world's
	p.show(0, 9, 0, "all_reduce")
	if _, err := out.Write([]byte("a row\n")); err != nil || rows.String() != "a row\n" {
		t.Errorf("the row went to %q, %v", rows.String(), err)
	}
	p.end()
	if !p.broken {
		t.Error("nobody has noticed")
	}
}

// Where only a proxy is the parent, the terminal is looked for at who started it.
func TestLauncherProcess(t *testing.T) {
	parent := os.Getppid()
	dir := "proc/" + strconv.Itoa(parent)
	root := machinetest.Root(t, map[string]string{dir + "/comm": "mpirun\n", dir + "/status": "PPid:\t77\n"})
	if got := launcherProcess(root); got != parent {
		t.Errorf("under mpirun %d, want %d", got, parent)
	}
	root = machinetest.Root(t, map[string]string{dir + "/comm": "hydra_pmi_proxy\n", dir +
		"/status": "Name:\tx\nPPid:\t77\n"})
	if got := launcherProcess(root); got != 77 {
		t.Errorf("under hydra %d, want 77", got)
	}
}
