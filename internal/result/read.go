package result

import (
	"context"
	"runtime"

	"github.com/go-json-experiment/json"

	"busbar/internal/notice"
)

// chunkRows is how many rows of a file are handed on together.
const chunkRows = 256

// reading is a file that is being read.
type reading[T any] struct {
	source *source
	chunks chan T // closed at the end of the file
	file   *File  // nil where the file has no header any more; valid once chunks is closed, as is err
	err    error
}

// read reads several files at the same time, makes a T of every few records, and hands them to use in the order of
// files and records. Problems and endings become notes. whole, unless it is nil, gets the rest of each file behind its
// records. The first error of use or whole ends it.
func read[T any](
	d *Dataset,
	how json.Options,
	take func(made T, run *Run, r *Record) T,
	use func(*source, T) error,
	whole func(*File) error,
) error {
	d.late = nil
	quit := make(chan struct{})
	defer close(quit)
	order := make(chan *reading[T], runtime.GOMAXPROCS(0))
	go func() {
		defer close(order)
		for _, s := range d.files {
			r := &reading[T]{source: s, chunks: make(chan T, 4)}
			select {
			case order <- r:
				go r.run(how, take, quit)
			case <-quit:
				return
			}
		}
	}()
	for r := range order {
		for made := range r.chunks {
			if err := use(r.source, made); err != nil {
				return err
			}
		}
		if d.late = append(d.late, r.closing()...); whole == nil || r.file == nil {
			continue
		}
		if err := whole(r.file); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading[T]) run(how json.Options, take func(T, *Run, *Record) T, quit <-chan struct{}) {
	defer close(r.chunks)
	var made, none T
	index, rows := -1, 0
	send := func() error {
		select {
		case r.chunks <- made:
			made, rows = none, 0
			return nil
		case <-quit:
			return context.Canceled
		}
	}
	r.file, r.err = scan(r.source.path, r.source.size, how, func(record *Record) error {
		if index++; r.source.drop[index] {
			return nil
		}
		made = take(made, r.source.run, record)
		if rows++; rows < chunkRows {
			return nil
		}
		return send()
	})
	if rows > 0 {
		_ = send() // the last chunk: its error stops nothing
	}
}

// closing is what is wrong with a file that was read, and how its run ended.
func (r *reading[T]) closing() []notice.Notice {
	f := r.file
	switch {
	case f == nil:
		return []notice.Notice{notice.OfError(r.source.path, r.err)}
	case r.err != nil:
		return append(f.Problems, notice.OfError(f.Path, r.err))
	case f.Run.Step != nil: // it has no rows, and who reads its steps reports how it ended
	case f.Points > 0 && (f.End == nil || f.End.Outcome != Complete):
		f.problem(0, notice.PartOfRun{Ending: f.ending(), Records: f.Points})
	}
	return f.Problems
}

// Each calls f for every row, in the order of runs and records. The error is f's.
func (d *Dataset) Each(f func(Row) error) error { return d.EachWhole(f, nil) }

// EachWhole is Each with the rest of each file: behind its rows, whole gets its run, its ranks, its end, and how many
// records it has, also those that another record replaces. The error is that of either function.
func (d *Dataset) EachWhole(f func(Row) error, whole func(*File) error) error {
	take := func(rows []Row, run *Run, r *Record) []Row { return append(rows, Row{run, r}) }
	return read(d, lenient, take, func(_ *source, rows []Row) error {
		for _, r := range rows {
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	}, whole)
}
