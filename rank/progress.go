package main

import (
	"fmt"
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"

	"busbar/internal/coll"
	"busbar/mpi"
)

// meter is the line on a terminal: points done, time left, the point in hand. It is drawn only between cases, so
// that no goroutine works while something is timed. A nil meter shows nothing.
type meter struct {
	pool    *mpb.Progress
	bar     *mpb.Bar
	refresh chan any
	text    string
	both    bool // results go to the same terminal, so rows have to be drawn above the line
}

// newMeter returns nil when stderr does not end at a terminal.
func newMeter(l mpi.Launch, stderr io.Writer) *meter {
	width, results := terminal(l)
	if width == 0 {
		return nil
	}
	p := &meter{refresh: make(chan any), both: results}
	p.pool = mpb.New(mpb.WithOutput(stderr), mpb.WithWidth(min(width, 80)), mpb.WithManualRefresh(p.refresh))
	return p
}

// terminal is the width of the terminal that stderr ends at, 0 if it ends elsewhere, and whether stdout ends there too.
// Under a launcher a rank writes to pipes (or to a terminal of the launcher's making); what counts is the launcher's own.
func terminal(l mpi.Launch) (width int, stdout bool) {
	at := "/proc/self/fd/"
	if l.Rank >= 0 {
		at = fmt.Sprintf("/proc/%d/fd/", os.Getppid())
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

func (p *meter) total(n int) {
	if p == nil {
		return
	}
	if p.bar != nil {
		p.bar.Abort(true)
	}
	p.bar = p.pool.New(int64(n), mpb.BarStyle().Lbound("").Rbound("").Filler("=").Tip(">").Padding(" "), mpb.BarWidth(12), mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.text })))
}

func (p *meter) show(pace *pace, c coll.Case) {
	if p == nil || p.bar == nil {
		return
	}
	p.text = clip(fmt.Sprintf(" %d/%d, %s left: %s", pace.done, pace.planned, clock(pace.eta()), c), 64)
	p.bar.SetCurrent(int64(pace.done))
	p.refresh <- nil
}

// above is where rows are written: over the line if they end at the same terminal.
func (p *meter) above(out io.Writer) io.Writer {
	if p == nil || !p.both {
		return out
	}
	return rowWriter{p}
}

type rowWriter struct{ p *meter }

func (w rowWriter) Write(b []byte) (int, error) {
	n, err := w.p.pool.Write(b)
	w.p.refresh <- nil
	return n, err
}

func (p *meter) end() {
	if p == nil {
		return
	}
	if p.bar != nil {
		p.bar.Abort(true)
	}
	p.refresh <- nil
	p.both = false
}
