package notice

import "testing"

func TestAlike(t *testing.T) {
	count := OpCount(3)
	disagree := func(name string, ranks int) RanksDisagree {
		return RanksDisagree{Communicator: Communicator{name, ranks}}
	}
	for _, c := range []struct {
		a, b Fact
		want bool
	}{
		{UnreachableInterface{"lo", "1.2.3.4"}, UnreachableInterface{"lo", "5.6.7.8"}, true},
		{UnreachableInterface{"lo", "1.2.3.4"}, UnreachableInterface{"docker0", "1.2.3.4"}, false},
		{SettingAffectsSpeed{"A", "1", "A", "n1: 7"}, SettingAffectsSpeed{"A", "1", "A", "n2: 9"}, true},
		{SettingAffectsSpeed{"A", "1", "A", ""}, SettingAffectsSpeed{"A", "2", "A", ""}, false},
		{NoGPUDirect{Each: []HostEnds{{"n1", 1, 2, 3, 4}}}, NoGPUDirect{Each: []HostEnds{{"n2", 1, 2, 3, 4}}}, true},
		{NoGPUDirect{Each: []HostEnds{{"n1", 1, 2, 3, 4}}}, NoGPUDirect{}, false},
		{RanksDisagree{OpCount: &count}, RanksDisagree{}, false},
		{disagree("comm 1", 4), disagree("comm 2", 4), true},
		{disagree("comm 1", 4), disagree("comm 1", 8), false},
		{LibraryMessage{Cause: "nic-event"}, LibraryMessage{Cause: "nic-port-error"}, false},
		{LLForLarge{}, UnreachableInterface{}, false},
	} {
		if got := Alike(c.a, c.b); got != c.want {
			t.Errorf("%+v, %+v: %v", c.a, c.b, got)
		}
	}
}
