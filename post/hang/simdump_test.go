package hang_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Entry is one operation in a dump.
type Entry struct {
	Group            string // "" is the default group
	Op               string // "all_reduce", "send 1->0"
	In, Out          int64
	Seq, Record      int64
	Created          int64 // ns
	Done, Started    bool
	Retired, P2P     bool
	Function, Source string
}

// Dump is what the Flight Recorder of a rank holds.
type Dump struct {
	Rank    int
	Gloo    bool
	Groups  map[string][]int // "0" is the default group
	Entries []Entry

	Enqueued, Completed int64 // of the default group's status; 0: none is written
}

// tree is the dump as lists and dictionaries, in the layout of version 2.10.
func (d *Dump) tree(isJSON bool) dict {
	var entries list
	for i := range d.Entries {
		entries = append(entries, d.entry(&d.Entries[i], isJSON))
	}
	config := dict{}
	for name, members := range d.Groups {
		key, desc := name, "undefined"
		if name == "0" {
			desc = "default_pg"
		}
		if d.Gloo && name == "0" { // as PyTorch 2.15 does
			key, desc = "", ""
		}
		ranks := strings.ReplaceAll(fmt.Sprint(members), " ", ", ")
		config[key] = dict{"name": key, "desc": desc, "ranks": ranks}
	}
	all := dict{"version": "2.10", "entries": entries, "pg_config": config}
	if d.Enqueued > 0 {
		all["pg_status"] = dict{"0": dict{
			"last_enqueued_collective": d.Enqueued, "last_started_collective": int64(-1),
			"last_completed_collective": d.Completed,
		}}
	}
	return all
}

func (d *Dump) entry(e *Entry, isJSON bool) dict {
	group, desc, id := e.Group, "undefined", int64(1)
	if group == "" {
		group, desc, id = "0", "default_pg", 0
	}
	backend, state := "nccl:", "scheduled"
	switch {
	case d.Gloo:
		backend = "gloo:"
	case e.Done:
		state = "completed"
	case e.Started:
		state = "started"
	}
	seq, p2p := e.Seq, int64(0)
	if e.P2P {
		seq, p2p = 0, e.Seq
	}
	var ended any
	if state == "completed" {
		ended = e.Created + 1e6
	}
	all := dict{
		"record_id": e.Record, "pg_id": id, "process_group": list{group, desc}, "collective_seq_id": seq,
		"p2p_seq_id": p2p, "op_id": e.Record + 1, "profiling_name": backend + e.Op,
		"time_created_ns": e.Created, "input_sizes": list{list{e.In}}, "input_dtypes": list{"Float"},
		"output_sizes": list{list{e.Out}}, "output_dtypes": list{"Float"}, "state": state,
		"time_discovered_started_ns": nil, "time_discovered_completed_ns": ended, "retired": e.Retired,
		"timeout_ms": int64(600_000), "is_p2p": e.P2P, "thread_id": "1", "thread_name": "python",
	}
	if e.Function != "" && !isJSON {
		all["frames"] = list{
			dict{"name": "all_reduce", "filename": "/x/site-packages/torch/distributed/distributed_c10d.py",
				"line": int64(3068)},
			dict{"name": e.Function, "filename": e.Source, "line": int64(81)},
		}
	}
	return all
}

type (
	dict map[string]any
	list []any
)

// JSON is the dump as _dump_fr_trace_json writes it.
func (d *Dump) JSON() []byte {
	text, err := json.Marshal(d.tree(true))
	if err != nil {
		panic(err) // the tree has texts and numbers alone
	}
	return text
}

// Pickle is the dump as PyTorch's pickler writes it: protocol 2, and each text once.
func (d *Dump) Pickle() []byte {
	p := &pickler{memo: map[string]int{}}
	p.out = append(p.out, 0x80, 2)
	p.value(d.tree(false))
	return append(p.out, '.')
}

type pickler struct {
	out  []byte
	memo map[string]int
	next int
}

func (p *pickler) value(v any) {
	switch v := v.(type) {
	case nil:
		p.out = append(p.out, 'N')
	case bool:
		p.out = append(p.out, map[bool]byte{true: 0x88, false: 0x89}[v])
	case int64:
		p.number(v)
	case string:
		p.text(v)
	case list:
		p.out = append(p.out, ']')
		p.put()
		if len(v) > 0 {
			p.out = append(p.out, '(')
			for _, e := range v {
				p.value(e)
			}
			p.out = append(p.out, 'e')
		}
	case dict:
		p.out = append(p.out, '}')
		p.put()
		if len(v) > 0 {
			p.out = append(p.out, '(')
			for _, key := range slices.Sorted(maps.Keys(v)) {
				p.text(key)
				p.value(v[key])
			}
			p.out = append(p.out, 'u')
		}
	default:
		panic(fmt.Sprintf("no pickle of %T", v))
	}
}

func (p *pickler) number(n int64) {
	switch {
	case n >= 0 && n < 1<<8:
		p.out = append(p.out, 'K', byte(n))
	case n >= 0 && n < 1<<16:
		p.out = binary.LittleEndian.AppendUint16(append(p.out, 'M'), uint16(n))
	case n == int64(int32(n)):
		p.out = binary.LittleEndian.AppendUint32(append(p.out, 'J'), uint32(n))
	default:
		p.out = binary.LittleEndian.AppendUint64(append(p.out, 0x8a, 8), uint64(n))
	}
}

func (p *pickler) text(s string) {
	if at, known := p.memo[s]; known {
		p.slot('h', 'j', at)
		return
	}
	p.out = binary.LittleEndian.AppendUint32(append(p.out, 'X'), uint32(len(s)))
	p.out = append(p.out, s...)
	p.memo[s] = p.next
	p.put()
}

// put remembers the value on the stack.
func (p *pickler) put() {
	p.slot('q', 'r', p.next)
	p.next++
}

func (p *pickler) slot(short, long byte, at int) {
	if at < 1<<8 {
		p.out = append(p.out, short, byte(at))
		return
	}
	p.out = binary.LittleEndian.AppendUint32(append(p.out, long), uint32(at))
}
