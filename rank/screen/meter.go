package screen

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"

	"busbar/rank/launch"
	"busbar/rank/machine"
)

// meter is the line on a terminal: points done, time left, the point in hand. It is drawn only between cases, so
// that no goroutine works while something is timed. A nil meter shows nothing.
type meter struct {
	pool    *mpb.Progress
	bar     *mpb.Bar
	refresh chan any
	text    atomic.Pointer[string] // the pool's goroutines read it while they draw
	both    bool                   // results go to the same terminal, so rows have to be drawn above the line
	broken  bool                   // the terminal is gone, and the pool with it
}

// newMeter returns nil when stderr does not end at a terminal.
func newMeter(l launch.Started, stderr io.Writer) *meter {
	width, results := terminal(l)
	if width == 0 {
		return nil
	}
	p := &meter{refresh: make(chan any), both: results}
	p.pool = mpb.New(mpb.WithOutput(stderr), mpb.WithWidth(min(width, 80)), mpb.WithManualRefresh(p.refresh))
	return p
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

func (p *meter) total(n int) {
	if p == nil {
		return
	}
	if p.bar != nil {
		p.bar.Abort(true)
	}
	p.text.Store(new(string))
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("=").Tip(">").Padding(" ")
	p.bar, _ = p.pool.Add(int64(n), style.Build(), mpb.BarWidth(12), mpb.BarRemoveOnComplete(),
		// nil when the pool has ended
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return *p.text.Load() })))
}

// show says how many points are done, about how long the rest takes (below 0: not known), and what is in hand.
func (p *meter) show(done, planned int, left time.Duration, name string) {
	if p == nil || p.bar == nil {
		return
	}
	rest := ""
	if left >= 0 {
		rest = fmt.Sprintf(", %s left", clock(left))
	}
	text := Clip(fmt.Sprintf(" %d/%d%s: %s", done, planned, rest, name), 64)
	p.text.Store(&text)
	p.bar.SetCurrent(int64(done))
	p.draw()
}

// drawTime is how long the pool may take to begin a drawing.
const drawTime = 2 * time.Second

// draw has the line drawn, and waits for the drawing before it. A terminal that is gone does not keep a run from going
// on.
func (p *meter) draw() {
	if p.broken {
		return
	}
	select {
	case p.refresh <- nil:
	case <-time.After(drawTime):
		p.broken = true
	}
}

// above is where rows are written: over the line if they end at the same terminal.
func (p *meter) above(out io.Writer) io.Writer {
	if p == nil || !p.both {
		return out
	}
	return rowWriter{p, out}
}

type rowWriter struct {
	p   *meter
	out io.Writer
}

func (w rowWriter) Write(b []byte) (int, error) {
	n, err := w.p.pool.Write(b)
	if err != nil {
		return w.out.Write(b)
	}
	w.p.draw()
	return n, nil
}

func (p *meter) end() {
	if p == nil {
		return
	}
	if p.bar != nil {
		p.bar.Abort(true)
	}
	// The line is drawn once more before it goes, and a drawing has begun when the next one is accepted.
	for range 3 {
		p.draw()
	}
	_, _ = p.pool.Write(nil) // waits for the drawing in hand
	p.both = false
}
