package nccllog

import (
	"fmt"
	"strings"
	"testing"
)

// inspectorRow is a record as the Inspector writes it.
func inspectorRow(rank int, us int) string {
	return fmt.Sprintf(
		`{"header":{"id":"0x7f8c","rank":%d,"n_ranks":8,"nnodes":1},"metadata":{"inspector_output_format_version":"v`+
			`4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1748030377748202,"hostn`+
			`ame":"node-%d","pid":12},`+
			`"coll_perf":{"coll":"AllReduce","coll_sn":7,"coll_msg_size_bytes":1048576,"coll_exec_time_us":%d,"coll_`+
			`timing_source":"kernel_gpu","coll_algobw_gbs":100.5,"coll_busbw_gbs":175.875}}`+"\n",
		rank,
		rank/4,
		us,
	)
}

var inspectorFixture = inspectorRow(0, 100) + inspectorRow(5, 300) +
	`{"header":{"id":"0x7f8c","rank":1,"n_ranks":8,"nnodes":1},"metadata":{},"p2p_perf":{"p2p":"Send","p2p_sn":1,"p2` +
	`p_peer":3,"p2p_msg_size_bytes":65536,"p2p_exec_time_us":10,"p2p_timing_source":"kernel_cpu","p2p_algobw_gbs":6.` +
	`5,"p2p_busbw_gbs":6.5}}` + "\n"

func TestInspector(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		b.WriteString(inspectorRow(i%8, 100+i%8*10))
	}
	l := read(t, b.String()+inspectorFixture+`{"header":{"id":`)
	same(t, "200 records", l.Files, l.Reading, l.Inspected)
}

// A bounded number of records is kept, evenly over the run.
func TestInspectorSamples(t *testing.T) {
	var s sampler
	for i := range 100_000 {
		s.add(float64(i), 4096)
	}
	if n := len(s.values); n < 2048 || n > 4096 {
		t.Errorf("%d kept", n)
	}
	if m := s.median(); m < 45_000 || m > 55_000 {
		t.Errorf("the median of 0 to 100000 is %g", m)
	}
}
