package hang

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// Each host keeps a file in the results folder with what its ranks are doing, a line for each, for a person and for
// ranks of other hosts that cannot ask. It is written anew every few seconds by the lowest rank that does so: each rank
// leaves a second more to those before it.

const (
	perHost   = 50 * time.Millisecond // so that a thousand hosts are no load on a filesystem
	fileTurn  = time.Second
	leaveTime = 500 * time.Millisecond

	// WatchName and the job's number are the name of the folder of these files.
	WatchName  = "watch_"
	reasonName = "reason" // in that folder: why the run ended; the files of hosts end in .txt

	columns = "  " // between columns, and nowhere else
	nothing = "-"  // in a column
)

// hostBeat is how often a host's file is written where there are that many.
func hostBeat(hosts int) time.Duration { return max(timeout.FileBeat, time.Duration(hosts)*perHost) }

// MakeFolder makes the folder of the hosts' files in the results folder; "" where it cannot: whoever writes the results
// reports why. Rank 0 only.
func (l *Peers) MakeFolder(results string) string {
	_, err := os.Stat(results)
	l.madeOut = os.IsNotExist(err)
	folder := filepath.Join(results, WatchName+l.number)
	if os.MkdirAll(folder, 0o777) != nil {
		return ""
	}
	return folder
}

// StartFiles begins with the host's file in that folder.
func (l *Peers) StartFiles(folder string) {
	l.folder.Store(&folder)
	l.tick()
}

// RemoveFile ends this host's part in the files, after a run that ends in good order. A filesystem that does
// not answer on this host keeps the file; the results are rank 0's.
func (l *Peers) RemoveFile() {
	if l == nil {
		return
	}
	if folder := l.folder.Swap(nil); folder != nil {
		l.dropped = *folder
		briefly(timeout.RemoveFile, func() {
			l.writing <- struct{}{} // a write that has begun ends first
			_ = os.Remove(l.path(*folder, l.rank))
			<-l.writing
		})
	}
}

// RemoveFolder removes the files' folder after all hosts have ended their part; rank 0 only.
func (l *Peers) RemoveFolder() {
	if l == nil || l.dropped == "" {
		return
	}
	_ = os.RemoveAll(l.dropped)
	if l.madeOut {
		_ = os.Remove(filepath.Dir(l.dropped)) // which fails, as it should, where results are in it
	}
}

// RemoveFiles removes the files after a signal; rank 0 only. A filesystem that does not answer in time keeps them, and
// so does a launcher that kills its ranks before.
func (l *Peers) RemoveFiles() {
	if l == nil {
		return
	}
	briefly(leaveTime, func() {
		if folder := l.folder.Swap(nil); folder != nil {
			_ = os.RemoveAll(*folder)
		}
	})
}

// briefly runs what may never return, and waits for it no longer than that. It says whether it did return.
func briefly(limit time.Duration, f func()) bool {
	over := make(chan struct{})
	go func() {
		defer close(over)
		f()
	}()
	select {
	case <-over:
		return true
	case <-time.After(limit):
		return false
	}
}

// WhereToLook names the folder of the hosts' files in a sentence, "" where there is none.
func (l *Peers) WhereToLook() string {
	if l == nil {
		return ""
	}
	folder := l.folder.Load()
	if folder == nil {
		return ""
	}
	return fmt.Sprintf("rank: what every rank was doing last is in %s, a file for each host\n", *folder)
}

// tick has this rank write the host's file if it is due and nobody before has done so.
func (l *Peers) tick() {
	if l.board != nil {
		l.claim(l.beat + time.Duration(l.slot)*fileTurn)
	}
}

// hurry has the host's file written now, unless another rank of the host just did.
func (l *Peers) hurry() {
	if l != nil && l.board != nil {
		l.claim(fileTurn)
	}
}

func (l *Peers) claim(pause time.Duration) {
	if l.folder.Load() == nil || !l.board.Claim(loop.Now(), int64(pause)) {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default: // it waits for the filesystem
	}
}

// keepFile writes the host's file each time that this rank is to. A filesystem that hangs keeps nothing else waiting.
func (l *Peers) keepFile() {
	for range l.wake {
		l.writing <- struct{}{}
		if folder := l.folder.Load(); folder != nil && !exists(filepath.Join(*folder, reasonName)) {
			_ = l.writeFile(*folder) // a folder that this host does not see, or a full disk: the run goes on without
		}
		<-l.writing
	}
}

// Freeze writes the host's file a last time, before what ends the job wakes up ranks that were stopped, and beside it
// why the run ends: rank 0 may be one of those, and no host writes its file any more.
func (l *Peers) Freeze(cause notice.Fact) {
	if l == nil || l.board == nil || l.folder.Load() == nil || !l.board.Freeze() {
		return
	}
	briefly(timeout.OtherFile, func() {
		l.writing <- struct{}{}
		defer func() { <-l.writing }()
		if folder := l.folder.Load(); folder != nil && !exists(filepath.Join(*folder, reasonName)) {
			_ = l.writeFile(*folder)
			_ = os.WriteFile(filepath.Join(*folder, reasonName), []byte(notice.Kept{Fact: cause}.Line()+"\n"), 0o666)
		}
	})
}

// Reason is why another rank ends this run; nil where none does.
func (l *Peers) Reason() notice.Fact {
	found := make(chan notice.Fact, 1)
	briefly(timeout.PassOn, func() {
		defer close(found)
		if l == nil {
			return
		}
		folder := l.folder.Load() // once: who ends the run takes it away
		if folder == nil {
			return
		}
		if b, err := os.ReadFile(filepath.Join(*folder, reasonName)); err == nil {
			found <- notice.FromLine(strings.TrimSpace(string(b)))
		}
	})
	select {
	case text := <-found:
		return text
	default:
		return nil
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// path is the file of a rank's host.
func (l *Peers) path(folder string, rank int) string {
	return filepath.Join(folder, strings.ReplaceAll(l.ranks[rank].Host, "/", "_")+".txt")
}

// writeFile replaces the file whole: who reads it sees the old one or the new one.
func (l *Peers) writeFile(folder string) error {
	path := l.path(folder, l.rank)
	fresh := fmt.Sprintf("%s.%d", path, l.rank)
	err := os.WriteFile(fresh, []byte(l.text(time.Now())), 0o666)
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		_ = os.Remove(fresh)
	}
	return err
}

var columnHeads = []string{"rank", "pid", "silent for", "process", "case", "step", "iteration", "doing", "phase",
	"since", "measures", "group", "the library says"}

func (l *Peers) text(at time.Time) string {
	var b strings.Builder
	me := l.ranks[l.rank]
	fmt.Fprintf(&b, "The ranks of %s at %s, as rank %d (pid %d) sees them; written every %s while they run\n\n", me.Host,
		at.UTC().Format(time.RFC3339), me.Rank, me.PID, l.beat)
	table := tabwriter.NewWriter(&b, 0, 0, len(columns), ' ', 0)
	fmt.Fprintln(table, strings.Join(columnHeads, "\t"))
	all := l.neighbours()
	slices.SortFunc(all, compareRank)
	for _, r := range all {
		s := r.State
		cells := []string{strconv.Itoa(r.Rank), strconv.Itoa(r.PID), tenths(r.Silence), r.Process, decimal(s.Number),
			decimal(s.Step), decimal(s.Iteration),
			s.Stage, s.Phase, tenths(s.Since), s.Case, s.Group, s.Says}
		for i, c := range cells {
			if cells[i] = strings.Join(strings.Fields(c), " "); cells[i] == "" {
				cells[i] = nothing
			}
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	_ = table.Flush() // into memory
	return b.String()
}

func tenths(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

var gap = regexp.MustCompile(columns + " *")

// parseHostFile reads the ranks of a host's file; the lines that are none are passed over.
func parseHostFile(text string, ranks []launch.RankFacts) (all []launch.Report) {
	for line := range strings.Lines(text) {
		cells := gap.Split(strings.TrimSpace(line), -1)
		if len(cells) != len(columnHeads) {
			continue
		}
		for i := range cells {
			if cells[i] == nothing {
				cells[i] = ""
			}
		}
		var bad bool
		whole := func(s string) uint64 {
			n, err := strconv.ParseUint(s, 10, 63)
			bad = bad || err != nil
			return n
		}
		span := func(s string) time.Duration {
			d, err := time.ParseDuration(s)
			bad = bad || err != nil
			return d
		}
		r := launch.Report{Rank: int(whole(cells[0])), PID: int(whole(cells[1])), Silence: span(cells[2]), Process: cells[3]}
		r.State = launch.State{Number: whole(cells[4]), Step: whole(cells[5]), Iteration: whole(cells[6]), Stage: cells[7],
			Phase: cells[8],
			Since: span(cells[9]), Case: cells[10], Group: cells[11], Says: cells[12]}
		if bad || r.Rank >= len(ranks) {
			continue
		}
		r.Host = ranks[r.Rank].Host
		r.State.Rank, r.State.Host = r.Rank, r.Host
		all = append(all, withStanding(r))
	}
	return all
}

// withStanding completes a report by how the rank stands, from its silence and what is known of its process.
func withStanding(r launch.Report) launch.Report {
	switch {
	case r.Silence < timeout.Ask:
		r.Standing = launch.Answered
	case r.Process == processGone && r.State.Phase == PhaseFinalize:
		r.Standing = launch.Left
	case r.Process == processGone:
		r.Standing, r.At = launch.Gone, time.Now().Add(-r.Silence)
	default:
		r.Standing = launch.Silent
	}
	return r
}

// readTime is how long the files of other hosts are waited for.
func (l *Peers) readTime() time.Duration { return l.beat + 2*timeout.FileSlack }

// readFiles reads the files of the hosts with ranks that are not clear. A filesystem that does not answer ends it, and
// where its clock cannot be read the age of its files is not known, so that they say nothing.
func (l *Peers) readFiles(known map[int]launch.Report, hung time.Duration) (all [][]launch.Report) {
	var first []int // rank of each such host
	read := map[string]bool{l.ranks[l.rank].Host: true}
	for rank := range l.ranks {
		if r := known[rank]; unclear(r) && !read[r.Host] {
			read[r.Host] = true
			first = append(first, rank)
		}
	}
	found := make(chan []launch.Report, len(first))
	briefly(l.readTime(), func() {
		folder := l.folder.Load()
		if folder == nil {
			return
		}
		ahead, err := clockAhead(*folder)
		if err != nil {
			return
		}
		for _, rank := range first {
			found <- l.strangers(*folder, rank, hung, ahead)
		}
	})
	for range len(found) {
		all = append(all, <-found)
	}
	return all
}

// strangers are the ranks of another rank's host by that host's file, none where there is no file. Its ranks write it
// when something hangs, and every beat anyway; so a file from before this rank began to wait, which is as long ago as
// hung says, is waited for, and after a beat it is the silence of all of them. ahead is clockAhead.
func (l *Peers) strangers(folder string, rank int, hung, ahead time.Duration) []launch.Report {
	for start := time.Now(); ; time.Sleep(Tick) {
		text, written, err := readFile(l.path(folder, rank))
		if err != nil {
			return nil
		}
		age := max(0, time.Since(written)+ahead)
		overdue := age > l.beat+timeout.FileSlack
		if age > hung+time.Since(start) && !overdue {
			continue
		}
		all := parseHostFile(text, l.ranks)
		for i := range all {
			r := &all[i]
			if overdue || r.Standing != launch.Answered {
				r.Silence += age
				*r = withStanding(*r)
			} else {
				r.State.Since += age
			}
		}
		return all
	}
}

// readFile is a file and when it was written.
func readFile(path string) (text string, written time.Time, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", time.Time{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", time.Time{}, err
	}
	return string(b), info.ModTime(), nil
}

// clockAhead is how far the clock of a folder's filesystem is ahead of this host's, by a file written there. It is
// written with a word in it: a disk that is full takes empty files.
func clockAhead(folder string) (ahead time.Duration, err error) {
	f, err := os.CreateTemp(folder, "clock")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it goes with the folder
	_, err = f.WriteString("now\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	info, err := os.Stat(f.Name())
	if err != nil {
		return 0, err
	}
	return time.Until(info.ModTime()), nil
}
