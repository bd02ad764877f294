// Package board is memory that the processes of one host share. Each process writes its current activity into a slot of
// its own. Any process reads the last entry of all, also of one that is stopped, hangs, or has exited.
//
// It knows only the numbers of ranks and interprets nothing. Times are nanoseconds of a clock that all processes of the
// host share; the caller reads it.
package board

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Board is the slots of one host. Its methods may be called from any goroutine, but for Slot.Write and Slot.Beat.
type Board struct {
	words []uint64 // of 64 bits, each read and written atomically
	slots int
}

// A board begins with lines of its own, so that what is written there does not touch a slot's: first the numbers, then
// the report.
const (
	headWords = lineWords + reportWords
	lineWords = 16 // two cache lines, which processors fetch together

	magicWord = 0
	slotsWord = 1

	reportWord  = lineWords // the state of the report; its text follows
	reportWords = 32 * lineWords

	magic = 0x3264726f62737562 // "busbord2"

	// ReportBytes is the room for a report.
	ReportBytes = 8 * (reportWords - 2)
)

// The states of the report.
const (
	noReport = iota
	reportBegun
	reported
)

// Create makes a board of that name in the first writable folder and returns its path. Remove the file as soon as all
// processes have opened it: mapped memory needs no name.
func Create(folders []string, name string, slots int) (b *Board, path string, err error) {
	var errs []error
	for _, folder := range folders {
		path = filepath.Join(folder, name)
		if b, err = create(path, slots); err == nil {
			return b, path, nil
		}
		errs = append(errs, err)
	}
	return nil, "", errors.Join(errs...)
}

func create(path string, slots int) (*Board, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := 8 * (headWords + slots*slotWords)
	// Written, not only made longer: in a full /dev/shm a page that is not there yet would end the process when it is
	// touched.
	_, err = f.Write(make([]byte, size))
	var b *Board
	if err == nil {
		b, err = mapped(f, size)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(path))
	}
	b.slots = slots
	atomic.StoreUint64(&b.words[slotsWord], uint64(slots))
	atomic.StoreUint64(&b.words[magicWord], magic)
	return b, nil
}

// Open opens the board of that name in the first folder that has it.
func Open(folders []string, name string) (*Board, error) {
	var errs []error
	for _, folder := range folders {
		b, err := open(filepath.Join(folder, name))
		if err == nil {
			return b, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func open(path string) (*Board, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := mapped(f, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b.slots = int(atomic.LoadUint64(&b.words[slotsWord]))
	if atomic.LoadUint64(&b.words[magicWord]) != magic || len(b.words) != headWords+b.slots*slotWords {
		return nil, fmt.Errorf("%s is no board of this build", path)
	}
	return b, nil
}

// mapped is a file's bytes as words. They stay mapped until the process ends: a reader may be among them at any time.
func mapped(f *os.File, size int) (*Board, error) {
	if size < 8*headWords {
		return nil, fmt.Errorf("%d bytes are too short", size)
	}
	bytes, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &Board{words: unsafe.Slice((*uint64)(unsafe.Pointer(&bytes[0])), size/8)}, nil
}

// Slots is how many slots there are.
func (b *Board) Slots() int { return b.slots }

// Slot is the i-th slot, from 0.
func (b *Board) Slot(i int) *Slot {
	at := headWords + i*slotWords
	return &Slot{words: b.words[at : at+slotWords]}
}

// All reads the slots that were written, by slot.
func (b *Board) All(now int64) map[int]Seen {
	all := map[int]Seen{}
	for i := range b.slots {
		if s, ok := b.Slot(i).Read(now); ok {
			all[i] = s
		}
	}
	return all
}

// Report writes, for all processes of the host, why one of them ends the run. Only the first report counts. It is cut
// where it is longer than ReportBytes.
func (b *Board) Report(text string) {
	state := &b.words[reportWord]
	if atomic.CompareAndSwapUint64(state, noReport, reportBegun) {
		writeText(b.words[reportWord+1:], text, ReportBytes)
		atomic.StoreUint64(state, reported)
	}
}

// Reported returns the report, or "".
func (b *Board) Reported() string {
	if atomic.LoadUint64(&b.words[reportWord]) != reported {
		return ""
	}
	return readText(b.words[reportWord+1:], ReportBytes)
}
