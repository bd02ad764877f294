package board

import (
	"encoding/binary"
	"strings"
	"sync/atomic"
	"time"
)

// Entry is a process's current activity.
type Entry struct {
	Rank, PID               int
	Namespace               uint64 // of process ids: in another one, the id is meaningless
	Number, Step, Iteration uint64
	Since                   int64  // when the phase began
	Phase, Case, Group      string // cut where they are longer than their place, as are the others
	Stage, LibraryError     string
}

// Seen is an entry as another process reads it.
type Seen struct {
	Entry
	Silence time.Duration // since the last beat
}

// Slot is the place of one process, the only writer, from one goroutine at a time.
//
// An entry is in one of two places in turn, and the version selects it. So a process that is stopped or killed during a
// write leaves its last complete entry.
type Slot struct{ words []uint64 }

// The words of a slot. The beat has lines of its own: it is written while nothing else changes.
const (
	beatWord    = 0
	versionWord = 1 // number of entries written; the last lies in place version % 2
	slotWords   = lineWords + 2*entryWords

	entryWords = 8 * lineWords // 1 KiB
	numbers    = 7             // words of an entry before its texts
)

// Bytes of the texts of an entry, each after a word with its length.
const (
	phaseBytes = 72
	caseBytes  = 296
	groupBytes = 120
	stageBytes = 96
	saysBytes  = 336
)

var textBytes = [...]int{phaseBytes, caseBytes, groupBytes, stageBytes, saysBytes}

// Beat records that the process is alive.
func (s *Slot) Beat(now int64) { atomic.StoreUint64(&s.words[beatWord], uint64(now)) }

// Write replaces the entry, and is a beat.
func (s *Slot) Write(e Entry, now int64) {
	next := atomic.LoadUint64(&s.words[versionWord]) + 1
	place := s.place(next)
	for i, n := range [numbers]uint64{uint64(e.Rank), uint64(e.PID), e.Namespace, e.Number, e.Step, e.Iteration,
		uint64(e.Since)} {
		atomic.StoreUint64(&place[i], n)
	}
	at := numbers
	for i, text := range [...]string{e.Phase, e.Case, e.Group, e.Stage, e.LibraryError} {
		writeText(place[at:], text, textBytes[i])
		at += 1 + textBytes[i]/8
	}
	atomic.StoreUint64(&s.words[versionWord], next)
	s.Beat(now)
}

func writeText(to []uint64, text string, room int) {
	if len(text) > room {
		text = strings.ToValidUTF8(text[:room], "")
	}
	atomic.StoreUint64(&to[0], uint64(len(text)))
	var word [8]byte
	for i := 0; i < len(text); i += 8 {
		clear(word[:])
		copy(word[:], text[i:])
		atomic.StoreUint64(&to[1+i/8], binary.LittleEndian.Uint64(word[:]))
	}
}

// Read is the last whole entry; false if there never was one.
func (s *Slot) Read(now int64) (Seen, bool) {
	for {
		version := atomic.LoadUint64(&s.words[versionWord])
		if version == 0 {
			return Seen{}, false
		}
		var copied [entryWords]uint64
		for i, place := 0, s.place(version); i < entryWords; i++ {
			copied[i] = atomic.LoadUint64(&place[i])
		}
		beat := int64(atomic.LoadUint64(&s.words[beatWord]))
		// The place is written again only after the next version is out.
		if atomic.LoadUint64(&s.words[versionWord]) == version {
			return Seen{Entry: entry(copied[:]), Silence: max(0, time.Duration(now-beat))}, true
		}
	}
}

func (s *Slot) place(version uint64) []uint64 {
	at := lineWords + int(version%2)*entryWords
	return s.words[at : at+entryWords]
}

func entry(w []uint64) Entry {
	e := Entry{Rank: int(w[0]), PID: int(w[1]), Namespace: w[2], Number: w[3], Step: w[4], Iteration: w[5],
		Since: int64(w[6])}
	at := numbers
	for i, text := range [...]*string{&e.Phase, &e.Case, &e.Group, &e.Stage, &e.LibraryError} {
		*text = readText(w[at:], textBytes[i])
		at += 1 + textBytes[i]/8
	}
	return e
}

func readText(from []uint64, room int) string {
	n := int(min(from[0], uint64(room)))
	text := make([]byte, 0, room)
	for i := 0; i < n; i += 8 {
		text = binary.LittleEndian.AppendUint64(text, from[1+i/8])
	}
	return string(text[:n])
}
