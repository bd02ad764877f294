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

// Pickle is the dump as a pickle of protocol 2, without what PyTorch's pickler remembers.
func (d *Dump) Pickle() []byte { return append(pickled([]byte{0x80, 2}, d.tree(false)), '.') }

// pickled appends a value.
func pickled(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, 'N')
	case bool:
		return append(out, map[bool]byte{true: 0x88, false: 0x89}[v])
	case int64:
		return binary.LittleEndian.AppendUint64(append(out, 0x8a, 8), uint64(v))
	case string:
		return append(binary.LittleEndian.AppendUint32(append(out, 'X'), uint32(len(v))), v...)
	case list:
		out = append(out, "]("...)
		for _, e := range v {
			out = pickled(out, e)
		}
		return append(out, 'e')
	case dict:
		out = append(out, "}("...)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = pickled(pickled(out, key), v[key])
		}
		return append(out, 'u')
	}
	panic(fmt.Sprintf("no pickle of %T", v))
}
