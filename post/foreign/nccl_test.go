package foreign

import (
	"strings"
	"testing"

	"busbar/internal/coll"
)

// modern is a small test of today's layout.
const modern = `# nccl-tests version 2.19.0 nccl-headers=22803 nccl-library=22907
# Collective test starting: all_gather_perf
# nThread 1 nGpus 1 minBytes 64 maxBytes 128 step: 2(factor) warmup iters: 3 iters: 10 agg iters: 2 validation: 1 ` +
	`graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   4242 on      red-1 device  0 [0000:0a:00] Made Up GPU
#  Rank  1 Group  0 Pid 123456789 on   red-2 device  0 [0000:0b:00] Made Up GPU
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
          64             8     float    none      -1    12.50    0.01    0.00       0    13.25    0.00    0.00       0
         128            16     float    none      -1    1e+01    0.01    0.01       0    14.00    0.01    0.00       3
# Out of bounds values : 3 FAILED
# Avg bus bandwidth    : 0.005 
#
# Collective test concluded: all_gather_perf
`

func TestModern(t *testing.T) {
	imports(t, map[string]string{modern: `
rows 2 torn 0 unknown 0 log 0
nccl-tests 2.19.0, nccl NCCL 2.29.7 (by nccl-tests 2.19.0), n2 on 2; complete <nil> [wrong-values-counted]
12: all_gather float32 none -1 out throughput n2 64 8 1.25e-05s ok ok iterations 20
    map[algbw:0.01 busbw:0.00]
12: all_gather float32 none -1 in throughput n2 64 8 1.325e-05s ok ok iterations 20
    map[algbw:0.00 busbw:0.00]
13: all_gather float32 none -1 out throughput n2 128 16 1e-05s ok ok iterations 20
    map[algbw:0.01 busbw:0.01]
13: all_gather float32 none -1 in throughput n2 128 16 1.4e-05s wrong wrong iterations 20
    map[algbw:0.01 busbw:0.00]
`})
	m, _ := read(t, modern)
	k := m.runs[0]
	if r := k.records[0]; r.Time.Iterations != 20 || r.Time.Outliers != -1 || r.Time.Min != 0 {
		t.Errorf("%+v", r.Time)
	}
	if k.run.RanksPerNode != 1 || k.run.Device != "Made Up GPU" || k.run.Method.Warmup != 3 ||
		k.run.Imported.Settings["maxBytes"] != "128" || !k.run.Start.IsZero() {
		t.Errorf("%+v", k.run)
	}
	if k.ranks[1].PID != 123456789 || k.ranks[1].Host != "red-2" || k.ranks[1].PCI != "0000:0b:00" {
		t.Errorf("%+v", k.ranks)
	}
}

// e1Head is the header of the layout of 2019 to 2022 with these columns between type and time.
func e1Head(columns ...string) string {
	return `# nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid   1 on      blue device  0 [0x3b] Made Up GPU
#   Rank  1 Pid   1 on      blue device  1 [0xaf] Made Up GPU
#
#       size         count    type   ` + strings.Replace(strings.Join(columns, "  "), "sum", "", 1) + ` time algbw ` +
		`busbw error time algbw busbw error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
`
}

// The collective of an old table follows from its columns and values, or stays unknown.
func TestOldCollectives(t *testing.T) {
	for name, c := range map[string]struct{ head, row, want string }{
		"all_reduce": {e1Head("redop"),
			"1024 256 float sum 10.0 1.00 1.00 0e+00 10.0 1.00 1.00 0e+00", "all_reduce"},
		"reduce": {e1Head("redop", "root"),
			"1024 256 float max 1 10.0 1.00 1.00 0e+00 10.0 1.00 1.00 0e+00", "reduce"},
		"broadcast": {e1Head("root"),
			"1024 256 float 0 10.0 1.00 1.00 0e+00 10.0 1.00 1.00 0e+00", "broadcast"},
		"all_gather": {e1Head(),
			"2048 256 float 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 0e+00", "all_gather"},
		"sendrecv": {e1Head(),
			"1024 256 float 10.0 2.00 2.00 0e+00 10.0 2.00 2.00 N/A", "sendrecv"},
		"alltoall": {e1Head("redop"),
			"2048 256 float 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 N/A", "alltoall"},
		"reduce_scatter": {e1Head("redop"),
			"2048 256 float sum 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 0e+00", "reduce_scatter"},
		"gather or scatter": {e1Head("root"),
			"2048 256 float 0 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 0e+00", "other"},
		"hypercube": {modernHead(""),
			"2048 256 float -1 10.0 2.00 2.00 0 10.0 2.00 2.00 0", "other"},
		"hypercube, named": {modernHead("hypercube_perf"),
			"2048 256 float -1 10.0 2.00 2.00 0 10.0 2.00 2.00 0", "hypercube"},
		"named in the header": {modernHead("alltoallv_perf_mpi"),
			"2048 256 float none -1 10.0 2.00 1.00 0 10.0 2.00 1.00 N/A", "alltoallv"},
		"sendrecv's unused operation": {modernHead("sendrecv_perf"),
			"1024 256 float sum -1 10.0 2.00 2.00 0 10.0 2.00 2.00 N/A", "sendrecv"},
		"renamed program": {modernHead("ar"),
			"1024 256 float sum -1 10.0 2.00 2.00 0 10.0 2.00 2.00 0", "all_reduce"},
		"two ranks, unchecked": {modernHead(""),
			"1024 256 float sum -1 10.0 2.00 2.00 N/A 10.0 2.00 2.00 N/A", "other"},
	} {
		m, counts := read(t, c.head+c.row+"\n# Out of bounds values : 0 OK\n")
		if counts.Rows != 1 || counts.Torn+counts.Unknown != 0 {
			t.Errorf("%s: %+v", name, counts)
			continue
		}
		r := m.records()[0]
		if r.Operation() != c.want {
			t.Errorf("%s is read as %s; %v", name, r.Operation(), m.runs[0].run.Warnings)
		}
		if r.Operation() == "other" && len(m.runs[0].run.Warnings) == 0 {
			t.Errorf("%s: no candidates are named", name)
		}
		if r.Collective == coll.SendRecv && r.Op != 0 {
			t.Errorf("%s: %s", name, brief(r))
		}
	}
}

// modernHead is the header of today's layout.
func modernHead(program string) string {
	head := ""
	if program != "" {
		head = "# Collective test starting: " + program + "\n"
	}
	return head + `# nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 agg iters: ` +
		`1 validation: 1 graph: 0
#  Rank  0 Group  0 Pid   1 on      blue device  0 [0x3b] Made Up GPU
#  Rank  1 Group  0 Pid   1 on      blue device  1 [0xaf] Made Up GPU
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
`
}

// The first layout has times in milliseconds, and lacks comment marks.
func TestMilliseconds(t *testing.T) {
	imports(t, map[string]string{
		`nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
# NCCL Tests compiled with NCCL 2.1
# Using devices
#   Rank  0 on       blue device  0 [0x05] Made Up GPU
#   Rank  1 on       blue device  1 [0x06] Made Up GPU

#                                              out-of-place                    in-place
#      bytes             N    type    root     time  algbw  busbw      res     time  algbw  busbw      res
           8             2   float       0    0.125   0.00   0.00    0e+00    0.250   0.00   0.00    0e+00
 Out of bounds values : 0 OK
 Avg bus bandwidth    : 0.1
`: `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
9: broadcast float32 none 0 out throughput n2 8 2 0.000125s ok ok iterations 20
    map[algbw:0.00 busbw:0.00]
9: broadcast float32 none 0 in throughput n2 8 2 0.00025s ok ok iterations 20
    map[algbw:0.00 busbw:0.00]
`,
	})
}

// Options add columns; an asterisk marks a difference that is too large.
func TestMoreColumns(t *testing.T) {
	imports(t, map[string]string{
		strings.Replace(strings.ReplaceAll(modernHead("reduce_perf"), "#wrong", "#wrong i_min i_max i_p99 i_cv%"),
			"\n#        (B)", " timestamp\n#        (B)", 1) + "1024 256 half avg 3 10.0 1.0 1.0 0 9.0 12.0 11.9 3.1 " +
			"11.0 1.0 1.0 0 9.5 12.5 12.4 3.2  2026-01-02 03:04:05\n" + footer: `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
7: reduce float16 avg 3 out throughput n2 1024 256 1e-05s ok ok iterations 20
    map[algbw:1.0 busbw:1.0 i_cv%:3.1 i_max:12.0 i_min:9.0 i_p99:11.9 timestamp:2026-01-02 03:04:05]
7: reduce float16 avg 3 in throughput n2 1024 256 1.1e-05s ok ok iterations 20
    map[algbw:1.0 busbw:1.0 i_cv%:3.2 i_max:12.5 i_min:9.5 i_p99:12.4 timestamp:2026-01-02 03:04:05]
`,
		strings.ReplaceAll(modernHead("reduce_perf"), " time ", " cputime ") +
			"1024 256 half avg 3 10.0 1.0 1.0 0 11.0 1.0 1.0 0\n" + footer: `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
7: reduce float16 avg 3 out throughput n2 1024 256 - ok ok
    map[algbw:1.0 busbw:1.0 cputime:10.0]
7: reduce float16 avg 3 in throughput n2 1024 256 - ok ok
    map[algbw:1.0 busbw:1.0 cputime:11.0]
`,
		"# rccl-tests version 2.18.3 rccl-headers=22803 rccl-library=22707\nHIP version  : 6.1\n" +
			"# Collective test starting: all_reduce_perf\n# in-place\n" +
			"# size count type redop root time hipevt algbw busbw #wrong algo proto nchannels\n" +
			"1024 256 bfloat16 sum -1 10.0 9.0 1.0 1.0 0* RING LL 8\n" +
			"# Errors with asterisks indicate errors that have exceeded the maximum threshold.\n" + footer: `
rows 1 torn 0 unknown 0 log 0
rccl-tests 2.18.3, rccl RCCL 2.27.7 (by rccl-tests 2.18.3), n0 on 0; complete <nil> []
6: all_reduce bfloat16 sum -1 in throughput ? 1024 256 1e-05s wrong wrong path {RING LL 8 false}
    map[#wrong:0 algbw:1.0 busbw:1.0 hipevt:9.0]
`,
		e1Head("redop") + "1024 256 float sum 10.0 1.00 1.00 5e-01* 11.0 1.00 1.00 2e-07\n" + footer: `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
9: all_reduce float32 sum -1 out throughput n2 1024 256 1e-05s wrong wrong iterations 20
    map[algbw:1.00 busbw:1.00 error:5e-01]
9: all_reduce float32 sum -1 in throughput n2 1024 256 1.1e-05s ok unknown iterations 20
    map[algbw:1.00 busbw:1.00 error:2e-07]
`,
	})
}

// A truncated log, a failure, unknown lines, several tests.
func TestDamage(t *testing.T) {
	head := modernHead("all_reduce_perf")
	const row = "1024 256 float sum -1 10.50 1.00 1.00 0 11.50 1.00 1.00 0\n"
	imports(t, map[string]string{
		head + row + row[:30]: `
rows 2 torn 1 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; interrupted {the lines under the table} []
7: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
7: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
`,
		head + row + "blue: Test CUDA failure common.cu:1 'made up'\n .. blue pid 1: Test failure common.cu:2\n": `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; aborted {blue: Test CUDA failure common.cu:1 'made up'} []
7: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
7: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
`,
		"starting up\n" + head + row + "\nsomething else\n12 monkeys\n" + row + footer + "bye\n": `
rows 2 torn 0 unknown 4 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
8: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
8: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
12: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
12: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
`,
		modern + "\n" + modernHead("") + row + footer + strings.Replace(modern, "all_gather", "alltoall", 2): `
rows 5 torn 0 unknown 0 log 0
nccl-tests 2.19.0, nccl NCCL 2.29.7 (by nccl-tests 2.19.0), n2 on 2; complete <nil> [wrong-values-counted]
12: all_gather float32 none -1 out throughput n2 64 8 1.25e-05s ok ok iterations 20
    map[algbw:0.01 busbw:0.00]
12: all_gather float32 none -1 in throughput n2 64 8 1.325e-05s ok ok iterations 20
    map[algbw:0.00 busbw:0.00]
13: all_gather float32 none -1 out throughput n2 128 16 1e-05s ok ok iterations 20
    map[algbw:0.01 busbw:0.01]
13: all_gather float32 none -1 in throughput n2 128 16 1.4e-05s wrong wrong iterations 20
    map[algbw:0.01 busbw:0.00]
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
24: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
24: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
nccl-tests 2.19.0, nccl NCCL 2.29.7 (by nccl-tests 2.19.0), n2 on 2; complete <nil> [wrong-values-counted]
38: alltoall float32 none -1 out throughput n2 64 8 1.25e-05s ok ok iterations 20
    map[algbw:0.01 busbw:0.00]
38: alltoall float32 none -1 in throughput n2 64 8 1.325e-05s ok ok iterations 20
    map[algbw:0.00 busbw:0.00]
39: alltoall float32 none -1 out throughput n2 128 16 1e-05s ok ok iterations 20
    map[algbw:0.01 busbw:0.01]
39: alltoall float32 none -1 in throughput n2 128 16 1.4e-05s wrong wrong iterations 20
    map[algbw:0.01 busbw:0.00]
`,
		head + row + "# error: made up\n" + footer: `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; aborted {# error: made up} []
7: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
7: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
`,
		head + row + footer + row + "12 monkeys\n": `
rows 2 torn 1 unknown 1 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
7: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
7: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
`,
		head + row + "# Avg bus bandwidth    : 1.0\n" + row: `
rows 2 torn 1 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
7: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
7: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
`,
		head + row + footer + "n1: Test NCCL failure common.cu:1 'made up'\n": `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; aborted {n1: Test NCCL failure common.cu:1 'made up'} []
7: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
7: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
`,
		head + row + footer + "$ mpirun -np 2 ./all_reduce_perf\nn1: Test NCCL failure common.cu:1 'made up'\n": `
rows 1 torn 0 unknown 1 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> []
7: all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
7: all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok iterations 20
    map[algbw:1.00 busbw:1.00]
`,
		strings.Replace(jsonTest, `"errors":[""]`, `"errors":["made up"]`, 1): `
rows 2 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL 2.30.7 (by nccl-tests), n2 on 2; aborted {made up} [wrong-values-counted]
0: all_reduce float32 sum -1 out throughput n2 8 2 1.2345678e-05s ok off iterations 20 path {RING LL 2 false}
    map[bus_bw:nan implementation:Coll per_iter:avg_us 12.4, p95_us 14, p99_us 15, cv_pct 8 result:1]
0: all_reduce float32 sum -1 in throughput n2 8 2 1.05e-05s wrong wrong iterations 20 path {RING LL 2 false}
    map[alg_bw:1 bus_bw:1 implementation:Coll result:1]
0: all_reduce float32 sum -1 in throughput n2 16 4 - ok ok
    map[alg_bw:1 bus_bw:1 cpu_time:3.5 result:2]
`,
	})
}

// Ranks in groups, and independent processes.
func TestWorlds(t *testing.T) {
	const head = "# Collective test starting: all_reduce_perf\n"
	const rank, gpu = "#  Rank  ", " Pid 1 on a device 0 [0000:00:01] X\n"
	const table = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
		"8 2 float sum -1 1 0 0 N/A 1 0 0 N/A\n" + footer
	imports(t, map[string]string{
		head + rank + "0 Group  0" + gpu + rank + "1 Group  1" + gpu + rank + "2 Group  0" + gpu +
			rank + "3 Group  1" + gpu + table: `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n2 on 1; complete <nil> [concurrent-groups]
7: all_reduce float32 sum -1 out throughput n2 8 2 1e-06s ok off
    map[algbw:0 busbw:0]
7: all_reduce float32 sum -1 in throughput n2 8 2 1e-06s ok off
    map[algbw:0 busbw:0]
`,
		head + strings.Repeat(rank+"0 Group  0"+gpu, 4) + table: `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n1 on 1; complete <nil> [separate-worlds]
7: all_reduce float32 sum -1 out throughput n1 8 2 1e-06s ok off
    map[algbw:0 busbw:0]
7: all_reduce float32 sum -1 in throughput n1 8 2 1e-06s ok off
    map[algbw:0 busbw:0]
`,
		head + table: `
rows 1 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL (by nccl-tests), n0 on 0; complete <nil> []
3: all_reduce float32 sum -1 out throughput ? 8 2 1e-06s ok off
    map[algbw:0 busbw:0]
3: all_reduce float32 sum -1 in throughput ? 8 2 1e-06s ok off
    map[algbw:0 busbw:0]
`,
	})
}

// Prefixes of launchers are not part of the lines; processes that do not know of each other have tables of their own.
func TestPrefixes(t *testing.T) {
	body := modernHead("all_reduce_perf") + rowOf(2, 5000) + footer
	for _, prefix := range []string{
		"[1,0]<stdout>:", "[1,0]<stdout>: ", "0: ", " 3: ", "[0] ", "[default0]:", "[rank0.example,0]<stdout>:",
		"worker-0  | ", "[pod/x-1/main] ", "> ",
		"2026-01-02T03:04:05.678Z ", "[2026-01-02 03:04:05] ", "node-17: ", "\x1b[32m", "2026-01-02T03:04:05Z 0: ",
	} {
		text := ""
		for _, l := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
			text += prefix + l + "\n"
		}
		m, c := read(t, text)
		if c.Rows != 1 || c.Unknown+c.Torn != 0 || len(m.runs) != 1 || m.runs[0].run.World != 2 {
			t.Errorf("%q: %+v, %d runs", prefix, c, len(m.runs))
		}
	}
	text := ""
	for _, l := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		text += "[1,0]<stdout>:" + l + "\n[1,1]<stdout>:" + l + "\r\n"
	}
	m, c := read(t, text)
	if c.Rows != 2 || len(m.runs) != 2 || c.Unknown != 0 {
		t.Errorf("two processes: %+v, %d runs", c, len(m.runs))
	}
}

func TestVersionOf(t *testing.T) {
	for code, want := range map[string]string{"22304": "2.23.4", "2708": "2.7.8", "x": "x", "23100": "2.31.0"} {
		if got := versionOf(code); got != want {
			t.Errorf("%s is %s", code, got)
		}
	}
}

const jsonTest = `{"version":4,"start_time":"2026-01-02 03:04:05","args":["/x/build/all_reduce_perf","-b8",
 "-a","3"],"env":["NCCL_ALGO=Ring","TOKEN=secret"],"nccl_version":23007,
"config":{"nthreads":1,"ngpus":1,"warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":0,
 "graph":0,"blocking_collectives":"false",
"devices":[{"rank":0,"group":0,"pid":1,"hostname":"a","device":0,"device_hex":"0000:01:00",
 "device_info":"X"},{"rank":1,"group":0,"pid":2,"hostname":"b","device":0,"device_hex":"0000:01:00","device_info":"X` +
	`"}]},
"results":[{"size":8,"count":2,"type":"float","redop":"sum","root":"    -1",
 "out_of_place":{"time":12.345678,"alg_bw":inf,"bus_bw":"nan","nwrong":null},
 "out_of_place_per_iter":{"min_us":11.0,"max_us":15.0,"avg_us":12.4,"p50_us":12.3,"p95_us":14,"p99_us":15,
 "stdev_us":1,"cv_pct":8,"times_us":[11,15]},
 "in_place":{"time":10.5,"alg_bw":1,"bus_bw":1,"nwrong":2.0},"actual_iterations":20,"experiment_name":"",
 "tuning":{"implementation":"Coll","algo":"RING","proto":"LL","#channels":2}},
 {"size":16,"count":4,"type":"float","redop":"sum","root":"    -1","out_of_place":null,
 "in_place":{"cpu_time":3.5,"alg_bw":1,"bus_bw":1,"nwrong":0.0},"actual_iterations":20}],
"out_of_bounds":{"count":2,"okay":"false"},"errors":[""],"end_time":"2026-01-02 03:05:05"}`

func TestJSON(t *testing.T) {
	processes := strings.NewReplacer(`"ngpus":1`, `"ngpus":4`, `"rank":1`, `"rank":4`, `"bus_bw":1,`, `"bus_bw":1.75,`)
	groups := strings.NewReplacer(`"ngpus":1`, `"ngpus":4`, `"rank":1,"group":0`, `"rank":4,"group":1`,
		`"bus_bw":1,`, `"bus_bw":1.5,`)
	imports(t, map[string]string{
		jsonTest: `
rows 2 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL 2.30.7 (by nccl-tests), n2 on 2; complete <nil> [wrong-values-counted]
0: all_reduce float32 sum -1 out throughput n2 8 2 1.2345678e-05s ok off iterations 20 path {RING LL 2 false}
    map[bus_bw:nan implementation:Coll per_iter:avg_us 12.4, p95_us 14, p99_us 15, cv_pct 8 result:1]
0: all_reduce float32 sum -1 in throughput n2 8 2 1.05e-05s wrong wrong iterations 20 path {RING LL 2 false}
    map[alg_bw:1 bus_bw:1 implementation:Coll result:1]
0: all_reduce float32 sum -1 in throughput n2 16 4 - ok ok
    map[alg_bw:1 bus_bw:1 cpu_time:3.5 result:2]
`,
		processes.Replace(jsonTest): `
rows 2 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL 2.30.7 (by nccl-tests), n8 on 2; complete <nil> [devices-partly-listed wrong-values-counted]
0: all_reduce float32 sum -1 out throughput n8 8 2 1.2345678e-05s ok off iterations 20 path {RING LL 2 false}
    map[bus_bw:nan implementation:Coll per_iter:avg_us 12.4, p95_us 14, p99_us 15, cv_pct 8 result:1]
0: all_reduce float32 sum -1 in throughput n8 8 2 1.05e-05s wrong wrong iterations 20 path {RING LL 2 false}
    map[alg_bw:1 bus_bw:1.75 implementation:Coll result:1]
0: all_reduce float32 sum -1 in throughput n8 16 4 - ok ok
    map[alg_bw:1 bus_bw:1.75 cpu_time:3.5 result:2]
`,
		groups.Replace(jsonTest): `
rows 2 torn 0 unknown 0 log 0
nccl-tests, nccl NCCL 2.30.7 (by nccl-tests), n4 on 2; complete <nil> [devices-partly-listed wrong-values-counted ` +
			`concurrent-groups]
0: all_reduce float32 sum -1 out throughput n4 8 2 1.2345678e-05s ok off iterations 20 path {RING LL 2 false}
    map[bus_bw:nan implementation:Coll per_iter:avg_us 12.4, p95_us 14, p99_us 15, cv_pct 8 result:1]
0: all_reduce float32 sum -1 in throughput n4 8 2 1.05e-05s wrong wrong iterations 20 path {RING LL 2 false}
    map[alg_bw:1 bus_bw:1.5 implementation:Coll result:1]
0: all_reduce float32 sum -1 in throughput n4 16 4 - ok ok
    map[alg_bw:1 bus_bw:1.5 cpu_time:3.5 result:2]
`,
	})
	m, _ := read(t, jsonTest)
	k, r := m.runs[0], m.records()[0]
	if k.run.Method.Average != "max over ranks" || len(k.run.Environment) != 1 || k.run.Imported.Ended == "" {
		t.Errorf("%+v", k.run)
	}
	if r.Time.Event == nil || r.Time.Event.Seconds != 1.23e-05 || r.Path.Channels != 2 || r.Time.Iterations != 20 {
		t.Errorf("%+v %+v", r.Time, r.Path)
	}
}

// Ranks with one PCI address on one host share a GPU. An address without its domain does not show that.
func TestSharedGPU(t *testing.T) {
	const rank = "#  Rank  0 Group  0 Pid 1 on a device 0 [0000:02:00] X\n"
	for second, shared := range map[string]bool{
		rank:                                     true,
		strings.Replace(rank, "02", "03", 1):     false,
		strings.Replace(rank, "on a", "on b", 1): false,
	} {
		table := "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" + rowOf(2, 5000)
		text := rank + strings.Replace(second, "Rank  0", "Rank  1", 1) + table
		short := strings.NewReplacer("0000:02:00", "0x02", "0000:03:00", "0x03").Replace(text)
		for text, shared := range map[string]bool{text: shared, short: false} {
			m, _ := read(t, text)
			if crowded := m.runs[0].run.Crowded(); (crowded != nil) != shared {
				t.Errorf("%s: %v", text, crowded)
			}
		}
	}
}

// The library's own line belongs to the test around it: before a table, within its header, below the footer of the
// test before it, and in its log.
func TestLibraryLine(t *testing.T) {
	table := modernHead("all_reduce_perf") + rowOf(2, 5000) + footer
	for line, want := range map[string]string{
		"RCCL version : 2.22.3-develop:abc\n":                         "rccl RCCL 2.22.3-develop:abc",
		"NCCL version 2.18.1+cuda12.1\n":                              "nccl NCCL 2.18.1+cuda12.1",
		"blue:7:8 [0] NCCL INFO NCCL version 2.18.1+cuda12.1\n":       "nccl NCCL 2.18.1+cuda12.1",
		"[1,0]<stdout>:b:7:8 [0] NCCL INFO RCCL version : 2.22.3\n":   "rccl RCCL 2.22.3",
		"blue:7:8 [0] NCCL INFO NET/Plugin: built for version 2.18\n": "nccl NCCL",
	} {
		texts := map[string]string{
			"before":         line + table,
			"within":         strings.Replace(table, "#       size", line+"#       size", 1),
			"below a footer": table + line + table,
		}
		for what, text := range texts {
			if strings.HasPrefix(line, "[1,0]") {
				text = "\n" + strings.ReplaceAll(text, line, line[len("[1,0]<stdout>:"):])
				text = strings.ReplaceAll(text, "\n", "\n[1,0]<stdout>:")
			}
			m, _ := read(t, text)
			b := m.runs[len(m.runs)-1].run.Backend
			if got := b.Name + " " + b.Library; got != want+" (by "+m.runs[0].run.Tool+")" &&
				got != want+" (by rccl-tests)" {
				t.Errorf("%s: %q %s: %q", what, line, want, got)
			}
			if b := m.runs[0].run.Backend; len(m.runs) > 1 && b.Version != "" {
				t.Errorf("%s: %q went to the test above it: %+v", what, line, b)
			}
		}
	}
}
