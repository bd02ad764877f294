package nccl

import "testing"

func TestWay(t *testing.T) {
	type told struct {
		algorithm, protocol string
		channels            int
	}
	for _, k := range []struct {
		told []told
		want Way
	}{
		{nil, Way{}},
		{[]told{{"RING", "LL", 4}}, Way{Algorithm: "RING", Protocol: "LL", Channels: 4}},
		{[]told{{"RING", "LL", 4}, {"RING", "LL", 2}}, Way{Algorithm: "RING", Protocol: "LL", Channels: 4}},
		{[]told{{"RING", "LL", 2}, {"NVLS", "SIMPLE", 16}, {"RING", "SIMPLE", 3}},
			Way{Algorithm: "RING+NVLS", Protocol: "LL+SIMPLE", Channels: 16}},
		{[]told{{"", "", 2}, {"", "", 1}}, Way{Channels: 2}},
		{[]told{{"Unknown", "Unknown", 0}}, Way{}},
		{[]told{{"CE", "", 0}}, Way{Algorithm: "CE"}},
	} {
		var w Way
		for _, e := range k.told {
			w.add(e.algorithm, e.protocol, e.channels)
		}
		if w != k.want || w.Known() != (w != Way{}) {
			t.Errorf("%v: %+v, known: %t", k.told, w, w.Known())
		}
	}
}

func TestProfilable(t *testing.T) {
	for name, want := range map[string]bool{NameNCCL: true, NameRehearsal: true, NameNCCLX: false, NameMSCCLPP: false} {
		if (Info{Name: name}).Profilable() != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
