// Package flight reads dumps of PyTorch's Flight Recorder, pickle and JSON.
package flight

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"busbar/post/hang/evidence"
	"busbar/post/hang/pickle"
)

// MaxBytes is the size beyond which a dump is not read.
const MaxBytes = 128 << 20

// Is reports whether a file begins as a dump does: a pickle, or a JSON object with the keys of one.
func Is(head []byte) bool {
	if IsPickle(head) && bytes.IndexByte([]byte("}](\x95"), head[2]) >= 0 {
		return true
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	has := func(key string) bool { return bytes.Contains(text, []byte(`"`+key+`"`)) }
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') &&
		(has("pg_config") || has("pg_status") || has("record_id") || has("profiling_name") || has("collective_seq_id"))
}

// IsPickle reports whether a file begins as any pickle does, also one that Read refuses.
func IsPickle(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

// NotError reports a pickle or JSON file that is no dump of the Flight Recorder.
type NotError struct{ Problem string }

func (e *NotError) Error() string { return "no Flight Recorder dump: " + e.Problem }

// Read reads a dump, and keeps nothing of data. The rank is the number at the end of the file's name.
func Read(file string, data []byte, known *evidence.Local) (*evidence.Dump, error) {
	b := &builder{
		Dump: evidence.Dump{File: file, Rank: RankOf(file)}, local: known,
		groups: map[groupKey]int16{}, config: map[string]groupConfig{}, status: map[string]groupStatus{},
	}
	read := b.readJSON
	if len(data) > 0 && data[0] == 0x80 {
		read = b.readPickle
		b.doc = documents.Get().(*pickle.Document)
		defer documents.Put(b.doc)
	}
	if err := read(data); err != nil {
		return nil, err
	}
	b.join()
	return &b.Dump, nil
}

// documents are used again: a thousand dumps need the memory of a few.
var documents = sync.Pool{New: func() any { return &pickle.Document{} }}

var endings = regexp.MustCompile(`(?i)\.(json|pkl|pickle|bin|dump|txt|log|out|err)$`)

var trailing = regexp.MustCompile(`(\d+)$`)

// RankOf is the number at the end of a file's name, without its extensions; -1 if it has none.
func RankOf(file string) int {
	name := filepath.Base(file)
	for endings.MatchString(name) {
		name = endings.ReplaceAllString(name, "")
	}
	digits := trailing.FindString(name)
	n, err := strconv.Atoi(digits)
	if err != nil || n > math.MaxInt32 {
		return -1
	}
	return n
}

type groupKey struct {
	name, desc, id string
}

type groupConfig struct {
	Name  string `json:"name"`
	Desc  string `json:"desc"`
	Ranks string `json:"ranks"`
}

type groupStatus struct{ enqueued, finished int64 }

// builder makes a dump of what is read.
type builder struct {
	evidence.Dump
	local  *evidence.Local
	doc    *pickle.Document // nil: JSON
	groups map[groupKey]int16
	keys   []groupKey // of Dump.Groups
	config map[string]groupConfig
	status map[string]groupStatus // by pg_id

	in, out []int64 // reused
	types   []string
	frames  []evidence.Frame
}

// raw is an entry as it was read.
type raw struct {
	entry        evidence.Entry
	name         string
	group        groupKey
	record       int64
	seq, p2p     int64
	timeout      int64
	state        string
	started, end bool // times are known
}

func (b *builder) add(r *raw) error {
	if r.name == "" {
		return &NotError{fmt.Sprintf("entry %d has no profiling_name", len(b.Entries))}
	}
	e := r.entry
	if e.P2P = e.P2P || isP2P(r.name); e.P2P {
		r.seq = max(r.p2p, 0)
	}
	e.Seq, e.Record = r.seq, int32(min(max(r.record, 0), math.MaxInt32))
	e.Timeout = int32(min(max(r.timeout/1000, 0), math.MaxInt32))
	switch {
	case r.state == "completed" || r.end:
		e.State = evidence.Completed
	case r.state == "started" || r.started:
		e.State = evidence.Started
	}
	b.Events = b.Events || e.State != evidence.Scheduled || strings.HasPrefix(r.name, "nccl")
	if len(b.Entries) == 0 {
		b.Lost = r.record > 0
	}
	g, known := b.groups[r.group]
	if !known {
		if len(b.Groups) >= math.MaxInt16 {
			return &NotError{"too many process groups"}
		}
		g = int16(len(b.Groups))
		key := groupKey{strings.Clone(r.group.name), strings.Clone(r.group.desc), strings.Clone(r.group.id)}
		b.groups[key] = g
		b.keys = append(b.keys, key)
		b.Groups = append(b.Groups, evidence.Group{Name: key.name, Desc: key.desc, Enqueued: -1, Finished: -1})
	}
	e.Group = g
	e.Call = b.local.Call(r.name, b.in, b.out, b.types)
	e.Stack = b.local.Stack(b.frames)
	b.Entries = append(b.Entries, e)
	if e.Call.Op == "coalesced" {
		b.coalesced()
	}
	return nil
}

func isP2P(name string) bool {
	return strings.Contains(name, ":send ") || strings.Contains(name, ":recv ")
}

// coalesced gives the operations of a coalesced group the state of the whole, which alone is observed.
func (b *builder) coalesced() {
	last := &b.Entries[len(b.Entries)-1]
	for i := len(b.Entries) - 2; i >= 0; i-- {
		e := &b.Entries[i]
		if e.Group != last.Group || e.Seq != last.Seq || e.P2P != last.P2P || e.Call.Op == "coalesced" {
			return
		}
		e.State, e.Retired = last.State, last.Retired
	}
}

// configName is the name of a group in the configuration: Gloo's default group has none there, and if the dump has one
// configuration, that is it.
func (b *builder) configName(key groupKey) string {
	_, known := b.config[key.name]
	_, unnamed := b.config[""]
	switch {
	case known:
		return key.name
	case unnamed && key.desc == "default_pg":
		return ""
	case len(b.config) == 1:
		for name := range b.config {
			return name
		}
	}
	return key.name
}

// join finds the members of groups.
func (b *builder) join() {
	used := map[string]bool{}
	for i := range b.Groups {
		g, key := &b.Groups[i], b.keys[i]
		name := b.configName(key)
		c, known := b.config[name]
		used[name] = true
		if known {
			g.Members = b.local.Members(c.Ranks)
			if g.Desc == "" || g.Desc == "undefined" {
				g.Desc = strings.Clone(c.Desc)
			}
		}
		if s, is := b.status[key.id]; is {
			g.Enqueued, g.Finished = s.enqueued, s.finished
		}
	}
	b.addIdle(used)
}

// addIdle adds configured groups in which the rank called nothing, or of whose calls the ring kept none.
func (b *builder) addIdle(used map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(b.config)) {
		if used[name] || len(b.Groups) >= math.MaxInt16 {
			continue
		}
		c := b.config[name]
		s := groupStatus{-1, -1}
		if status, is := b.status["0"]; is && (name == "" || name == "0") { // the default group is number 0
			s = status
		}
		b.Groups = append(b.Groups, evidence.Group{
			Name: strings.Clone(name), Desc: strings.Clone(c.Desc), Members: b.local.Members(c.Ranks),
			Enqueued: s.enqueued, Finished: s.finished,
		})
	}
	// Without entries, only the status shows whether the rank called nothing, or the recorder lost it.
	b.Lost = b.Lost || len(b.Entries) == 0 && len(b.status) == 0
}

// elements is the number of elements of a shape; overflow is no shape that matters.
func elements(of int64, dimension int64) int64 {
	if dimension < 0 || of > 0 && dimension > math.MaxInt64/max(of, 1) {
		return of
	}
	return of * dimension
}
