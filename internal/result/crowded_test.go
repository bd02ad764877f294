package result

import (
	"testing"

	"busbar/internal/notice"
)

func TestCrowded(t *testing.T) {
	for _, c := range []struct {
		warning notice.Fact
		crowded bool
	}{
		{notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "vm"}, true},
		{notice.SharedThreads{Host: "vm", CPUs: 2, Ranks: 2}, true},
		{notice.HostLoad{Host: "vm", Load: 3.33}, false},
	} {
		got := (&Run{Warnings: notice.Of(notice.Recorded{Text: "first"}, c.warning)}).Crowded()
		if (got == c.warning) != c.crowded || (got == nil) == c.crowded {
			t.Errorf("%v: %v", c.warning, got)
		}
	}
	if got := (&Run{Method: Method{Shared: true}}).Crowded(); got != (notice.SharedGPU{}) {
		t.Errorf("of a shared GPU: %v", got)
	}
}
