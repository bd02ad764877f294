// Package hang finds out which ranks a run waits for: a watchdog on every rank, a board in the memory of each host, and
// the diagnosis of what ranks report of themselves. Between hosts they report over the control channel of rank/launch.
package hang

import (
	"sync"
	"time"

	"busbar/internal/board"
	"busbar/internal/loop"
	"busbar/rank/launch"
)

// Watchdog knows what this rank is doing and since when, and writes it on the board of its host. When a phase outlasts
// its limit it calls onHang, once, from a separate goroutine: the rank may hang inside a library.
//
// The limit of a phase is the larger of --deadline and ten times what the phase is expected to take, so that a
// large case is not killed.
type Watchdog struct {
	deadline time.Duration
	onHang   func(launch.State)

	mu        sync.Mutex
	now       launch.State
	since     time.Time
	limit     time.Duration // 0: this phase may last
	lastError func() string // returns the library's last error; nil: it has none
	onPhase   func(string)  // passes each phase to a simulation, for faults in a phase; nil: no simulation
	loop      *loop.Loop
	step      positioned // nil: no training step is in hand
	// broken is called once when an operation of the loop has failed and the loop waits for ranks that may not know.
	broken func()

	post  *poster // nil: there is no board
	alarm string  // the library's error at the timeout
}

// positioned reports its progress, from any goroutine.
type positioned interface {
	Position() (part uint64, doing string)
}

// poster writes on a board what this rank is doing.
type poster struct {
	slot  *board.Slot
	owner board.Entry // who the slot belongs to
	peers *Peers      // the others of the host
}

const (
	// Tick is how often the watchdog looks, and a rank shows on the board that it lives.
	Tick       = 500 * time.Millisecond
	watchTimes = 10 // times what is expected
	// WatchGap is the largest gap between two ticks. A longer one means that this process was stopped or suspended
	// itself, so its own clock is no measure of the others.
	WatchGap = 10 * Tick
)

// NewWatchdog starts a watchdog. deadline is the limit of a phase, in which onHang is called when it is over.
func NewWatchdog(deadline time.Duration, onHang func(launch.State)) *Watchdog {
	w := &Watchdog{deadline: deadline, onHang: onHang, since: time.Now()}
	go w.watch()
	return w
}

// Phase implements bench.Watch.
func (w *Watchdog) Phase(name string, expected time.Duration) {
	w.set(name, max(w.deadline, watchTimes*expected))
}

// Rest is a phase without a limit: an idle rank waits for others as long as they measure.
func (w *Watchdog) Rest(name string) { w.set(name, 0) }

// Again restarts the deadline of the phase that the watchdog reported, unless the phase has ended.
func (w *Watchdog) Again(of launch.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.Number != of.Number || w.now.Step != of.Step || w.now.Phase != of.Phase {
		return
	}
	w.limit = time.Since(w.since) + w.deadline
}

func (w *Watchdog) set(name string, limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.onPhase != nil {
		w.onPhase(name)
	}
	w.now.Phase, w.now.Limit, w.since, w.limit, w.alarm = name, 0, time.Now(), limit, ""
	if limit > w.deadline {
		w.now.Limit = limit
	}
	w.now.Step++
	w.write()
}

// Case sets the current case; the number grows by one with each, on every rank alike. Empty: no case.
func (w *Watchdog) Case(number uint64, text string) { w.CaseOf(number, text, "") }

// CaseOf is Case where groups measure at the same time.
func (w *Watchdog) CaseOf(number uint64, text, group string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.Number, w.now.Case, w.now.Group, w.now.Step = number, text, group, 0
	w.write()
}

// Post has what this rank is doing written on a board from now on.
func (w *Watchdog) Post(p *poster) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.post = p
	w.write()
}

// write requires w.mu.
func (w *Watchdog) write() {
	if w.post == nil {
		return
	}
	s, now := w.position(), loop.Now()
	e := w.post.owner
	e.Number, e.Step, e.Iteration, e.Since = s.Number, s.Step, s.Iteration, now-int64(time.Since(w.since))
	e.Phase, e.Case, e.Group, e.Stage, e.LibraryError = s.Phase, s.Case, s.Group, s.Stage, w.alarm
	w.post.slot.Write(e, now)
}

// Attach lets the watchdog see the iteration of a loop, and has broken called (nil: nothing) where its operation fails
// while it goes on; a nil loop takes the loop away before it is closed.
func (w *Watchdog) Attach(l *loop.Loop, broken func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loop, w.broken = l, broken
}

// InStep lets the watchdog see how far a training step is; nil takes that away before it is closed.
func (w *Watchdog) InStep(p positioned) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step = p
}

// Listen sets a function that returns the library's last error for State, and onPhase, called with each phase (nil:
// not called). Neither may wait.
func (w *Watchdog) Listen(lastError func() string, onPhase func(string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastError, w.onPhase = lastError, onPhase
}

// State returns what this rank is doing and which ranks of its host are silent, from any goroutine.
func (w *Watchdog) State() launch.State {
	s, peers := w.state()
	for _, r := range peers.neighbours() {
		if r.Standing == launch.Silent {
			s.Silent = append(s.Silent, r)
		}
	}
	return s
}

// state returns what this rank is doing, and the board of its host or nil.
func (w *Watchdog) state() (s launch.State, peers *Peers) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s = w.position()
	if w.post != nil {
		peers = w.post.peers
	}
	if w.lastError != nil {
		s.LibraryError = w.lastError()
	}
	return s, peers
}

// position is State without the library's error; the caller holds w.mu.
func (w *Watchdog) position() launch.State {
	s := w.now
	s.Since = time.Since(w.since)
	if w.step != nil {
		s.Iteration, s.Stage = w.step.Position()
	} else if w.loop != nil {
		at, stage := w.loop.Position()
		s.Iteration = at
		if stage != loop.Idle {
			s.Stage = stage.String()
		}
	}
	return s
}

func (w *Watchdog) watch() {
	last := time.Now()
	for now := range time.Tick(Tick) {
		gap := now.Sub(last)
		last = now
		w.mu.Lock()
		if gap > WatchGap {
			w.since = now
		}
		over := w.limit > 0 && now.Sub(w.since) > w.limit
		if over {
			w.limit = 0
			if w.lastError != nil {
				w.alarm = w.lastError()
			}
		}
		var broken func()
		if w.loop != nil && w.broken != nil && w.loop.Broken() {
			broken, w.broken = w.broken, nil
		}
		w.write()
		w.mu.Unlock()
		// In goroutines: they may wait, and this one is the rank's heartbeat.
		if broken != nil {
			go broken()
		}
		if over {
			go w.onHang(w.State())
		}
	}
}
