package foreign

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// modern is a small test of today's layout.
const modern = `# nccl-tests version 2.19.0 nccl-headers=22803 nccl-library=22907
# Collective test starting: all_gather_perf
# nThread 1 nGpus 1 minBytes 64 maxBytes 128 step: 2(factor) warmup iters: 3 iters: 10 agg iters: 2 validation: 1 graph: 0 unalign: 0
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
	m := expect(t, modern, 2, 0, 0, 0,
		"all_gather float32 none -1 out throughput n2 64 8 1.25e-05s ok ok",
		"all_gather float32 none -1 in throughput n2 64 8 1.325e-05s ok ok",
		"all_gather float32 none -1 out throughput n2 128 16 1e-05s ok ok",
		"all_gather float32 none -1 in throughput n2 128 16 1.4e-05s wrong wrong")
	k := m.runs[0]
	r := k.records[0]
	if r.Time.Iterations != 20 || r.Time.Outliers != -1 || r.Time.Min != 0 || r.Imported.Line != 12 || r.Imported.Stated["busbw"] != "0.00" {
		t.Errorf("%+v %+v", r.Time, r.Imported)
	}
	if k.run.World != 2 || k.run.Nodes != 2 || k.run.RanksPerNode != 1 || k.run.Device != "Made Up GPU" || k.run.Tool != "nccl-tests 2.19.0" ||
		k.run.Backend.Version != "2.29.7" || k.run.Method.Warmup != 3 || k.run.Imported.Settings["maxBytes"] != "128" || !k.run.Start.IsZero() {
		t.Errorf("%+v", k.run)
	}
	if k.ranks[1].PID != 123456789 || k.ranks[1].Host != "red-2" || k.ranks[1].PCI != "0000:0b:00" {
		t.Errorf("%+v", k.ranks)
	}
	if !strings.Contains(k.run.Backend.Title(), "by nccl-tests 2.19.0") {
		t.Errorf("%q may pass for what rank measured", k.run.Backend.Title())
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
#       size         count    type   ` + strings.Replace(strings.Join(columns, "     "), "sum", "", 1) + `     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
`
}

// The collective of an old table follows from its columns and figures, or is left open.
func TestOldCollectives(t *testing.T) {
	for name, c := range map[string]struct{ head, row, want string }{
		"all_reduce":                  {e1Head("redop"), "1024 256 float sum 10.0 1.00 1.00 0e+00 10.0 1.00 1.00 0e+00", "all_reduce"},
		"reduce":                      {e1Head("redop", "root"), "1024 256 float max 1 10.0 1.00 1.00 0e+00 10.0 1.00 1.00 0e+00", "reduce"},
		"broadcast":                   {e1Head("root"), "1024 256 float 0 10.0 1.00 1.00 0e+00 10.0 1.00 1.00 0e+00", "broadcast"},
		"all_gather":                  {e1Head(), "2048 256 float 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 0e+00", "all_gather"},
		"sendrecv":                    {e1Head(), "1024 256 float 10.0 2.00 2.00 0e+00 10.0 2.00 2.00 N/A", "sendrecv"},
		"alltoall":                    {e1Head("redop"), "2048 256 float 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 N/A", "alltoall"},
		"reduce_scatter":              {e1Head("redop"), "2048 256 float sum 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 0e+00", "reduce_scatter"},
		"gather or scatter":           {e1Head("root"), "2048 256 float 0 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 0e+00", "other"},
		"named by the command":        {"$ mpirun -np 2 ./build/scatter_perf -b 8\n" + e1Head("root"), "2048 256 float 0 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 0e+00", "scatter"},
		"hypercube":                   {modernHead(""), "2048 256 float -1 10.0 2.00 2.00 0 10.0 2.00 2.00 0", "other"},
		"hypercube, named":            {modernHead("hypercube_perf"), "2048 256 float -1 10.0 2.00 2.00 0 10.0 2.00 2.00 0", "hypercube"},
		"named in the header":         {modernHead("alltoallv_perf_mpi"), "2048 256 float none -1 10.0 2.00 1.00 0 10.0 2.00 1.00 N/A", "alltoallv"},
		"sendrecv's unused operation": {modernHead("sendrecv_perf"), "1024 256 float sum -1 10.0 2.00 2.00 0 10.0 2.00 2.00 N/A", "sendrecv"},
		"two ranks, unchecked":        {modernHead(""), "1024 256 float sum -1 10.0 2.00 2.00 N/A 10.0 2.00 2.00 N/A", "other"},
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
			t.Errorf("%s: nothing is said of what it may be", name)
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
	return head + `# nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#  Rank  0 Group  0 Pid   1 on      blue device  0 [0x3b] Made Up GPU
#  Rank  1 Group  0 Pid   1 on      blue device  1 [0xaf] Made Up GPU
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
`
}

// The first layout has times in milliseconds, and lacks comment marks.
func TestMilliseconds(t *testing.T) {
	expect(t, `nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
# NCCL Tests compiled with NCCL 2.1
# Using devices
#   Rank  0 on       blue device  0 [0x05] Made Up GPU
#   Rank  1 on       blue device  1 [0x06] Made Up GPU

#                                              out-of-place                    in-place
#      bytes             N    type    root     time  algbw  busbw      res     time  algbw  busbw      res
           8             2   float       0    0.125   0.00   0.00    0e+00    0.250   0.00   0.00    0e+00
 Out of bounds values : 0 OK
 Avg bus bandwidth    : 0.1
`, 1, 0, 0, 0,
		"broadcast float32 none 0 out throughput n2 8 2 0.000125s ok ok",
		"broadcast float32 none 0 in throughput n2 8 2 0.00025s ok ok")
}

// A row into which the library's log was printed is put together again where a host of the ranks shows which part of a
// word is a value; a value is never cut out of the name of another host.
func TestRowBrokenByLog(t *testing.T) {
	const log = "blue:77:88 [0] NCCL INFO Channel 00\n"
	const start, out, in = "1024 256 float sum -1", " 10.50 1.00 1.00 0", " 11.50 1.00 1.00 0"
	for what, c := range map[string]struct {
		host   string
		text   string
		points int
		torn   int
	}{
		"behind the root":    {"blue", start + log + log + out + in, 2, 0},
		"behind a space":     {"blue", start + " " + log + out + in, 2, 0},
		"twice":              {"blue", start + log + out + log + in, 2, 0},
		"within a block":     {"blue", start + " 10.50" + log + " 1.00 1.00 0" + in, 2, 0},
		"behind the row":     {"blue", start + out + in + log, 2, 0},
		"another host":       {"red", start + out + log + in, 0, 1},
		"host of digits":     {"7f3a", start + out + "7f3a" + log[4:] + in, 2, 0},
		"before another row": {"blue", start + log + start + out + in, 2, 1},
		"at the end":         {"blue", start + log, 0, 1},
	} {
		m, counts := read(t, strings.ReplaceAll(modernHead("all_reduce_perf"), "blue", c.host)+c.text+"\n"+footer)
		if len(m.records()) != c.points || counts.Torn != c.torn {
			t.Errorf("%s: %+v", what, counts)
		}
		for i, r := range m.records() {
			want := "all_reduce float32 sum -1 " + []string{"out throughput n2 1024 256 1.05e-05s ok ok",
				"in throughput n2 1024 256 1.15e-05s ok ok"}[i]
			if brief(r) != want {
				t.Errorf("%s: %s", what, brief(r))
			}
		}
	}
}

// An asterisk marks a difference that is too large.
func TestStarredError(t *testing.T) {
	m := expect(t, e1Head("redop")+"1024 256 float sum 10.0 1.00 1.00 5e-01* 11.0 1.00 1.00 2e-07\n"+footer, 1, 0, 0, 0,
		"all_reduce float32 sum -1 out throughput n2 1024 256 1e-05s wrong wrong",
		"all_reduce float32 sum -1 in throughput n2 1024 256 1.1e-05s ok unknown")
	if s := m.records()[0].Imported.Stated["error"]; s != "5e-01" {
		t.Errorf("error %q", s)
	}
}

// Options that add columns.
func TestMoreColumns(t *testing.T) {
	m := expect(t, strings.Replace(modernHead("reduce_perf"), "#wrong     time   algbw   busbw #wrong", "#wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp", 1)+
		"1024 256 half avg 3 10.0 1.0 1.0 0 9.0 12.0 11.9 3.1 11.0 1.0 1.0 0 9.5 12.5 12.4 3.2  2026-01-02 03:04:05\n# Out of bounds values : 0 OK\n", 1, 0, 0, 0,
		"reduce float16 avg 3 out throughput n2 1024 256 1e-05s ok ok", "reduce float16 avg 3 in throughput n2 1024 256 1.1e-05s ok ok")
	if s := m.records()[1].Imported.Stated; s["i_min"] != "9.5" || s["i_cv%"] != "3.2" || s["timestamp"] != "2026-01-02 03:04:05" {
		t.Errorf("%v", s)
	}
	m = expect(t, strings.Replace(modernHead("reduce_perf"), "time   algbw   busbw #wrong     time   algbw   busbw #wrong", "cputime algbw busbw #wrong cputime algbw busbw #wrong", 1)+
		"1024 256 half avg 3 10.0 1.0 1.0 0 11.0 1.0 1.0 0\n# Out of bounds values : 0 OK\n", 1, 0, 0, 0,
		"reduce float16 avg 3 out throughput n2 1024 256 - ok ok", "reduce float16 avg 3 in throughput n2 1024 256 - ok ok")
	if s := m.records()[0].Imported.Stated; s["cputime"] != "10.0" {
		t.Errorf("time on the host: %v", s)
	}
	one := "# in-place\n# size count type redop root time hipevt algbw busbw #wrong algo proto nchannels\n"
	m = expect(t, "# rccl-tests version 2.18.3 rccl-headers=22803 rccl-library=22707\nHIP version  : 6.1\n# Collective test starting: all_reduce_perf\n"+one+
		"1024 256 bfloat16 sum -1 10.0 9.0 1.0 1.0 0* RING LL 8\n# Errors with asterisks indicate errors that have exceeded the maximum threshold.\n# Out of bounds values : 0 OK\n", 1, 0, 0, 0,
		"all_reduce bfloat16 sum -1 in throughput n2 1024 256 1e-05s wrong wrong")
	if p := m.records()[0].Path; p == nil || p.Algorithm != "RING" || p.Protocol != "LL" || p.Channels != 8 {
		t.Errorf("%v", p)
	}
	if b := m.runs[0].run.Backend; b.Name != "rccl" || b.Version != "2.27.7" {
		t.Errorf("%+v", b)
	}
}

// Prefixes of launchers are not part of the lines; processes that do not know of each other have tables of their own.
func TestPrefixes(t *testing.T) {
	body := modernHead("all_reduce_perf") + "        1024           256     float     sum      -1    10.50    1.00    1.00      0    11.50    1.00    1.00      0\n# Out of bounds values : 0 OK\n"
	for _, prefix := range []string{"[1,0]<stdout>:", "[1,0]<stdout>: ", "0: ", " 3: ", "[0] ", "[default0]:", "[rank0.example,0]<stdout>:", "worker-0  | ", "[pod/x-1/main] ", "> ",
		"2026-01-02T03:04:05.678Z ", "[2026-01-02 03:04:05] ", "node-17: ", "\x1b[32m", "2026-01-02T03:04:05Z 0: "} {
		text := ""
		for _, l := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
			text += prefix + l + "\n"
		}
		m, c := read(t, text)
		if c.Rows != 1 || c.Unknown+c.Torn != 0 || len(m.runs) != 1 || m.runs[0].run.World != 2 {
			t.Errorf("%q: %+v, %d runs\n%s", prefix, c, len(m.runs), strings.Join(m.lines, "\n"))
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

// A log that breaks off, a failure, strange lines, several tests.
func TestDamage(t *testing.T) {
	row := "        1024           256     float     sum      -1    10.50    1.00    1.00      0    11.50    1.00    1.00      0\n"
	whole := []string{"all_reduce float32 sum -1 out throughput n2 1024 256 1.05e-05s ok ok", "all_reduce float32 sum -1 in throughput n2 1024 256 1.15e-05s ok ok"}
	m := expect(t, modernHead("all_reduce_perf")+row+row[:70], 2, 1, 0, 0, whole...)
	if e := m.runs[0].end; e.Outcome != result.Interrupted {
		t.Errorf("%+v", e)
	}
	m = expect(t, modernHead("all_reduce_perf")+row+"blue: Test CUDA failure common.cu:1 'made up'\n .. blue pid 1: Test failure common.cu:2\n", 1, 0, 0, 0, whole...)
	if e := m.runs[0].end; e.Outcome != result.Aborted || !strings.Contains(e.Reason, "made up") {
		t.Errorf("%+v", e)
	}
	expect(t, "starting up\n"+modernHead("all_reduce_perf")+row+"\nsomething else\n12 monkeys\n"+row+"# Out of bounds values : 0 OK\nbye\n", 2, 0, 4, 0, append(whole, whole...)...)
	m = expect(t, modern+"\n"+modernHead("")+row+"# Out of bounds values : 0 OK\n"+strings.Replace(modern, "all_gather", "alltoall", 2), 5, 0, 0, 0,
		append(append(briefs(t, modern), whole...), briefs(t, strings.Replace(modern, "all_gather", "alltoall", 2))...)...)
	if len(m.runs) != 3 || m.runs[2].run.Imported.Line != 26 {
		t.Errorf("%d runs, the last from line %d", len(m.runs), m.runs[len(m.runs)-1].run.Imported.Line)
	}
	if counts := fmt.Sprint(len(m.runs[0].records), len(m.runs[1].records), len(m.runs[2].records)); counts != "4 2 4" {
		t.Errorf("records by run: %s", counts)
	}
}

func briefs(t *testing.T, text string) (all []string) {
	m, _ := read(t, text)
	for _, r := range m.records() {
		all = append(all, brief(r))
	}
	return all
}

// Ranks in groups, and processes that do not know of each other.
func TestWorlds(t *testing.T) {
	ranks := func(format string, n int) (text string) {
		for i := range n {
			text += fmt.Sprintf(format, i, i%2)
		}
		return text
	}
	head := "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 0 graph: 0\n"
	table := "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n8 2 float sum -1 1 0 0 N/A 1 0 0 N/A\n# Out of bounds values : 0 OK\n"
	for _, c := range []struct {
		ranks string
		world int
		warns bool
	}{
		{ranks("#  Rank %2d Group %2d Pid 1 on a device 0 [0000:00:01] X\n", 8), 4, true},
		{strings.Repeat("#  Rank  0 Group  0 Pid 1 on a device 0 [0000:00:01] X\n", 4), 1, true},
		{"", 0, false},
	} {
		m, _ := read(t, "# Collective test starting: all_reduce_perf\n"+head+c.ranks+table)
		if run := m.runs[0].run; run.World != c.world || (len(run.Warnings) > 0) != c.warns {
			t.Errorf("%s: world %d, %v", c.ranks, run.World, run.Warnings)
		}
	}
}

// Where no line lists the ranks, the ratio of busbw to algbw may leave only one number of them.
func TestWorldOfRatio(t *testing.T) {
	head := "NCCL version 2.9.9+cuda11.2\n# size count type redop time algbw busbw error time algbw busbw error\n"
	for row, want := range map[string]string{
		"33554432 8388608 float sum 3144.5 10.67 20.01 5e-07 3160.7 10.62 19.91 5e-07":  "all_reduce n16",
		"33554432 8388608 float sum 3144.5 0.03 0.06 5e-07 3160.7 0.03 0.06 5e-07":      "all_reduce n0",
		"1048576 262144 float sum 100.0 100.00 100.00 0e+00 100.0 100.00 100.00 0e+00":  "all_reduce n2",
		"1048576 32768 float sum 100.0 100.00 87.50 0e+00 100.0 100.00 87.50 0e+00":     "reduce_scatter n8",
		"1048576 32768 float sum 100.0 1000.00 999.00 0e+00 100.0 1000.00 999.00 0e+00": "reduce_scatter n0",
	} {
		m, _ := read(t, head+row+"\n# Out of bounds values : 0 OK\n")
		r := m.records()[0]
		if got := fmt.Sprintf("%s n%d", r.Operation(), r.World); got != want {
			t.Errorf("%s: %s, wanted %s; %v %v", row, got, want, m.runs[0].run.Warnings, m.runs[0].run.Imported.Deduced)
		}
		if m.runs[0].run.Backend.Version != "2.9.9+cuda11.2" {
			t.Errorf("library: %+v", m.runs[0].run.Backend)
		}
	}
}

func TestVersionOf(t *testing.T) {
	for code, want := range map[string]string{"22304": "2.23.4", "2708": "2.7.8", "21805": "2.18.5", "x": "x", "23100": "2.31.0"} {
		if got := versionOf(code); got != want {
			t.Errorf("%s is %s", code, got)
		}
	}
}

const jsonTest = `{"version":4,"start_time":"2026-01-02 03:04:05","args":["/x/build/all_reduce_perf","-b8","-a","3"],"env":["NCCL_ALGO=Ring","TOKEN=secret"],"nccl_version":23007,
"config":{"nthreads":1,"ngpus":1,"warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":0,"graph":0,"blocking_collectives":"false",
"devices":[{"rank":0,"group":0,"pid":1,"hostname":"a","device":0,"device_hex":"0000:01:00","device_info":"X"},{"rank":1,"group":0,"pid":2,"hostname":"b","device":0,"device_hex":"0000:01:00","device_info":"X"}]},
"results":[{"size":8,"count":2,"type":"float","redop":"sum","root":"    -1","out_of_place":{"time":12.345678,"alg_bw":inf,"bus_bw":"nan","nwrong":null},
 "out_of_place_per_iter":{"min_us":11.0,"max_us":15.0,"avg_us":12.4,"p50_us":12.3,"p95_us":14,"p99_us":15,"stdev_us":1,"cv_pct":8,"times_us":[11,15]},
 "in_place":{"time":10.5,"alg_bw":1,"bus_bw":1,"nwrong":2.0},"actual_iterations":20,"experiment_name":"","tuning":{"implementation":"Coll","algo":"RING","proto":"LL","#channels":2}},
 {"size":16,"count":4,"type":"float","redop":"sum","root":"    -1","out_of_place":null,"in_place":{"cpu_time":3.5,"alg_bw":1,"bus_bw":1,"nwrong":0.0},"actual_iterations":20}],
"out_of_bounds":{"count":2,"okay":"false"},"errors":[""],"end_time":"2026-01-02 03:05:05"}`

func TestJSON(t *testing.T) {
	want := []string{"all_reduce float32 sum -1 out throughput n2 8 2 1.2345678e-05s ok off", "all_reduce float32 sum -1 in throughput n2 8 2 1.05e-05s wrong wrong",
		"all_reduce float32 sum -1 in throughput n2 16 4 - ok ok"}
	m := expect(t, jsonTest, 2, 0, 0, 0, want...)
	k, r := m.runs[0], m.records()[0]
	if k.run.Method.Average != "max over ranks" || k.run.Nodes != 2 || len(k.run.Environment) != 1 || k.run.Imported.Ended == "" || k.end.Outcome != result.Complete {
		t.Errorf("%+v %+v", k.run, k.end)
	}
	if r.Time.Event == nil || r.Time.Event.Seconds != 1.23e-05 || r.Path.Channels != 2 {
		t.Errorf("%+v %+v", r.Time.Event, r.Path)
	}
	if s := fmt.Sprintf("%+v", k.run); strings.Contains(s, "secret") {
		t.Error("the environment leaks")
	}
	// A file that breaks off keeps its whole rows.
	cut := strings.Index(jsonTest, `{"size":16`)
	m = expect(t, jsonTest[:cut+20], 2, 1, 0, 0, want[:2]...)
	if m.runs[0].end.Outcome != result.Interrupted {
		t.Errorf("%+v", m.runs[0].end)
	}
	m = expect(t, jsonTest[:cut], 2, 1, 0, 0, want[:2]...)
	if m.runs[0].end.Outcome != result.Interrupted {
		t.Errorf("%+v", m.runs[0].end)
	}
	// Several GPUs a process: only the first of each is listed.
	m, _ = read(t, strings.Replace(strings.Replace(jsonTest, `"ngpus":1`, `"ngpus":4`, 1), `"rank":1`, `"rank":4`, 1))
	if run := m.runs[0].run; run.World != 8 || len(run.Warnings) == 0 {
		t.Errorf("world %d, %v", run.World, run.Warnings)
	}
	// In two groups.
	groups := strings.NewReplacer(`"ngpus":1`, `"ngpus":4`, `"rank":1,"group":0`, `"rank":4,"group":1`)
	m, _ = read(t, groups.Replace(jsonTest))
	warnings := notice.Of(notice.DevicesPartlyListed{Listed: 2, World: 8}, notice.WrongValuesCounted{Values: 2},
		notice.ConcurrentGroups{})
	if run := m.runs[0].run; run.World != 4 || !reflect.DeepEqual(run.Warnings, warnings) {
		t.Errorf("world %d, %v", run.World, run.Warnings)
	}
}

// Ranks with one PCI address on one host share a GPU. An address without its domain does not show that.
func TestSharedGPU(t *testing.T) {
	for what, c := range map[string]struct {
		host, pci string
		shared    bool
	}{
		"one GPU":          {"a", "0000:02:00", true},
		"two GPUs":         {"a", "0000:03:00", false},
		"two hosts":        {"b", "0000:02:00", false},
		"without a domain": {"a", "0x02", false},
	} {
		first := "0000:02:00"
		if what == "without a domain" {
			first = c.pci
		}
		m, _ := read(t, fmt.Sprintf("# Collective test starting: all_reduce_perf\n#  Rank  0 Group  0 Pid 1 on a device 0 [%s] X\n#  Rank  1 Group  0 Pid 2 on %s device 0 [%s] X\n", first, c.host, c.pci)+
			"# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"+rowOf(2, 5000)+footer)
		if crowded := m.runs[0].run.Crowded(); (crowded != nil) != c.shared {
			t.Errorf("%s: %q", what, crowded)
		}
	}
}

// The library's own line belongs to the test around it: before a table, within its header, below the footer of the test before it,
// and in its log.
func TestLibraryOfItsOwnLine(t *testing.T) {
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
			if got := b.Name + " " + b.Library; got != want+" (by "+m.runs[0].run.Tool+")" && got != want+" (by rccl-tests)" {
				t.Errorf("%s: %q %s: %q", what, line, want, got)
			}
			if b := m.runs[0].run.Backend; len(m.runs) > 1 && b.Version != "" {
				t.Errorf("%s: %q went to the test above it: %+v", what, line, b)
			}
		}
	}
}
