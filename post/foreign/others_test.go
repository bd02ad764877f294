package foreign

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// osuFixture is a test of OSU behind a blank line, as it prints it.
func osuFixture(text string) string { return "\n" + text }

// Sizes of OSU ascend: a row that is not larger than those above belongs to another table, whose heading is missing.
func TestOSU(t *testing.T) {
	imports(t, map[string]string{
		"$ mpirun -np 4 osu_reduce_scatter -f\n" + osuFixture(`# OSU MPI Reduce_scatter Latency Test v7.4
# Datatype: MPI_FLOAT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  P50 Tail Lat(us)        Validation
64                      1.50              1.25              1.75        1000              1.40              Pass
128                     2.50              2.25              2.75        1000              2.40              Fail
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  P50 Tail Lat(us)        Validation
64                      1.25              1.25              1.25        1000              1.40              Pass
64                      1.2`): `
rows 4 torn 1 unknown 0 log 0
OSU Micro-Benchmarks 7.4, mpi MPI (by OSU Micro-Benchmarks 7.4), n0 on 0; complete <nil> []
6: reduce_scatter float32 sum -1 ? latency ? 64 -1 1.5e-06s ok ok iterations 1000
    map[Max Latency(us):1.75 Min Latency(us):1.25 P50 Tail Lat(us):1.40]
7: reduce_scatter float32 sum -1 ? latency ? 128 -1 2.5e-06s wrong wrong iterations 1000
    map[Max Latency(us):2.75 Min Latency(us):2.25 P50 Tail Lat(us):2.40]
10: reduce_scatter int32 sum -1 ? latency ? 64 -1 1.25e-06s ok ok iterations 1000
    map[Max Latency(us):1.25 Min Latency(us):1.25 P50 Tail Lat(us):1.40]
`,
		"# OSU MPI Allreduce Latency Test v5.6\n# Size       Avg Latency(us)\n4  1.50\n": `
rows 1 torn 0 unknown 0 log 0
OSU Micro-Benchmarks 5.6, mpi MPI (by OSU Micro-Benchmarks 5.6), n0 on 0; complete <nil> []
3: all_reduce float32 sum -1 ? latency ? 4 1 1.5e-06s ok off
`,
		"# OSU MPI Allreduce Latency Test v5.6\n# Size       Avg Latency(us)\n4  1.50\n4  9.00\n": `
rows 1 torn 0 unknown 1 log 0
OSU Micro-Benchmarks 5.6, mpi MPI (by OSU Micro-Benchmarks 5.6), n0 on 0; complete <nil> []
3: all_reduce float32 sum -1 ? latency ? 4 1 1.5e-06s ok off
`,
		"# OSU NCCL-CUDA Allgather Latency Test v7.2\n# Size       Avg Latency(us)\n4  1.50\n": `
rows 1 torn 0 unknown 0 log 0
OSU Micro-Benchmarks 7.2, nccl NCCL (by OSU Micro-Benchmarks 7.2), n0 on 0; complete <nil> []
3: all_gather float32 none -1 ? latency ? -1 1 1.5e-06s ok off
`,
		"# OSU OpenSHMEM Broadcast Latency Test v5.6\n# Size       Avg Latency(us)\n4  1.50\n": `
rows 1 torn 0 unknown 0 log 0
OSU Micro-Benchmarks 5.6, openshmem OpenSHMEM (by OSU Micro-Benchmarks 5.6), n0 on 0; complete <nil> []
3: broadcast ? none 0 ? latency ? 4 -1 1.5e-06s ok off
`,
		"# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)   Min Latency(us)\n  1.50   1.25\n": `
rows 1 torn 0 unknown 0 log 0
OSU Micro-Benchmarks 7.4, mpi MPI (by OSU Micro-Benchmarks 7.4), n0 on 0; complete <nil> []
3: Barrier Latency ? none -1 ? latency ? -1 -1 1.5e-06s ok off
    map[Min Latency(us):1.25]
`,
		"# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1  10.00\n": `
rows 1 torn 0 unknown 0 log 0
OSU Micro-Benchmarks 7.4, mpi MPI (by OSU Micro-Benchmarks 7.4), n0 on 0; complete <nil> []
3: Bandwidth ? none -1 ? ? ? 1 -1 - ok off
    map[Bandwidth (MB/s):10.00]
`,
	})
}

const imbFixture = `#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#----------------------------------------------------------------
# Date                  : Fri Jan  2 03:04:05 2026
# MPI Version           : 3.1

# Calling sequence was: 

# IMB-MPI1 -npmin 4 Alltoall
#  Sendrecv

# Minimum message length in bytes:   0
#
# MPI_Datatype                   :   MPI_BYTE 
# MPI_Datatype for reductions    :   MPI_DOUBLE 
# MPI_Op                         :   MPI_MAX  

# List of Benchmarks to run:

# Alltoall
# Reduce

#----------------------------------------------------------------
# Benchmarking Alltoall 
# #processes = 4 
# ( 2 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.03         0.05         0.04
           16         1000         1.00         2.00         1.50
           32 out-of-mem.; needed X=   1.001 GB; use flag "-mem X"

#----------------------------------------------------------------
# Benchmarking Reduce 
# #processes = 4 
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects
           16         1000         1.00         2.00         1.50         0.00
           3

#----------------------------------------------------------------
# Benchmarking Barrier 
# #processes = 4 
#----------------------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
           50         6.99         7.09         7.02

# All processes entering MPI_Finalize
`

func TestIMB(t *testing.T) {
	imports(t, map[string]string{
		imbFixture: `
rows 6 torn 1 unknown 0 log 0
Intel MPI Benchmarks 2021.3, mpi MPI 3.1 (by Intel MPI Benchmarks 2021.3), n4 on 0; complete <nil> []
29: alltoall uint8 none -1 out latency n4 0 0 5e-08s ok off iterations 1000
    map[t_min[usec]:0.03]
30: alltoall uint8 none -1 out latency n4 64 16 2e-06s ok off iterations 1000
    map[t_min[usec]:1.00]
31: alltoall uint8 none -1 out latency n4 128 32 - oom none
Intel MPI Benchmarks 2021.3, mpi MPI 3.1 (by Intel MPI Benchmarks 2021.3), n4 on 0; complete <nil> []
38: reduce float64 max -1 out latency n4 16 2 2e-06s ok ok iterations 1000
    map[t_min[usec]:1.00]
Intel MPI Benchmarks 2021.3, mpi MPI 3.1 (by Intel MPI Benchmarks 2021.3), n4 on 0; complete <nil> []
46: Barrier ? none -1 ? latency n4 -1 -1 7.09e-06s ok off iterations 50
    map[t_min[usec]:6.99]
`,
	})
	m, _ := read(t, imbFixture)
	if m.runs[0].run.Launch != m.runs[2].run.Launch || m.runs[0].run.Imported.Started == "" ||
		m.records()[1].Time.Mean != 1.5e-06 {
		t.Errorf("%+v", m.runs[0].run)
	}
}

// Only the last block of a program can be cut off.
func TestIMBTruncated(t *testing.T) {
	for what, c := range map[string]struct {
		text string
		want []result.Outcome
	}{
		"a whole program": {
			imbRun + imbBlockOf("Bcast") + "\n# All processes entering MPI_Finalize\n",
			[]result.Outcome{result.Complete, result.Complete},
		},
		"cut off":         {imbRun + imbBlockOf("Bcast"), []result.Outcome{result.Complete, result.Interrupted}},
		"another program": {imbRun + imbRun, []result.Outcome{result.Complete, result.Interrupted}},
	} {
		m, _ := read(t, c.text)
		var got []result.Outcome
		for _, k := range m.runs {
			got = append(got, k.end.Outcome)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// The bandwidths of the profiler are made anew.
func TestProfile(t *testing.T) {
	imports(t, map[string]string{
		`
================================================================================
Configuration: World Size=4
Backend: nccl (torch.distributed)
================================================================================

Tensor Size: 1,048,576 elements (4.00 MB)
  AllReduce:     0.100 ms | AlgBW: 58.59 GB/s | BusBW: 39.06 GB/s
  AllGather:     0.200 ms | AlgBW: 14.65 GB/s | BusBW: 14.65 GB/s
  ReduceScatter: 0.200 ms | AlgBW: 14.6

Tensor Size: 2,097,152 elements (8.00 MB)
  AllReduce:     0.100 ms | AlgBW: 83.89 GB/s | BusBW: 125.83 GB/s

================================================================================
Profiling Complete!
================================================================================
`: `
rows 4 torn 1 unknown 0 log 0
collective profiler, nccl torch.distributed (by collective profiler), n4 on 0; complete <nil> []
8: all_reduce float32 sum -1 in throughput n4 4194304 1048576 0.0001s ok off
    map[AlgBW:58.59 BusBW:39.06]
9: all_gather float32 none -1 out throughput n4 16777216 1048576 0.0002s ok off
    map[AlgBW:14.65 BusBW:14.65]
13: all_reduce float32 sum -1 in throughput n4 8388608 2097152 0.0001s ok off
    map[AlgBW:83.89 BusBW:125.83]
`,
		strings.Replace(profileOf, "Size=2", "Size=0", 1) +
			"  AllGather: 0.010 ms | AlgBW: 0.00 GB/s | BusBW: 0.00 GB/s\n": `
rows 2 torn 0 unknown 0 log 0
collective profiler, nccl by collective profiler, n0 on 0; complete <nil> []
4: all_reduce float32 sum -1 in throughput ? 32 8 1e-05s ok off
    map[AlgBW:0.00 BusBW:0.00]
6: all_gather float32 none -1 out throughput ? -1 8 1e-05s ok off
    map[AlgBW:0.00 BusBW:0.00]
`,
	})
	m, _ := read(t, strings.Replace(profileOf, "0.00 GB/s", "58.59 GB/s", 1)+profileOf)
	if r := m.records(); len(r[0].Notes) != 1 || len(r[1].Notes) != 0 {
		t.Errorf("%v %v", r[0].Notes, r[1].Notes)
	}
}

// Tables and views that busbar itself wrote are refused.
func TestOwnFiles(t *testing.T) {
	for text, want := range map[string]string{
		"Configuration: World Size=4\nTensor Size: 1 elements (4 B)\n" +
			"Data checked: 1 of 1 measured points\n": "own:3: busbar made this",
		"run,campaign,launch,backend,world,size_bytes,time_s\n":                          "own:1: busbar made this",
		"# busbar 1: mpi (Open MPI), in the layout of nccl-tests\n# nThread 1 nGpus 1\n": "own:1: busbar made this",
	} {
		_, err := Read(strings.NewReader(text), File{Path: "own"}, &memory{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A line with a comma below a table is a torn row only if it begins like one.
func TestLinesBelowTable(t *testing.T) {
	const head = "backend,device,num_processes,size_mb,mean_ms\ngloo,cpu,2,1,1.5\n"
	for text, torn := range map[string]int{
		"gloo,cpu,2\n":                            1,
		"gloo,cpu,2,1,\"1.5\n":                    1,
		"gloo,cpu,2,1,x\n":                        1,
		"gloo,cpu,,1,1.5\n":                       1,
		"Warning: rank 1, slow\n":                 0,
		"done, with 12, of 13, and more, sizes\n": 0,
		"b:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to a,b,c,d\n": 0,
	} {
		m, counts := read(t, head+text)
		if counts.Torn != torn || counts.Unknown+counts.Log != 1-torn || len(m.records()) != 1 {
			t.Errorf("%s: %+v", text, counts)
		}
	}
}

func TestTables(t *testing.T) {
	imports(t, map[string]string{
		"numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,busbw,#wrong\n" +
			"0,AllReduce,4,2,1,1024,float,sum,0,50.0,0.02,0.03,0\n" +
			"1,AllReduce,4,2,1,1024,float,sum,1,51.0,0.02,0.03,N/A\n" +
			"0,AllGather,2,4,2,1,1024,float,none,0,52.0,0.02,0.01,2\n0,AllReduce,4,2\n": `
rows 4 torn 1 unknown 0 log 0
rccl-tests, rccl RCCL (by rccl-tests), n4 on 0; complete <nil> []
2: all_reduce float32 sum -1 out throughput n4 1024 256 5e-05s ok ok
    map[algbw:0.02 busbw:0.03]
3: all_reduce float32 sum -1 in throughput n4 1024 256 5.1e-05s ok off
    map[algbw:0.02 busbw:0.03]
rccl-tests, rccl RCCL (by rccl-tests), n4 on 2; complete <nil> []
4: all_gather float32 none -1 out throughput n4 1024 64 5.2e-05s wrong wrong
    map[algbw:0.02 busbw:0.01]
`,
		"backend,device,num_processes,data_size_mb,mean_time_ms,std_time_ms\n" +
			"gloo,cpu,2,1,1.5,0.1\nnccl,cuda,4,100,0.5,0.1\n": `
rows 2 torn 0 unknown 0 log 0
all-reduce script, gloo GLOO (by all-reduce script), n2 on 0; complete <nil> []
2: all_reduce float32 sum -1 in latency n2 1048576 262144 0.0015s ok unknown
    map[data_size_mb:1 device:cpu std_time_ms:0.1]
all-reduce script, nccl NCCL (by all-reduce script), n4 on 0; complete <nil> []
3: all_reduce float32 sum -1 in latency n4 104857600 26214400 0.0005s ok unknown
    map[data_size_mb:100 device:cuda std_time_ms:0.1]
`,
		"backend,collective,world_size,size_bytes,size_mb,avg_us,median_us,dtype\nnccl,broadcast,2,8,1,2.5,1.5,\n" +
			"nccl,all_gather,4,8,1,2.5,1.5,float16\n": `
rows 2 torn 0 unknown 0 log 0
all-reduce script, nccl NCCL (by all-reduce script), n2 on 0; complete <nil> []
2: broadcast ? none -1 ? latency n2 8 -1 1.5e-06s ok unknown
    map[size_mb:1]
all-reduce script, nccl NCCL (by all-reduce script), n4 on 0; complete <nil> []
3: all_gather float16 none -1 ? latency n4 32 4 1.5e-06s ok unknown
    map[size_mb:1]
`,
	})
}

// Assumptions about scripts, and that a size is made of shares, are recorded once.
func TestDeductionsOfScripts(t *testing.T) {
	const row = "nccl,all_gather,4,32,1.5\n"
	m, _ := read(t, "backend,collective,world_size,size_bytes,time_us\n"+row+row)
	want := notice.Of(notice.ScriptHabits{},
		notice.Deduced{What: notice.DeducedSize, From: notice.FromShare, Collective: "all_gather"})
	if got := m.runs[0].run.Imported.Deduced; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestRCCLJSON(t *testing.T) {
	const runs = `rccl-tests, rccl RCCL (by rccl-tests), n4 on 2; `
	const row = `0: all_reduce float32 sum -1 out throughput n4 1024 256 5.05e-05s ok ok
    map[algbw:0.02 busbw:0.03]
`
	imports(t, map[string]string{
		"\xef\xbb\xbf[" + rcclRow + ",5," + rcclRow + "]": "\nrows 2 torn 0 unknown 1 log 0\n" +
			runs + "complete <nil> []\n" + row + row,
		rcclRow + "\n" + rcclRow + "\n": "\nrows 2 torn 0 unknown 0 log 0\n" + runs + "complete <nil> []\n" + row + row,
		rcclRow + "\n" + rcclRow[:40]:   "\nrows 2 torn 1 unknown 0 log 0\n" + runs + "interrupted {} []\n" + row,
	})
}

// A truncated document is refused as a whole; of JSON lines only the last is torn.
func TestJSONTruncated(t *testing.T) {
	for _, text := range []string{jsonTest[:len(jsonTest)-20], "[" + rcclRow + "," + rcclRow[:40], "[" + rcclRow} {
		_, err := Read(strings.NewReader(text), File{Path: "x.json"}, &memory{})
		var refused *Error
		if !errors.As(err, &refused) || refused.Path != "x.json" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRowFormats(t *testing.T) {
	const bench = "The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):\n\n" +
		"| payload |    busbw   |    algbw   |\n| ------: | ---------: | ---------: |\n" +
		"|    1MiB |  17.50GBps |  10.00GBps |\n|    2MiB |"
	imports(t, map[string]string{
		bench + "|\n": `
rows 2 torn 1 unknown 0 log 0
all_reduce_bench, unknown by all_reduce_bench, n8 on 0; complete <nil> []
5: all_reduce float32 sum -1 ? throughput n8 1048576 -1 0.0001048576s ok off
    map[algbw:10.00 busbw:17.50]
`,
		"---- Performance of all_gather on 4 devices ---------------------\n" +
			"Size (Bytes)         Description               Duration             Throughput (Gbps)    BusBW (Gbps)\n" +
			"-----------------------------------------------------------------\n" +
			"1.0 KB               256x4                     20.000 us            1.638                1.229\n" +
			"1.0 MB               262144x4                  1.500 ms             22.370               16.777\n" +
			"1.0 MB               262144x4                  1.5\n": `
rows 3 torn 1 unknown 0 log 0
DeepSpeed communication benchmark, unknown by DeepSpeed communication benchmark, n4 on 0; complete <nil> []
4: all_gather ? none -1 ? throughput n4 4096 -1 2e-05s ok off
    map[busbw:1.229 description:256x4 throughput:1.638]
5: all_gather ? none -1 ? throughput n4 4194304 -1 0.0015s ok off
    map[busbw:16.777 description:262144x4 throughput:22.370]
`,
	})
}
