package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// NewID returns a UUID of version 7, whose text sorts by time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Writer writes the file of one run and keeps its text view beside it. It is safe for concurrent use: a signal's
// goroutine may write the end while a record is being appended.
type Writer struct {
	// Warn reports what went wrong without losing a record: the text view cannot be drawn, the times of all ranks are
	// not kept. Set it before the first Append; what Create had to report comes then.
	Warn func(string)

	mu      sync.Mutex
	run     Run
	head    []byte // the run's and the ranks' lines
	file    *lineFile
	sidecar *lineFile // nil until there is a line for it
	rescue  *lineFile // nil until something failed
	failed  *WriteError
	kept    int // records in file, each round of a step among them
	last    int // number of the last record
	points  map[Status]int
	ended   bool
	pending []string // for Warn, once mu is free

	text textFile
}

// Create makes the file of one run in dir, with its header: its name has backend, world and start. Kind and Schema are
// filled in, and ID and Start when empty. An error names the path.
func Create(dir string, run Run, ranks []Rank) (*Writer, error) {
	run.Kind, run.Schema = KindRun, Schema
	if run.ID == "" {
		run.ID = NewID()
	}
	if run.Start.IsZero() {
		run.Start = time.Now()
	}
	run.Start = run.Start.UTC()
	w := &Writer{run: run, points: map[Status]int{}}
	if err := w.header(ranks); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("results folder %s: %w; name another with --out", dir, plain(err))
	}
	err := freshName(dir, &w.run, func(path string) (err error) {
		w.file, err = createLineFile(path, w.head)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("results folder %s: cannot make a file: %w; name another with --out", dir, plain(err))
	}
	w.text = textFile{view: newTextView(&w.run, ranks), path: beside(w.file.path, textSuffix)}
	w.drawText(true)
	return w, nil
}

func (w *Writer) header(ranks []Rank) (err error) {
	if w.head, err = encodeLine(&w.run); err != nil {
		return fmt.Errorf("the run's line: %w", err)
	}
	for _, r := range ranks {
		r.Kind = KindRank
		line, err := encodeLine(&r)
		if err != nil {
			return fmt.Errorf("the line of rank %d: %w", r.Rank, err)
		}
		w.head = append(w.head, line...)
	}
	return nil
}

// Path is the file's path.
func (w *Writer) Path() string { return w.file.path }

// Append fills in what the file decides of a record (Kind, Run, the number N of a collective's and, when empty, At),
// writes it as one line and returns when the disk has it. The error is a *WriteError, also for each record after one
// that failed; or ErrEnded.
func (w *Writer) Append(e Entry) error { return w.AppendRanks(e, AllRanks{}) }

// AppendRanks is Append for a world of more than MaxInlineRanks ranks: the times of all ranks go into the sidecar,
// which r.Ranks.Sidecar then names. When the sidecar cannot be written, that is a warning.
func (w *Writer) AppendRanks(e Entry, all AllRanks) error {
	return w.locked(func() error { return w.append(e, all) })
}

// AppendRound writes one round of a point (Kind is filled in) and returns when the disk has it. Errors are those of
// Append.
func (w *Writer) AppendRound(r *StepRound) error {
	return w.locked(func() error {
		r.Kind = KindRound
		line, err := encodeLine(r)
		if err != nil {
			return fmt.Errorf("round %d of point %d: %w", r.Number, r.N, err)
		}
		return w.keep(line, 1)
	})
}

// TraceFolder is the path of the folder for trace files of ranks, which is beside the file. It is not made here.
func (w *Writer) TraceFolder() string { return beside(w.Path(), "_trace") }

// locked adds a line, and then draws the text view if that is due.
func (w *Writer) locked(add func() error) error {
	w.mu.Lock()
	err := ErrEnded
	if !w.ended {
		err = add()
	}
	w.mu.Unlock()
	w.drawText(false)
	return err
}

func (w *Writer) append(e Entry, all AllRanks) error {
	e.stamp(w.last+1, w.run.ID, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	if r, ok := e.(*Record); ok && all.Median != nil && w.failed == nil {
		w.keepRanks(r, all)
	}
	line, err := encodeLine(e)
	if unsupported := new(json.UnsupportedValueError); errors.As(err, &unsupported) {
		e.withoutValues()
		line, err = encodeLine(e)
	}
	if err != nil {
		return fmt.Errorf("record %d: %w", w.last+1, err)
	}
	w.last++
	w.points[e.State()]++
	w.text.change(func(v *textView) { v.addEntry(e) })
	return w.keep(line, 1)
}

// keep writes one line where it belongs or, failing that, into the rescue file.
func (w *Writer) keep(line []byte, records int) error {
	if w.failed != nil {
		w.save(line, records)
		return w.failed
	}
	if err := w.file.append(line); err != nil {
		w.failed = &WriteError{Path: w.file.path, Kept: w.kept, Err: err}
		w.save(append(slices.Clone(w.head), line...), records)
		return w.failed
	}
	w.kept += records
	if w.file.present() {
		return nil
	}
	w.failed = &WriteError{Path: w.file.path, Gone: true, Err: fs.ErrNotExist}
	all, err := w.file.lines()
	if err != nil { // a network filesystem that forgets removed files
		all = append(slices.Clone(w.head), line...)
		w.kept = records
	}
	w.save(all, w.kept)
	return w.failed
}

// save puts lines into the rescue file, a run's file of its own that post reads like any other.
func (w *Writer) save(lines []byte, records int) {
	err := w.failed.RescueErr
	if w.rescue == nil && err == nil {
		for _, dir := range rescueDirs() {
			path := filepath.Join(dir, "busbar-rescue-"+w.run.ID+linesSuffix)
			if w.rescue, err = createLineFile(path, lines); err == nil {
				w.failed.Rescue = path
				break
			}
		}
	} else if w.rescue != nil {
		err = w.rescue.append(lines)
	}
	if err != nil {
		w.failed.RescueErr = err
		return
	}
	w.failed.Rescued += records
}

// keepRanks writes a record's line of the sidecar.
func (w *Writer) keepRanks(r *Record, all AllRanks) {
	line, err := encodeLine(&RankTimes{Kind: KindRanks, Run: w.run.ID, N: r.N, Median: sixDigits(all.Median),
		Late: sixDigits(all.Late)})
	switch {
	case err != nil:
	case w.sidecar == nil:
		w.sidecar, err = createLineFile(beside(w.file.path, ranksSuffix), line)
	default:
		err = w.sidecar.append(line)
	}
	if err != nil {
		w.pending = append(w.pending, fmt.Sprintf("the times of all ranks of record %d are not kept: %v", r.N, err))
		return
	}
	if r.Ranks == nil {
		r.Ranks = &Ranks{Latest: -1}
	}
	r.Ranks.Sidecar = filepath.Base(w.sidecar.path)
}

// End writes the last line, closes the file and draws the text view. Kind is filled in, and At and Points when empty. A
// second End does nothing. The error is a *WriteError; which states where the records are.
func (w *Writer) End(e End) error {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return nil
	}
	e.Kind = KindEnd
	if e.At.IsZero() {
		e.At = time.Now().UTC().Truncate(time.Millisecond)
	}
	if e.Points == nil {
		e.Points = w.points
	}
	line, err := encodeLine(&e)
	if err == nil {
		if w.failed != nil && !w.failed.Gone {
			_ = w.file.append(line) // beside the rescue file: a short line may still fit
		}
		err = w.keep(line, 0)
	}
	w.ended = true
	for _, f := range []*lineFile{w.file, w.sidecar, w.rescue} {
		if f != nil {
			_ = f.disk.Close() // all of it is synced
		}
	}
	w.mu.Unlock()
	w.text.change(func(v *textView) { v.end = &e })
	w.drawText(true)
	return err
}

// drawText draws the text view, always or when it is due, and passes on what is to be warned of.
func (w *Writer) drawText(always bool) {
	err := w.text.draw(always)
	w.mu.Lock()
	if err != nil {
		w.pending = append(w.pending,
			fmt.Sprintf("the text view is not drawn: %v (the records are safe; `post show` draws them)", err))
	}
	var warnings []string
	if w.Warn != nil { // what Create has to report waits for it
		warnings, w.pending = w.pending, nil
	}
	w.mu.Unlock()
	for _, text := range warnings {
		w.Warn(text)
	}
}
