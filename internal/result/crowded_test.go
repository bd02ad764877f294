package result

import (
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test"
)

func TestCrowded(t *testing.T) {
	warning := notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "vm"}
	for want, run := range map[notice.Fact]Run{
		nil:                {Warnings: notice.Of(notice.HostLoad{Host: "vm", Load: 3.33})},
		warning:            {Warnings: notice.Of(notice.Recorded{Text: "first"}, warning)},
		notice.SharedGPU{}: {Method: Method{Shared: true}},
	} {
		test.EqOp(t, want, run.Crowded())
	}
}
