package result

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
)

// batchBytes is about how much of a file one worker takes at a time.
const batchBytes = 256 << 10

// batch is some lines of one file behind its header.
type batch struct {
	source *source
	lines  []byte // each with its newline, but for a torn one
	first  int    // number of the first line
	torn   bool   // the last line has no newline
	second bool   // a second run begins behind the last line
	last   bool   // nothing of the file comes behind
	err    error  // of reading
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// borrow returns an empty buffer, which giveBack takes when nothing refers to it any more.
func borrow() []byte { return (*buffers.Get().(*[]byte))[:0] }

func giveBack(b []byte) { buffers.Put(&b) }

// each hands the lines of the batch to f, with their numbers.
func (b *batch) each(f func(line []byte, n int, whole bool)) {
	rest := b.lines
	for n := b.first; len(rest) > 0; n++ {
		line, tail, whole := bytes.Cut(rest, []byte{'\n'})
		f(line, n, whole)
		rest = tail
	}
}

// inOrder reads files in batches, has each worked on by one of several goroutines, and hands the results to consume in
// the order of the files. What work keeps of a batch must be a copy. The first error of consume ends it.
func inOrder[T any](files []*source, work func(*batch) T, consume func(*batch, T) error) error {
	type job struct {
		batch batch
		done  chan T
	}
	workers := runtime.GOMAXPROCS(0)
	jobs, order, quit := make(chan *job), make(chan *job, 2*workers), make(chan struct{})
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for j := range jobs {
				j.done <- work(&j.batch)
			}
		})
	}
	wait.Go(func() {
		defer close(order)
		defer close(jobs)
		send := func(b batch) bool {
			j := &job{b, make(chan T, 1)}
			select {
			case order <- j:
			case <-quit:
				return false
			}
			jobs <- j
			return true
		}
		for _, s := range files {
			if !s.batches(send) {
				return
			}
		}
	})
	var err error
	for j := range order {
		result := <-j.done
		if err == nil {
			if err = consume(&j.batch, result); err != nil {
				close(quit)
			}
		}
		giveBack(j.batch.lines)
	}
	wait.Wait()
	return err
}

// batches cuts the file into batches; it returns false as soon as send does. An error is the last batch.
func (s *source) batches(send func(batch) bool) bool {
	f, err := os.Open(s.path)
	if err != nil {
		return send(batch{source: s, err: err, last: true})
	}
	defer f.Close()
	lines := newLineReader(io.LimitReader(f, s.size))
	defer lines.release()
	if _, _, err = lines.next(0); err != nil { // the header
		if errors.Is(err, io.EOF) {
			err = errors.New("the file was emptied since")
		}
		return send(batch{source: s, err: err, last: true})
	}
	for err == nil {
		b := batch{source: s, lines: borrow(), first: lines.n + 1}
		for len(b.lines) < batchBytes && !b.torn {
			var line []byte
			var whole bool
			if line, whole, err = lines.next(0); err != nil {
				break
			}
			if b.second = bytes.HasPrefix(line, []byte(`{"kind":"run"`)); b.second {
				err = io.EOF
				break
			}
			b.lines = append(b.lines, line...)
			if b.torn = !whole; whole {
				b.lines = append(b.lines, '\n')
			}
		}
		if b.last = err != nil; b.last && !errors.Is(err, io.EOF) {
			b.err = err
		}
		if !send(b) {
			return false
		}
	}
	return true
}
