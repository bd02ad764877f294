package result

import (
	"bufio"
	"errors"
	"os"
	"sync"
	"time"
)

// drawShare is how many times longer than one drawing takes the next has to wait: a text view of thousands of points
// takes no more than a twentieth of a run's time.
const drawShare = 20

// textFile keeps the text view of a run that is being written.
type textFile struct {
	mu     sync.Mutex
	view   *textView
	path   string
	due    time.Time
	warned string // the last error that was handed on
}

var now = time.Now

// change adds to the view.
func (t *textFile) change(how func(*textView)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	how(t.view)
}

// draw writes the view when it is due, or always. An error that was returned before is not returned again.
func (t *textFile) draw(always bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	begin := now()
	if !always && begin.Before(t.due) {
		return nil
	}
	err := t.write()
	end := now()
	t.due = end.Add(drawShare * end.Sub(begin))
	if err == nil || err.Error() == t.warned {
		return nil
	}
	t.warned = err.Error()
	return err
}

// write replaces the file at once, so that a reader never sees half of it.
func (t *textFile) write() error {
	temporary := t.path + ".tmp"
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	t.view.draw(b)
	err = errors.Join(b.Flush(), f.Close())
	if err == nil {
		err = os.Rename(temporary, t.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}
