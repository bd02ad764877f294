package screen

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"busbar/rank/machine/machinetest"
)

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("input/output error") }

// Rows take the place of the line of progress; where the terminal is gone, they go where they would have gone without.
func TestRowsOnATerminal(t *testing.T) {
	var terminal, out strings.Builder
	m := &meter{&terminal, 80}
	m.show(3, 9, 0, "all_reduce")
	if _, err := (rowWriter{&terminal, &out}).Write([]byte("a row\n")); err != nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
	m.end()
	if got := terminal.String(); got != eraseLine+" 3/9, 0:00 left: all_reduce"+eraseLine+"a row\n"+eraseLine {
		t.Errorf("%q", got)
	}
	if _, err := (rowWriter{brokenWriter{}, &out}).Write([]byte("a row\n")); err != nil || out.String() != "a row\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// Where only a proxy is the parent, the terminal is looked for at who started it.
func TestLauncherProcess(t *testing.T) {
	parent := os.Getppid()
	for comm, want := range map[string]int{"mpirun\n": parent, "hydra_pmi_proxy\n": 77} {
		dir := "proc/" + strconv.Itoa(parent)
		root := machinetest.Root(t, map[string]string{dir + "/comm": comm, dir + "/status": "Name:\tx\nPPid:\t77\n"})
		if got := launcherProcess(root); got != want {
			t.Errorf("under %s%d, want %d", comm, got, want)
		}
	}
}
