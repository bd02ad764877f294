package notice_test

import (
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test"
)

// A location prints each part that is set.
func TestLocation(t *testing.T) {
	for want, l := range map[string]notice.Location{
		"":                         {},
		"a.jsonl":                  {File: "a.jsonl"},
		"a.jsonl:12":               {File: "a.jsonl", Line: 12},
		"trace.json, rank 3":       {File: "trace.json", Subject: "rank 3"},
		"a:2, nccl, 64 B to 128 B": {File: "a", Line: 2, Subject: "nccl", From: 64, To: 128},
		"nccl, all_reduce, 1 KiB":  {Subject: "nccl, all_reduce", From: 1024, To: 1024},
		"64 B to 128 B":            {From: 64, To: 128},
	} {
		test.EqOp(t, want, l.String())
	}
}
