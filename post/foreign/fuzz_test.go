package foreign

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// seeds are small files of every layout.
var seeds = slices.Concat(ncclSeeds, jsonSeeds, otherSeeds)

// ncclSeeds are texts of nccl-tests and rccl-tests of all years.
var ncclSeeds = []string{
	modern, e1Head("redop") + "8 2 float sum 1 0 0 0e+00 1 0 0 N/A\n", e1Head("redop", "root") +
		"8 2 float sum 0 1 0 0 0e+00 1 0 0 N/A\n", modernHead("") + "8 2 float -1 1 0 0 0 1 0 0 0\n",
	"# bytes N type op time algbw busbw res time algbw busbw res\n8 2 float sum 0.1 0 0 N/A 0.1 0 0 N/A\n",
	"[1,0]<stdout>:" + strings.ReplaceAll(modern, "\n", "\n[1,0]<stdout>:"),
	"$ mpirun -np 2 ./build/scatter_perf -b 8\n" + e1Head("root") +
		"2048 256 float 0 10.0 2.00 1.00 0e+00 10.0 2.00 1.00 0e+00\n# Out of bounds values : 0 OK\n",
	modernHead("all_reduce_perf") + "8 2 float sum -1 1 0 0 0 1 0 0 0\n" +
		"blue: Test CUDA failure common.cu:1 'made up'\n",
	"# Collective test starting: reduce_perf\n" +
		"# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong " +
		"i_min i_max i_p99 i_cv% timestamp\n" +
		"1024 256 half avg 3 10.0 1.0 1.0 0 9.0 12.0 11.9 3.1 11.0 1.0 1.0 0 9.5 12.5 12.4 3.2  2026-01-02 03:04:05\n",
	"# Collective test starting: all_reduce_perf\n# in-place\n" +
		"# size count type redop root time hipevt algbw busbw #wrong algo proto nchannels\n" +
		"1024 256 bfloat16 sum -1 10.0 9.0 1.0 1.0 0* RING LL 8\n",
}

// jsonSeeds are documents: nccl-tests' versions 1 to 4, rccl-tests' rows in a list and by the line, SuperBench's.
var jsonSeeds = []string{
	jsonTest,
	strings.Replace(jsonTest, `"version":4`, `"version":3`, 1),
	strings.Replace(jsonTest, `"version":4`, `"version":2`, 1),
	`{"args":["all_gather_perf"],"config":{"nthreads":1,"ngpus":2},
"results":[{"size":8,"count":2,"type":"half","redop":"none","root":-1,
"out_of_place":{"time":1,"alg_bw":0,"bus_bw":0,"nwrong":0}}],"errors":[]}`,
	`{"version":1,"config":{},"results":{}}`,
	`{"version":2,"args":["x"],"results":[{"size":1,"out_of_place":{"time":-nan,"nwrong":-inf}},7,null],
"errors":["a","b"]}`,
	rcclRow, rcclRow + "\n" + rcclRow[:40], "[" + rcclRow + "," + rcclRow + "]",
}

// otherSeeds are CSV, and the texts of the other benchmarks.
var otherSeeds = []string{
	"numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,busbw,#wrong\n" +
		"0,AllReduce,4,2,1,1024,float,sum,0,50.0,0.02,0.03,0\n" +
		"0,AllGather,2,4,2,1,1024,float,none,0,52.0,0.02,0.01,2\n0,AllReduce,4,2\n",
	"backend,num_processes,data_size_mb,mean_time_ms\ngloo,2,1,1.5\n",
	"backend,device,num_processes,data_size_mb,mean_time_ms,std_time_ms\n\"gl\"\"oo\",cpu,2,1,1.5,0.1\n",
	osuFixture(
		"# OSU MPI Allgather Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n" +
			"16                      2.50\n",
	),
	osuFixture(
		"# OSU MPI Reduce_scatter Latency Test v7.4\n# Datatype: MPI_FLOAT.\n" +
			"# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  P50 Tail Lat(us)     " +
			"   Validation\n64  1.50  1.25  1.75  1000  1.40  Pass\n64 1.2",
	),
	"# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)   Min Latency(us)\n  1.50   1.25\n",
	"# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1   10.00\n",
	imbFixture, "Configuration: World Size=4\nBackend: nccl (x)\nTensor Size: 1,024 elements (1 MB)\n" +
		"  AllReduce:     0.100 ms | AlgBW: 58.59 GB/s | BusBW: 39.06 GB/s\n",
	"The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):\n|    1MiB |  17.50GBps |  10.00GBps " +
		"|\n",
	"--- Performance of all_gather on 4 devices ---\n1.0 KB               256x4  20.000 us  1.638  1.229\n",
}

const rcclRow = `{"numCycle":0,"name":"AllReduce","nodes":2,"ranks":4,"ranksPerNode":2,"gpusPerRank":1,
 "size":1024,"type":"float","redop":"sum","inPlace":0,"time":50.5,"algBw":0.02,"busBw":0.03,"wrong":"0"}`

// FuzzRead checks for any bytes: no panic, no more rows than lines, every point written, every run ended, no value
// that JSON cannot represent, and nothing that a reader of result files rejects.
func FuzzRead(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := &memory{}
		c, err := Read(strings.NewReader(text), File{Path: "x", SHA256: "00", Given: Given{"world": "4"}}, m)
		if err != nil {
			return
		}
		records := m.records()
		document := strings.ContainsAny(text, "{")
		if lines := strings.Count(text, "\n") + 1; !document && c.Rows > lines {
			t.Errorf("%d rows in %d lines", c.Rows, lines)
		}
		if c.Points != len(records) || c.Torn > c.Rows || c.Points > 2*(c.Rows-c.Torn) {
			t.Errorf("%+v, %d records", c, len(records))
		}
		for _, k := range m.runs {
			if k.end == nil || k.run.Imported == nil || k.run.World < 0 {
				t.Errorf("run %+v", k.run)
			}
		}
		for _, r := range records {
			if r.Collective == 0 || r.World < 0 || r.SizeBytes < -1 || r.Count < -1 || r.Status == "" ||
				r.Imported == nil || r.Check.Result == "" || r.Check.Wrong < 0 {
				t.Errorf("record %+v", r)
			}
			if r.Time != nil &&
				(r.Time.Seconds < 0 || math.IsInf(2*r.AlgBW(r.Time.Seconds), 0) || r.Time.Iterations < 0) {
				t.Errorf("time %+v", r.Time)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("%v: %+v", err, r)
			}
		}
	})
}

// Each seed of the fuzz test has a known layout.
func TestSeeds(t *testing.T) {
	for _, s := range seeds {
		if _, err := Read(strings.NewReader(s), File{Path: "x"}, &memory{}); err != nil {
			t.Errorf("%v\n%s", err, s)
		}
	}
}
