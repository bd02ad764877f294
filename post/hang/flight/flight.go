// Package flight reads dumps of PyTorch's Flight Recorder, pickle and JSON.
package flight

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// Is reports whether a file begins as a dump does: a pickle, or JSON with the keys of one at the top. Traces of the
// profiler have some of these keys further down.
func Is(head []byte) bool {
	if IsPickle(head) && bytes.IndexByte([]byte("}](\x95"), head[2]) >= 0 {
		return true
	}
	switch keys := topKeys(head); {
	case slices.Contains(keys, "pg_config"), slices.Contains(keys, "pg_status"):
		return true
	case slices.Contains(keys, "entries"), bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("[")):
		return entryKeys.Match(head)
	}
	return false
}

// entryKeys are some of the keys of an operation.
var entryKeys = regexp.MustCompile(`"(record_id|profiling_name|collective_seq_id)"`)

// topKeys are the keys of a JSON object, as far as its beginning has them.
func topKeys(head []byte) (keys []string) {
	in := json.NewDecoder(bytes.NewReader(head))
	if begin, err := in.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	for {
		key, _ := in.Token()
		name, is := key.(string)
		if !is {
			return keys
		}
		keys = append(keys, name)
		if in.Decode(&json.RawMessage{}) != nil {
			return keys
		}
	}
}

// IsPickle reports whether a file begins as any pickle does, also one that Read refuses.
func IsPickle(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

// Read reads a dump, and keeps nothing of data. The rank is the number at the end of the file's name.
func Read(file string, data []byte, known *evidence.Interned) (*evidence.Dump, error) {
	b := &builder{
		Dump: evidence.Dump{File: file, Rank: RankOf(file), JSON: len(data) > 0 && data[0] != 0x80}, known: known,
		doc: documents.Get().(*pickle.Document), groups: map[groupKey]int16{},
		left: leastVisits + visitsPerByte*len(data),
	}
	defer documents.Put(b.doc)
	var err error
	if b.JSON {
		err = b.doc.ReadJSON(data, b.named)
	} else {
		err = b.doc.Read(data)
	}
	if err == nil {
		err = b.read()
	}
	if err == nil {
		b.join()
		err = b.refused()
	}
	if err != nil {
		return nil, fmt.Errorf("no Flight Recorder dump: %w", err)
	}
	return &b.Dump, nil
}

// What the elements and texts of a dump may count together, by its size: a pickle can refer to one value very often.
const (
	visitsPerByte = 4
	leastVisits   = 1 << 16
	textOfVisit   = 64 // bytes of a text that count as one element
)

// refused is the error that the dump has too many elements; nil if it does not.
func (b *builder) refused() error {
	if b.left < 0 {
		return errors.New("its values refer to each other too often")
	}
	return nil
}

// named checks that an element is an operation before the next one is read.
func (b *builder) named(entry pickle.Value) error {
	pairs := b.doc.Pairs(entry)
	for i := 0; i+1 < len(pairs); i += 2 {
		if b.doc.Text(pairs[i]) == profilingName && b.doc.Text(pairs[i+1]) != "" {
			return nil
		}
	}
	return errUnnamed
}

// documents are used again: a thousand dumps need the memory of a few.
var documents = sync.Pool{New: func() any { return &pickle.Document{} }}

var (
	endings  = regexp.MustCompile(`(?i)(\.(json|pkl|pickle|bin|dump|txt|log|out|err))+$`)
	trailing = regexp.MustCompile(`\d+$`)
)

// RankOf is the number at the end of a file's name, without its extensions; -1 if it has none.
func RankOf(file string) int {
	name := endings.ReplaceAllString(filepath.Base(file), "")
	n, err := strconv.ParseInt(trailing.FindString(name), 10, 32)
	if err != nil {
		return -1
	}
	return int(n)
}

type groupKey struct {
	name, desc, id string
}

// builder makes a dump of what is read.
type builder struct {
	evidence.Dump
	known          *evidence.Interned
	doc            *pickle.Document
	config, status pickle.Value
	configs        map[string]pickle.Value // of groups, by name
	statuses       map[string]pickle.Value // by number
	left           int                     // elements that may still be read
	groups         map[groupKey]int16
	keys           []groupKey // of Dump.Groups

	in, out []int64 // of one entry; reused
	types   []string
	frames  []evidence.Frame
}

func (b *builder) read() error {
	var entries pickle.Value
	if top := b.doc.Top(); top.Kind == pickle.List { // before dumps had a version
		entries = top
	} else {
		b.each(top, func(key string, v pickle.Value) {
			switch key {
			case "entries":
				entries = v
			case "pg_config":
				b.config, b.configs = v, b.table(v)
			case "pg_status":
				b.status, b.statuses = v, b.table(v)
			}
		})
	}
	all := b.items(entries)
	recorded := entries.Kind == pickle.List && (len(all) > 0 || !b.JSON)
	switch {
	case entries.Kind != pickle.List && entries.Kind != pickle.None:
		return errors.New("its entries are no list")
	case !recorded && b.config.Kind != pickle.Dict && b.status.Kind != pickle.Dict:
		return errors.New("it has neither entries nor process groups")
	}
	b.Entries = make([]evidence.Entry, 0, len(all))
	for _, v := range all {
		if err := b.entry(v); err != nil {
			return fmt.Errorf("entry %d %w", len(b.Entries), err)
		}
		if err := b.refused(); err != nil {
			return err
		}
	}
	return b.refused()
}

// group is the number of a group in the dump.
func (b *builder) group(key groupKey) (int16, error) {
	g, known := b.groups[key]
	if known {
		return g, nil
	}
	if len(b.Groups) >= math.MaxInt16 {
		return 0, errors.New("has too many process groups")
	}
	g = int16(len(b.Groups))
	key = groupKey{strings.Clone(key.name), strings.Clone(key.desc), strings.Clone(key.id)}
	b.groups[key] = g
	b.keys = append(b.keys, key)
	b.Groups = append(b.Groups, evidence.Group{Name: key.name, Desc: key.desc, Enqueued: -1, Finished: -1})
	return g, nil
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
	all := b.doc.Pairs(b.config)
	switch {
	case b.configs[key.name].Kind == pickle.Dict:
	case key.desc == "default_pg" && b.configs[""].Kind == pickle.Dict:
		return ""
	case len(all) == 2:
		return b.word(all[0])
	}
	return key.name
}

// join finds the members of groups, and adds configured groups in which the rank called nothing, or of whose calls the
// ring kept none.
func (b *builder) join() {
	used := map[string]bool{}
	for i := range b.Groups {
		g, key := &b.Groups[i], b.keys[i]
		name := b.configName(key)
		used[name] = true
		b.configure(g, b.configs[name], key.id)
	}
	b.each(b.config, func(name string, c pickle.Value) {
		if used[name] || len(b.Groups) >= math.MaxInt16 {
			return
		}
		id := "none"
		if name == "" || name == "0" { // the default group is number 0
			id = "0"
		}
		b.Groups = append(b.Groups, evidence.Group{Name: strings.Clone(name), Enqueued: -1, Finished: -1})
		b.configure(&b.Groups[len(b.Groups)-1], c, id)
	})
	// Without entries, only the status shows whether the rank called nothing, or the recorder lost it.
	b.Lost = b.Lost || len(b.Entries) == 0 && len(b.doc.Pairs(b.status)) == 0
}

// configure adds the configuration of a group, and its status by number.
func (b *builder) configure(g *evidence.Group, config pickle.Value, id string) {
	b.each(config, func(key string, v pickle.Value) {
		switch {
		case key == "ranks":
			g.Members = b.known.Members(b.doc.Text(v))
		case key == "desc" && (g.Desc == "" || g.Desc == "undefined"):
			g.Desc = strings.Clone(b.doc.Text(v))
		}
	})
	b.each(b.statuses[id], func(key string, v pickle.Value) {
		switch key {
		case "last_enqueued_collective":
			g.Enqueued = b.number(v)
		case "last_completed_collective":
			g.Finished = b.number(v)
		}
	})
}
