package notice_test

import (
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
)

func TestAlike(t *testing.T) {
	count := nccllogs.OpCount(3)
	disagree := func(name string, ranks int) nccllogs.RanksDisagree {
		return nccllogs.RanksDisagree{Communicator: nccllogs.Communicator{Name: name, Ranks: ranks}}
	}
	for _, c := range []struct {
		a, b notice.Fact
		want bool
	}{
		{nccllogs.UnreachableInterface{Interface: "lo", Address: "1.2.3.4"},
			nccllogs.UnreachableInterface{Interface: "lo", Address: "5.6.7.8"}, true},
		{nccllogs.UnreachableInterface{Interface: "lo", Address: "1.2.3.4"},
			nccllogs.UnreachableInterface{Interface: "docker0", Address: "1.2.3.4"}, false},
		{nccllogs.SettingAffectsSpeed{Variable: "A", Value: "1", Effect: "A", Line: "n1: 7"},
			nccllogs.SettingAffectsSpeed{Variable: "A", Value: "1", Effect: "A", Line: "n2: 9"}, true},
		{nccllogs.SettingAffectsSpeed{Variable: "A", Value: "1", Effect: "A", Line: ""},
			nccllogs.SettingAffectsSpeed{Variable: "A", Value: "2", Effect: "A", Line: ""}, false},
		{nccllogs.NoGPUDirect{Each: []nccllogs.HostEnds{{Host: "n1", Sends: 1, OfSends: 2, Receives: 3,
			OfReceives: 4}}},
			nccllogs.NoGPUDirect{Each: []nccllogs.HostEnds{{Host: "n2", Sends: 1, OfSends: 2, Receives: 3,
				OfReceives: 4}}}, true},
		{nccllogs.NoGPUDirect{Each: []nccllogs.HostEnds{{Host: "n1", Sends: 1, OfSends: 2, Receives: 3,
			OfReceives: 4}}}, nccllogs.NoGPUDirect{}, false},
		{nccllogs.RanksDisagree{OpCount: &count}, nccllogs.RanksDisagree{}, false},
		{disagree("comm 1", 4), disagree("comm 2", 4), true},
		{disagree("comm 1", 4), disagree("comm 1", 8), false},
		{nccllogs.LibraryMessage{Cause: "nic-event"}, nccllogs.LibraryMessage{Cause: "nic-port-error"}, false},
		{nccllogs.LLForLarge{}, nccllogs.UnreachableInterface{}, false},
	} {
		if got := notice.Alike(c.a, c.b); got != c.want {
			t.Errorf("%+v, %+v: %v", c.a, c.b, got)
		}
	}
}
