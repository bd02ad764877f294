package nccllog

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test"
)

const rasTextFixture = `NCCL version 2.29.1 compiled with CUDA 13.0
CUDA runtime version 13000, driver version 13000

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Communicators... (2.05s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4       7-8        32        32   RUNNING  INCOMPLETE
    1         7         4         1         4        28   RUNNING      OK

Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 123456 on node 172.16.0.213 managing GPU 5

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  The missing rank: 21

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data

#0-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different AllReduce operation counts
  29 ranks have launched up to operation 6650
  2 ranks have launched up to operation 6649
  Rank 0 -- GPU 0 managed by process 483072 on node 172.16.0.210
  Rank 7 -- GPU 7 managed by process 483079 on node 172.16.0.210
  Communicator ranks have different status
  30 ranks have status RUNNING
  Rank 3 has status FINALIZE -- GPU 3 managed by process 483075 on node 172.16.0.210
`

const rasJSONFixture = `{"nccl_version": "2.29.1", "cuda_runtime_version": 13000, "timestamp": "2025-12-19 ` +
	`13:06:53", "communicators_count": 1,
 "communicators": [{"hash": "0xae94", "secondary_hash": "0xb7:0xb8", "size": 3, "ranks_count": 2, ` +
	`"missing_ranks_count": 1,
  "ranks": [{"rank": 0, "host": "10.0.0.1", "pid": 11, "cuda_dev": 0, "nvml_dev": 0, "status": {"init_state": 0, ` +
	`"async_error": 0, "finalize_called": false, "destroy_flag": false, "abort_flag": false},
             "collective_counts": {"Broadcast": 0, "AllReduce": 12}},
            {"rank": 1, "host": "10.0.0.1", "pid": 12, "cuda_dev": 1, "nvml_dev": 1, "status": {"init_state": 0, ` +
	`"async_error": 0}, "collective_counts": {"Broadcast": 0, "AllReduce": 10}}],
  "missing_ranks": [{"rank": 2, "host": "10.0.0.2", "pid": 13, "cuda_dev": 0, "nvml_dev": 0, "status": ` +
	`{"unresponsive": true, "considered_dead": false}}]}],
 "ras": {"collection_time_sec": 0.000, "timeouts_count": 1}}
`

func TestRAS(t *testing.T) {
	for name, text := range map[string]string{"text": rasTextFixture,
		"two answers and a part": rasJSONFixture + rasJSONFixture + `{"nccl_version": "2.`} {
		l := read(t, text)
		same(t, name, l.Files, l.RAS)
	}
}

// NCCL 2.28.9 omits a comma between missing ranks.
func TestRASJSONWithoutComma(t *testing.T) {
	const rank = `{"rank": 2, "host": "a}{", "status": {"considered_dead": true}}`
	text := `{"nccl_version": "2.28.9", "communicators": [{"hash": "0x1", "size": 4, "missing_ranks_count": 2,
		"ranks": [], "missing_ranks": [` + rank + "\n" + strings.Replace(rank, "2", "3", 1) + `]}]}`
	for _, text := range []string{text, text + "\n" + text} {
		l := read(t, text)
		for _, a := range l.RAS {
			if len(a.Comms) != 1 || !slices.Equal(a.Comms[0].States[0].Ranks, []int{2, 3}) || l.Files[0].Cut != "" {
				t.Errorf("%+v %+v", a, l.Files)
			}
		}
		test.EqOp(t, strings.Count(text, "2.28.9"), len(l.RAS))
	}
}

// ncclras names only the smaller group of ranks; the job waits for the others.
func TestRASOtherRanks(t *testing.T) {
	text := strings.NewReplacer("INCOMPLETE", "MISMATCH", "29 ranks", "30 ranks", "7-8", "8").Replace(rasTextFixture)
	text, _, _ = strings.Cut(text, "  Communicator ranks have different status")
	for _, part := range []string{
		"MISMATCH\n  Missing communicator data from 1 job process\n  Process 123456 on node 172.16.0.213 managing " +
			"GPU 5\n",
		"#0-0 (cf264af53edbe986) MISMATCH\n  Missing communicator data from 1 rank\n  The missing rank: 21\n",
	} {
		text = strings.Replace(text, part, "", 1)
	}
	l := read(t, text)
	test.EqOp(t, "32 GPUs on 4 nodes, NCCL 2.29.1", l.Title())
	c := l.RAS[0].Comms[2]
	if n := c.Counts[0]; n.Many != 30 || len(n.Ranks) != 30 || slices.Contains(n.Ranks, 0) ||
		slices.Contains(n.Ranks, 7) {
		t.Errorf("%+v", n)
	}
	var reported []string
	for _, f := range l.Findings() {
		reported = append(reported, notice.Message(f.Fact))
		if strings.Contains(strings.Join(notice.Details(f.Fact), " "), "by ranks .") {
			t.Errorf("%q", notice.Details(f.Fact))
		}
	}
	if len(reported) != 1 || !strings.Contains(reported[0], "0xcf264af53edbe986") {
		t.Errorf("%q", reported)
	}
}
