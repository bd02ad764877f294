package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// State is how far a launch is.
type State uint8

// The states. Results files decide between the first three.
const (
	Missing    State = iota // it has no results
	Unfinished              // it began, and has no end, or was interrupted or aborted
	Done                    // it completed, with any status of its points
	Queued                  // it is not done, and its job is in the queue
)

var states = []string{"missing", "unfinished", "done", "queued"}

func (s State) String() string { return states[s] }

// MarshalText returns the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Progress is the state of one launch.
type Progress struct {
	Launch
	State  State
	Found  notice.Fact // why it is not done, or that points failed; nil where nothing is to be reported
	Points int         // with a record that counts
	Bad    int         // of these: failed, out of memory, timed out or wrong
}

// RefusedFile is where the job script writes, in a launch's folder, that rank refused to measure.
const RefusedFile = "refused.txt"

// Look reads the state of a launch from its folder. A file that cannot be read is an error, not an absence: the launch
// would be measured twice.
func Look(l Launch, campaign string) (Progress, error) {
	p := Progress{Launch: l}
	dir := l.Dir(campaign)
	files, unread, err := result.Search(dir)
	var none *result.NotFoundError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case len(unread) > 0:
		return p, fmt.Errorf("the state of %s: %s", l, unread[0].Text())
	case err != nil && !errors.As(err, &none):
		return p, fmt.Errorf("the state of %s: %w", l, err)
	}
	// Folders in it are other variants', where the plan had some once.
	files = slices.DeleteFunc(files, func(path string) bool { return filepath.Dir(path) != dir })
	if len(files) == 0 {
		p.Found, err = refused(dir)
		return p, err
	}
	p.State = Unfinished
	c := &chain{newest: map[part]*result.File{}}
	for _, path := range files {
		f, err := result.Scan(path, func(*result.Record) error { return nil })
		var unusable *result.FileError
		switch {
		case errors.As(err, &unusable) && unusable.HeaderTorn():
			continue // killed while it wrote its first line
		case err != nil:
			return p, fmt.Errorf("the state of %s: %w", l, err)
		}
		c.add(f)
	}
	if len(c.newest) > 0 {
		err = p.count(files)
	}
	if p.Found = c.lacking(p.Points); p.Found == nil {
		p.State = Done
		if p.Bad > 0 {
			p.Found = notice.LaunchPointsFailed{Failed: p.Bad, Points: p.Points}
		}
	}
	return p, err
}

// count counts the launch's points as merging them would.
func (p *Progress) count(files []string) error {
	data, err := result.Merge(files, result.MergeOptions{IncludeRehearsed: true})
	if err != nil {
		return fmt.Errorf("the points of %s: %w", p.Launch, err)
	}
	trained, _ := result.ReadStepRuns(data.StepFiles()) // all were read before
	steps, _ := result.MergeSteps(trained)
	for _, s := range steps {
		p.point(s.Record.Status)
	}
	return data.Each(func(r result.Row) error {
		p.point(r.Record.Status)
		return nil
	})
}

func (p *Progress) point(s result.Status) {
	p.Points++
	switch s {
	case result.OOM, result.Timeout, result.Wrong, result.Failed:
		p.Bad++
	}
}

// refused is why a launch has no results, where the job script recorded it.
func refused(dir string) (notice.Fact, error) {
	text, err := os.ReadFile(filepath.Join(dir, RefusedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return notice.LaunchRefused{Reason: strings.TrimSpace(string(text))}, err
}

// part is a unit of a launch with its own file.
type part struct {
	backend string
	world   int
}

// chain is the combined content of one launch's folder: the files of the launch and of its continuations.
type chain struct {
	newest map[part]*result.File
	first  *result.File
}

func (c *chain) add(f *result.File) {
	k := part{f.Run.Backend.Name, f.Run.World}
	if n := c.newest[k]; n == nil || n.Run.Start.Before(f.Run.Start) {
		c.newest[k] = f
	}
	if c.first == nil || f.Run.Start.Before(c.first.Run.Start) {
		c.first = f
	}
}

// lacking is why a launch with so many points is not done; nil where it is. A launch with several worlds or backends is
// done when all of them are, also those that it had not begun when it was cut off.
func (c *chain) lacking(points int) notice.Fact {
	if c.first == nil {
		return notice.LaunchCutOff{Start: true}
	}
	for _, k := range c.expected() {
		f := c.newest[k]
		switch {
		case f == nil:
			return notice.LaunchCutOff{Backend: k.backend, World: k.world, Points: points}
		case f.End == nil:
			return notice.LaunchCutOff{Points: points}
		case f.End.Outcome != result.Complete:
			return notice.LaunchStopped{
				Outcome: string(f.End.Outcome), Exit: f.End.Code, Cause: f.End.Cause, Points: points,
			}
		}
	}
	return nil
}

func (c *chain) expected() (parts []part) {
	backends, worlds := c.first.Run.Interleaved, c.first.Run.Worlds
	if len(backends) == 0 {
		backends = []string{c.first.Run.Backend.Name}
	}
	if len(worlds) == 0 {
		worlds = []int{c.first.Run.World}
	}
	for _, w := range worlds {
		for _, b := range backends {
			parts = append(parts, part{b, w})
		}
	}
	for k := range c.newest {
		if !slices.Contains(parts, k) {
			parts = append(parts, k)
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(a.world-b.world, cmp.Compare(a.backend, b.backend)) })
	return parts
}
