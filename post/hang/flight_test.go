package hang_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"busbar/post/hang/evidence"
	"busbar/post/hang/flight"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func readDump(t *testing.T, file string, data []byte) *evidence.Dump {
	t.Helper()
	if !flight.Is(data) {
		t.Errorf("%s is not recognised", file)
	}
	d, err := flight.Read(file, data, &evidence.Interned{})
	must.NoError(t, err)
	return d
}

func sampleDumps() []*Dump {
	j := &Job{World: 2, Groups: map[string][]int{"dp": {0, 1}}}
	j.All(Call{Op: "all_reduce", In: 12, Out: 12}, 3).All(Call{Op: "send", Peer: 1}, 1, 0)
	return j.Run()
}

// Both forms of a dump are one dump; JSON has no stacks.
func TestReadBothForms(t *testing.T) {
	d := sampleDumps()[0]
	d.Entries[1].Function, d.Entries[1].Source = "train_step", "/home/user/train.py"
	p, j := readDump(t, "trace_3", d.Pickle()), readDump(t, "trace_3.json", d.JSON())
	if s := p.Entries[1].Stack; s == nil || len(s.Frames) != 2 || s.Frames[1] != (evidence.Frame{
		Function: "train_step", File: "/home/user/train.py", Line: 81,
	}) {
		t.Errorf("%+v", s)
	}
	if p.Rank != 3 || j.Rank != 3 || p.JSON || !j.JSON {
		t.Error(p.Rank, j.Rank, p.JSON, j.JSON)
	}
	for i := range p.Entries {
		p.Entries[i].Stack = nil
	}
	p.File, j.File, j.JSON = "", "", false
	test.Eq(t, j, p)
	e := p.Entries[3]
	if !e.P2P || e.Call.Op != "send" || e.Call.From != 0 || e.Call.To != 1 || e.Seq != 1 {
		t.Errorf("%+v %+v", e, e.Call)
	}
	if e := p.Entries[0]; e.Call.Elements() != 12 || e.Call.Type() != "float32" || e.State != evidence.Completed {
		t.Errorf("%+v %+v", e, e.Call)
	}
	if g := p.Groups[0]; g.Desc != "default_pg" || !reflect.DeepEqual(g.Members, []int{0, 1}) {
		t.Errorf("%+v", g)
	}
}

// Gloo's default group has no name in the configuration, and its entries have one.
func TestReadJoinsGloosDefaultGroup(t *testing.T) {
	j := &Job{World: 2, Gloo: true}
	d := readDump(t, "trace_0", j.All(Call{Op: "all_reduce"}, 1).Run()[0].Pickle())
	if len(d.Groups) != 1 || len(d.Groups[0].Members) != 2 || d.Events {
		t.Errorf("%+v", d.Groups)
	}
}

// Numbers may be texts, the version may be absent, the sequence may have its older name.
func TestReadOlderForms(t *testing.T) {
	const list = `[{"profiling_name": "nccl:all_reduce", "seq_id": 7, "record_id": 4, "input_sizes": [[2, 3]],
		"state": "started", "process_group": ["0", "default_pg"], "time_created_ns": "5"}]`
	d := readDump(t, "nccl_trace_rank_node1_12", []byte(list))
	e := d.Entries[0]
	if d.Rank != 12 || e.Seq != 7 || !d.Lost ||
		e.State != evidence.Started || e.Call.Elements() != 6 || e.Created != 5 {
		t.Errorf("%+v %+v", d, e)
	}
	status := strings.TrimSuffix(string(sampleDumps()[0].JSON()), "}") +
		`,"pg_status": {"0": {"last_enqueued_collective": "3", "last_completed_collective": "2"}}}`
	if g := readDump(t, "trace_0.json", []byte(status)).Groups[0]; g.Enqueued != 3 || g.Finished != 2 {
		t.Errorf("%+v", g)
	}
}

// The operations of a coalesced group have the state of the whole.
func TestReadCoalesced(t *testing.T) {
	j := &Job{World: 1}
	j.All(Call{Op: "ALLGATHER_coalesced", Part: true}, 2).All(Call{Op: "coalesced"}, 1)
	d := j.Run()[0]
	d.Entries[0].Done, d.Entries[1].Done = false, false
	for i, e := range readDump(t, "trace_0", d.Pickle()).Entries {
		if e.State != evidence.Completed || e.Seq != 1 {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
}

func TestReadRefusesOtherFiles(t *testing.T) {
	for _, data := range []string{
		"\x80\x02]q\x00(K\x01e.", "\x80\x02}q\x00.", "\x80\x02K\x01.", `{"pg_config": 3}`, `{"entries": []}`,
		`[{"record_id": 1}]`,
		"\x80\x02cos\nsystem\n.",
	} {
		if d, err := flight.Read("trace_0", []byte(data), &evidence.Interned{}); err == nil {
			t.Errorf("%q: %+v", data, d)
		}
	}
	for _, head := range []string{"", "PK\x03\x04", `{"traceEvents": []}`, "NCCL version", "\x80", `{"kind":"run"}`} {
		if flight.Is([]byte(head)) {
			t.Errorf("%q is no dump", head)
		}
	}
}

func TestRankOf(t *testing.T) {
	for name, want := range map[string]int{
		"/tmp/nccl_trace_rank_0": 0, "trace_12.json": 12, "comm_lib_trace_rank_node7_5": 5, "trace": -1,
		"rank3.log.txt": 3,
		"a/7/x":         -1, "trace_99999999999999999999": -1,
	} {
		test.EqOp(t, want, flight.RankOf(name), test.Sprint(name))
	}
}

func FuzzFlight(f *testing.F) {
	for _, d := range sampleDumps() {
		f.Add(d.Pickle())
		f.Add(d.JSON())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := flight.Read("trace_1", data, &evidence.Interned{})
		if err != nil {
			return
		}
		for i := range d.Entries {
			e := &d.Entries[i]
			if e.Call == nil || int(e.Group) >= len(d.Groups) || e.Seq < 0 && e.P2P {
				t.Fatalf("%+v", e)
			}
			if _, err := json.Marshal(e.Call.Elements()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A list of what is no operation ends the reading at once: what follows may need any amount of memory.
func TestReadStopsAtTheFirstOtherEntry(t *testing.T) {
	for _, text := range []string{`[{"profiling_name": "nccl:all_reduce"}, {}, `, `{"entries": [{}, `} {
		_, err := flight.Read("trace_0.json", []byte(text), &evidence.Interned{})
		if err == nil || !strings.Contains(err.Error(), "profiling_name") {
			t.Error(text, err)
		}
	}
}
