package screen

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"busbar/rank/launch"
	"busbar/rank/machine"
)

// meter is the line on a terminal: points done, time left, the point in hand. It is drawn only between cases. A nil
// meter shows nothing.
type meter struct {
	stderr io.Writer
	width  int
}

// eraseLine takes the cursor to the begin of the line and erases it.
const eraseLine = "\r\x1b[K"

// newMeter returns the meter, nil when stderr does not end at a terminal, and where rows go. Where they end at the same
// terminal, they go there by stderr too: a launcher passes on stdout and stderr in any order.
func newMeter(l launch.Started, stdout, stderr io.Writer) (*meter, io.Writer) {
	width, both := terminal(l)
	if width == 0 {
		return nil, stdout
	}
	m := &meter{stderr, min(width, 80)}
	if both {
		return m, rowWriter{stderr, stdout}
	}
	return m, stdout
}

// terminal is the width of the terminal that stderr ends at, 0 if it ends elsewhere, and whether stdout ends there too.
// Under a launcher a rank writes to pipes (or to a terminal of the launcher's making); what counts is the launcher's
// own.
func terminal(l launch.Started) (width int, stdout bool) {
	at := "/proc/self/fd/"
	if l.Rank >= 0 {
		at = fmt.Sprintf("/proc/%d/fd/", launcherProcess("/"))
	}
	if os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	columns := func(fd string) int {
		f, err := os.OpenFile(at+fd, os.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
		if err != nil {
			return 0
		}
		defer f.Close() //nolint:errcheck // nothing was written
		w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			return 0
		}
		return max(40, int(w.Col))
	}
	return columns("2"), columns("1") > 0
}

// launcherProcess is the process whose stdout and stderr the user sees, if it is on this host: the parent, or what has
// started it where that only passes things on.
func launcherProcess(root string) int {
	parent := os.Getppid()
	if !strings.HasPrefix(machine.ReadText(root, fmt.Sprintf("proc/%d/comm", parent)), "hydra_") {
		return parent
	}
	starter, err := strconv.Atoi(machine.Field(machine.ReadText(root, fmt.Sprintf("proc/%d/status", parent)), "PPid"))
	if err != nil {
		return parent
	}
	return starter
}

// show draws how many points are done, about how long the rest takes (below 0: unknown), and what is in hand.
func (m *meter) show(done, planned int, left time.Duration, name string) {
	if m == nil {
		return
	}
	rest := ""
	if left >= 0 {
		rest = fmt.Sprintf(", %s left", clock(left))
	}
	_, _ = fmt.Fprint(m.stderr, eraseLine+Clip(fmt.Sprintf(" %d/%d%s: %s", done, planned, rest, name), m.width-1))
}

// end erases the line.
func (m *meter) end() {
	if m != nil {
		_, _ = fmt.Fprint(m.stderr, eraseLine)
	}
}

// rowWriter writes rows in the place of the line, which is drawn again with the next case. Where the terminal is gone,
// they go where they would have gone without it.
type rowWriter struct{ terminal, out io.Writer }

func (w rowWriter) Write(b []byte) (int, error) {
	if _, err := w.terminal.Write(append([]byte(eraseLine), b...)); err != nil {
		return w.out.Write(b)
	}
	return len(b), nil
}
