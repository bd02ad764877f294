package board

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func sample(n uint64) Entry {
	text := fmt.Sprint(n)
	return Entry{Rank: int(n), PID: int(n), Namespace: n, Number: n, Step: n, Iteration: n, Since: int64(n),
		Phase: strings.Repeat(text, 3), Case: strings.Repeat(text, 7), Group: strings.Repeat(text,
			2), Stage: text, LibraryError: strings.Repeat(text, 20)}
}

// private is a board in the memory of this process alone.
func private(slots int) *Board {
	return &Board{words: make([]uint64, headWords+slots*slotWords), slots: slots}
}

// Another process opens the same board, which works after its name is removed.
func TestBoardShared(t *testing.T) {
	dir := t.TempDir()
	folders := []string{filepath.Join(dir, "none"), dir}
	ours, path, err := Create(folders, "board", 3)
	must.NoError(t, err)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others may read the board", info, err)
	}
	_, _, err = Create(folders, "board", 3)
	test.ErrorIs(t, err, os.ErrExist)
	theirs, err := Open(folders, "board")
	must.NoError(t, err)
	must.NoError(t, os.Remove(path))
	if all := theirs.All(0); theirs.Slots() != 3 || len(all) != 0 {
		t.Errorf("%d slots, %v", theirs.Slots(), all)
	}
	ours.Slot(2).Write(sample(12345), 1000)
	want := map[int]Seen{2: {sample(12345), 500}}
	test.Eq(t, want, theirs.All(1500))
	ours.Slot(2).Beat(1400)
	test.EqOp(t, 100, theirs.All(1500)[2].Silence)
}

func TestInvalidFiles(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"empty": 0, "zeros": 8 * (headWords + slotWords)} {
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600))
		_, err := Open([]string{dir}, name)
		test.ErrorContains(t, err, name)
	}
	_, err := Open([]string{dir}, "missing")
	test.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = Create([]string{filepath.Join(dir, "nowhere")}, "x", 1)
	test.ErrorIs(t, err, os.ErrNotExist)
}

// Long texts are cut between letters, and leave no remains in later ones.
func TestTexts(t *testing.T) {
	s := private(1).Slot(0)
	long := "a" + strings.Repeat("é", 1000)
	s.Write(Entry{Phase: long, Case: long, Group: long, Stage: long, LibraryError: long}, 0)
	got, _ := s.Read(0)
	for text, room := range map[string]int{got.Phase: phaseBytes, got.Case: caseBytes, got.Group: groupBytes,
		got.Stage: stageBytes, got.LibraryError: saysBytes} {
		if !strings.HasPrefix(long, text) || len(text) > room || len(text) < room-1 {
			t.Errorf("%d bytes in a place of %d: %q", len(text), room, text)
		}
	}
	for range 2 { // both places
		s.Write(Entry{Phase: "check"}, 0)
	}
	if got, _ := s.Read(0); got.Phase != "check" || got.Case != "" || got.LibraryError != "" {
		t.Errorf("%+v", got)
	}
}

// A read during a write is consistent: all parts are of one entry.
func TestReadCompleteEntries(t *testing.T) {
	b := private(2)
	writer := b.Slot(1)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			seen := uint64(0)
			for {
				s, ok := b.Slot(1).Read(1 << 62)
				if ok && (!reflect.DeepEqual(s.Entry, sample(s.Number)) || s.Number < seen) {
					t.Errorf("torn, or older than %d: %+v", seen, s.Entry)
					return
				}
				seen = s.Number
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	end := time.Now().Add(300 * time.Millisecond)
	for n := uint64(1); time.Now().Before(end); n++ {
		writer.Write(sample(n), int64(n))
	}
	close(done)
	readers.Wait()
}

// A process that dies while writing leaves its previous entry.
func TestIncompleteEntry(t *testing.T) {
	s := private(1).Slot(0)
	s.Write(sample(7), 0)
	next := s.place(2)
	for i := range next {
		next[i] = ^uint64(0)
	}
	if got, ok := s.Read(0); !ok || !reflect.DeepEqual(got.Entry, sample(7)) {
		t.Errorf("%v, %+v", ok, got)
	}
}

// The first report reaches every process of the host; later ones do not replace it.
func TestFirstReportWins(t *testing.T) {
	dir := t.TempDir()
	ours, _, err := Create([]string{dir}, "board", 2)
	must.NoError(t, err)
	theirs, err := Open([]string{dir}, "board")
	must.NoError(t, err)
	test.EqOp(t, "", theirs.Reported())
	first := strings.Repeat("rank 0 ", ReportBytes/7)
	ours.Report(first + "does not answer")
	theirs.Report("another report")
	if got := theirs.Reported(); !strings.HasPrefix(got, first) || len(got) > ReportBytes {
		t.Errorf("%d bytes, want the first %d of the first report: %q", len(got), ReportBytes, got)
	}
	ours.Slot(0).Write(sample(7), 0)
	test.StrHasPrefix(t, first, theirs.Reported())
}
