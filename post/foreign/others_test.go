package foreign

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// osuFixture is a test of OSU behind a blank line, as it prints it.
func osuFixture(text string) string { return "\n" + text }

func TestOSU(t *testing.T) {
	full := "$ mpirun -np 4 osu_reduce_scatter -f\n" + osuFixture(`# OSU MPI Reduce_scatter Latency Test v7.4
# Datatype: MPI_FLOAT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  P50 Tail Lat(us)        Validation
64                      1.50              1.25              1.75        1000              1.40              Pass
128                     2.50              2.25              2.75        1000              2.40              Fail
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  P50 Tail Lat(us)        Validation
64                      1.25              1.25              1.25        1000              1.40              Pass
64                      1.2`)
	m := expect(t, full, 4, 1, 0, 0,
		"reduce_scatter float32 sum -1 out latency n4 64 4 1.5e-06s ok ok",
		"reduce_scatter float32 sum -1 out latency n4 128 8 2.5e-06s wrong wrong",
		"reduce_scatter int32 sum -1 out latency n4 64 4 1.25e-06s ok ok")
	r := m.records()[0]
	if r.Time.Iterations != 1000 || r.Time.Min != 0 || r.Imported.Stated["Min Latency(us)"] != "1.25" ||
		r.Imported.Stated["P50 Tail Lat(us)"] != "1.40" {
		t.Errorf("%+v %+v", r.Time, r.Imported)
	}
	expect(t, osuFixture(
		"# OSU MPI Allreduce Latency Test v5.6\n# Size       Avg Latency(us)\n4                       1.50\n"), 1, 0, 0, 0,
		"all_reduce float32 sum -1 ? latency ? 4 1 1.5e-06s ok off")
	expect(t, osuFixture(
		"# OSU NCCL-CUDA Allgather Latency Test v7.2\n# Size       Avg Latency(us)\n4                       1.50\n"), 1, 0, 0,
		0,
		"all_gather float32 none -1 ? latency ? -1 1 1.5e-06s ok off")
	expect(t, osuFixture(
		"# OSU OpenSHMEM Broadcast Latency Test v5.6\n# Size       Avg Latency(us)\n4                       1.50\n"), 1, 0, 0,
		0,
		"broadcast ? none 0 ? latency ? 4 -1 1.5e-06s ok off")
	expect(t, osuFixture(
		"# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)   Min Latency(us)\n             1.50              1.25\n"), 1,
		0, 0, 0,
		"Barrier Latency ? none -1 ? latency ? -1 -1 1.5e-06s ok off")
	expect(t, "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1                      10.00\n", 1, 0, 0, 0,
		"Bandwidth ? none -1 ? ? ? 1 -1 - ok off")
	expect(t, "+ srun --ntasks=2 /opt/osu_allreduce -l\n# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n8   0.50\n", 1, 0, 0, 0,
		"all_reduce int8 sum -1 in latency n2 8 8 5e-07s ok off")
}

// The number of ranks is that of the launcher, not of a program around it.
func TestRanksOfCommand(t *testing.T) {
	for command, want := range map[string]int{
		"mpirun -np 4 ./osu_allgather":                                            4,
		"salloc -N 2 -n 16 mpirun -np 4 ./osu_allgather":                          4,
		"salloc -N 2 -n 16 srun ./osu_allgather":                                  0,
		"nohup nice -n 10 mpirun -np 4 osu_allgather -f":                          4,
		"nohup nice -n 10 ./osu_allgather":                                        0,
		"time /opt/bin/mpiexec -n 8 nice -n 5 ./osu_allgather -n 3":               8,
		"srun -n2 osu_allgather":                                                  2,
		"mpirun_rsh -np 2 -hostfile hosts MV2_USE_CUDA=1 ./osu_allgather -m 1024": 2,
		"mpirun_rsh -np 8 h1 h2 h3 h4 h5 h6 h7 h8 ./osu_allgather":                8,
		"mpirun -np 1 ./other : -np 3 ./osu_allgather":                            0,
		"mpirun -np 1 ./osu_allgather : ./osu_allgather":                          0,
		"mpirun ./osu_allgather : -np 3 ./osu_allgather":                          0,
	} {
		m, _ := read(t, "$ "+command+"\n# OSU MPI Allgather Latency Test v7.4\n# Size  Avg Latency(us)\n8  1.0\n")
		if got := m.runs[0].run.World; got != want {
			t.Errorf("%s: %d ranks, want %d", command, got, want)
		}
	}
}

// A command is not applied to the table of another program.
func TestCommandOfAnotherProgram(t *testing.T) {
	osu := func(command, title string) string {
		return "$ NCCL_ALGO=Ring mpirun -np 4 " + command +
			"\n# OSU " + title + " Latency Test v7.4\n# Size  Avg Latency(us)\n8  1.0\n"
	}
	row := "1024 256 float 0 10.0 1.00 1.00 0e+00 10.0 1.00 1.00 0e+00\n"
	reduced := modernHead("all_reduce_perf") + rowOf(2, 5000) + footer
	for what, c := range map[string]struct{ text, want string }{
		"OSU":                 {osu("osu_allgather", "MPI Allgather"), "all_gather 4 Ring"},
		"OSU, broadcast":      {osu("osu_bcast", "MPI Broadcast"), "broadcast 4 Ring"},
		"OSU, NCCL":           {osu("osu_xccl_reduce_scatter", "NCCL-CUDA Reduce_scatter"), "reduce_scatter 4 Ring"},
		"OSU, no collective":  {osu("osu_barrier", "MPI Barrier"), "Barrier Latency 4 Ring"},
		"OSU, another":        {osu("osu_allreduce", "MPI Allgather"), "all_gather 0 "},
		"OSU, not its kind":   {osu("osu_allreduce", "MPI Barrier"), "Barrier Latency 0 "},
		"nccl-tests":          {"$ mpirun -np 3 ./broadcast_perf\n" + e1Head("root") + row + footer, "broadcast 2 "},
		"nccl-tests, another": {"$ mpirun -np 3 ./all_reduce_perf\n" + e1Head("root") + row + footer, "broadcast 2 "},
		"nccl-tests, named":   {"$ mpirun -np 3 ./all_gather_perf\n" + reduced, "all_reduce 2 "},
	} {
		m, _ := read(t, c.text)
		run := m.runs[0].run
		got := fmt.Sprint(m.records()[0].Operation(), " ", run.World, " ", run.Environment["NCCL_ALGO"])
		if got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
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
	m := expect(t, imbFixture, 6, 1, 0, 0,
		"alltoall uint8 none -1 out latency n4 0 0 5e-08s ok off",
		"alltoall uint8 none -1 out latency n4 64 16 2e-06s ok off",
		"alltoall uint8 none -1 out latency n4 128 32 - oom none",
		"reduce float64 max -1 out latency n4 16 2 2e-06s ok ok",
		"Barrier ? none -1 ? latency n4 -1 -1 7.09e-06s ok off")
	if len(m.runs) != 3 || m.runs[0].run.Launch != m.runs[2].run.Launch || m.runs[0].run.Imported.Started == "" ||
		m.runs[0].run.Command[0] != "IMB-MPI1" {
		t.Errorf("%d runs, %+v", len(m.runs), m.runs[0].run)
	}
	if r := m.records()[1]; r.Time.Mean != 1.5e-06 || r.Imported.Stated["t_min[usec]"] != "1.00" {
		t.Errorf("%+v %+v", r.Time, r.Imported)
	}
}

// Only the last block of a program can be cut off.
func TestIMBCutOff(t *testing.T) {
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

// The profiler's bandwidths are made anew, and only where they are wrong a note says so.
func TestProfile(t *testing.T) {
	m := expect(t, `
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
`, 4, 1, 0, 0,
		"all_reduce float32 sum -1 in throughput n4 4194304 1048576 0.0001s ok off",
		"all_gather float32 none -1 out throughput n4 16777216 1048576 0.0002s ok off",
		"all_reduce float32 sum -1 in throughput n4 8388608 2097152 0.0001s ok off")
	r := m.records()
	if len(r[0].Notes) != 1 || len(r[1].Notes) != 1 || len(r[2].Notes) != 0 || r[0].Imported.Stated["AlgBW"] != "58.59" {
		t.Errorf("%v %v %v", r[0].Notes, r[1].Notes, r[2].Notes)
	}
	_, err := Read(
		strings.NewReader(
			"Configuration: World Size=4\nBackend: mpi\nTensor Size: 1 elements (4 B)\nData checked: 1 of 1 measured points\n"),
		File{Path: "own.txt"}, &memory{})
	if err == nil || !strings.Contains(err.Error(), "own.txt:4: this is the text view") {
		t.Errorf("our own text view: %v", err)
	}
}

func TestCommsRes(t *testing.T) {
	m := expect(t,
		"\n\tCOMMS-RES                         total-size (B)  nElementsPerRank      Time(us):p50         p75         p95         Min         Max    AlgBW(GB/s) BusBW(GB/s)  TotalTime(us):p50\n"+
			"\tCOMMS-RES-all_reduce-float32              1024               256              12.5        13.0        14.0        11.0        15.0          0.082       0.143                 0.0\n"+
			"\tCOMMS-RES-all_gather_base-bfloat16-tag1              1024               64              12.5        13.0        14.0        11.0        15.0          0.082       0.143                 0.0\n"+
			"\tCOMMS-RES-all_to_allv-float32              1024               256              12.5        13.0\n", 3, 1, 0, 0,
		"all_reduce float32 sum -1 ? ? ? 1024 256 1.25e-05s ok unknown",
		"all_gather bfloat16 none -1 ? ? ? 1024 64 1.25e-05s ok unknown")
	if s := m.records()[1].Imported.Stated; s["tag"] != "tag1" || s["p95"] != "14.0" || s["Min"] != "11.0" {
		t.Errorf("%v", s)
	}
}

// Rows of PARAM without the heading that names their columns are refused, and the error says what is missing.
func TestCommsResWithoutHeading(t *testing.T) {
	const row = "COMMS-RES-all_reduce-float32  1024  256  12.5  13.0  14.0  11.0  15.0  0.082  0.143\n"
	counts, err := Read(strings.NewReader(row), File{Path: "some.log", SHA256: "00ff"}, &memory{})
	var refused *Error
	if !errors.As(err, &refused) || refused.Path != "some.log" || !strings.Contains(refused.Text, "heading") ||
		counts.Torn != 1 || counts.Points != 0 {
		t.Errorf("%v, %+v", err, counts)
	}
}

func TestTables(t *testing.T) {
	head := "numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
	m := expect(t, head+
		"0,AllReduce,4,2,1,1024,float,sum,0,50.0,0.02,0.03,0\n1,AllReduce,4,2,1,1024,float,sum,1,51.0,0.02,0.03,N/A\n0,AllGather,2,4,2,1,1024,float,none,0,52.0,0.02,0.01,2\n0,AllReduce,4,2\n", 4, 1, 0, 0,
		"all_reduce float32 sum -1 out throughput n4 1024 256 5e-05s ok ok",
		"all_reduce float32 sum -1 in throughput n4 1024 256 5.1e-05s ok off",
		"all_gather float32 none -1 out throughput n4 1024 64 5.2e-05s wrong wrong")
	if len(m.runs) != 2 || m.runs[1].run.Nodes != 2 || m.runs[0].run.Launch != m.runs[1].run.Launch ||
		m.records()[1].Cycle != 2 {
		t.Errorf("%d runs: %+v", len(m.runs), m.runs[len(m.runs)-1].run)
	}
	expect(t, "backend,device,num_processes,data_size_mb,mean_time_ms,std_time_ms,min_time_ms\ngloo,cpu,2,1,1.5,0.1,1.25\nnccl,cuda,4,100,0.5,0.1,x\n", 2, 0, 0, 0,
		"all_reduce float32 sum -1 in latency n2 1048576 262144 0.0015s ok unknown",
		"all_reduce float32 sum -1 in latency n4 104857600 26214400 0.0005s ok unknown")
	m = expect(t,
		"backend,collective,world_size,size_bytes,time_us,dtype\nnccl,broadcast,2,8,1.5,\nnccl,all_reduce,2,8,1.5,\nnccl,broadcast,2,8,1.5,float16\n", 3, 0, 0, 0,
		"broadcast ? none -1 ? latency n2 8 -1 1.5e-06s ok unknown",
		"all_reduce float32 sum -1 in latency n2 8 2 1.5e-06s ok unknown",
		"broadcast float16 none -1 ? latency n2 8 4 1.5e-06s ok unknown")
	if d := m.runs[0].run.Imported.Deduced; len(d) != 1 || d[0].Fact != (notice.ScriptHabits{}) {
		t.Errorf("what the script is taken to do is not said: %q", d)
	}
	_, err := Read(strings.NewReader("run,campaign,launch,backend,world,size_bytes,time_s\n"), File{Path: "merged.csv"},
		&memory{})
	if err == nil || !strings.Contains(err.Error(), "merged.csv:1: this table was made by busbar") {
		t.Errorf("our own table: %v", err)
	}
}

// A line with a comma below a table is a torn row only where it begins like one.
func TestLinesBelowTable(t *testing.T) {
	const script = "backend,device,num_processes,size_mb,mean_ms\n"
	const rccl = "numCycle,collective,ranks,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
	const row, cycle = "gloo,cpu,2,1,1.5\n", "0,AllReduce,4,1024,float,sum,0,50.0,0.02,0.03,0\n"
	for text, torn := range map[string]int{
		script + row + "gloo,cpu,2\n":                                                    1,
		script + row + "gloo,cpu,2,1,\"1.5\n":                                            1,
		script + row + "done, all 12 sizes measured\n":                                   0,
		script + row + "Warning: rank 1, slow\n":                                         0,
		script + row + "done, with 12, of 13, and more, sizes\n":                         0,
		script + row + "gloo,cpu,2,1,x\n":                                                1,
		script + row + "12,13\n":                                                         1,
		rccl + cycle + "0,AllReduce,4\n":                                                 1,
		rccl + cycle + "done, in 3 s\n":                                                  0,
		rccl + cycle + "b:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to a,b,c,d\n": 0,
		rccl + "0,AllReduce,4\n" + cycle:                                                 1,
		rccl + "starting, please wait\n" + cycle:                                         0,
	} {
		m, counts := read(t, text)
		if counts.Torn != torn || counts.Unknown+counts.Log != 1-torn || len(m.records()) != 1 {
			t.Errorf("%s: %+v", text, counts)
		}
	}
}

// A script's table gives one rank's share of a shared collective: that its size is made of it is stated.
func TestSizeOfSharesIsDeduced(t *testing.T) {
	const head = "backend,collective,world_size,size_bytes,num_elements,time_us,dtype\n"
	shares := notice.Deduced{What: notice.DeducedSize, From: notice.FromShare, Collective: "all_gather"}
	const row = "nccl,all_gather,4,32,,1.5,float32\n"
	for text, want := range map[string]notice.List{
		head + row + row: notice.Of(notice.ScriptHabits{}, shares),
		head + "nccl,all_gather,4,,8,1.5,float32\n":  notice.Of(notice.ScriptHabits{}, shares),
		head + "nccl,all_reduce,4,32,,1.5,float32\n": notice.Of(notice.ScriptHabits{}),
	} {
		m, _ := read(t, text)
		if got := m.runs[0].run.Imported.Deduced; !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
		if r := m.records()[0]; r.Collective == coll.AllGather && r.SizeBytes != 128 {
			t.Errorf("%s: %s", text, brief(r))
		}
	}
}

// Without a type or a number of ranks a number of elements is no size.
func TestElementsWithoutTypeOrWorld(t *testing.T) {
	const head = "backend,collective,world_size,num_elements,size_mb,time_us,dtype\nnccl,all_reduce,2,8,,1.5,float32\n"
	const whole = "all_reduce float32 sum -1 in latency n2 32 8 1.5e-06s ok unknown"
	for what, c := range map[string]struct {
		text string
		torn int
		want []string
	}{
		"no type": {head + "nccl,broadcast,2,8,1,1.5,\n", 0, []string{whole,
			"broadcast ? none -1 ? latency n2 1048576 -1 1.5e-06s ok unknown"}},
		"an unknown type": {head + "nccl,all_reduce,2,8,1,1.5,complex64\n", 0, []string{whole,
			"all_reduce ? sum -1 in latency n2 1048576 -1 1.5e-06s ok unknown"}},
		"no type, no size": {head + "nccl,broadcast,2,8,,1.5,\n", 1, []string{whole}},
		"no world":         {head + "nccl,all_gather,,8,1,1.5,float32\n", 1, []string{whole}},
		"a world of 0 ranks": {strings.Replace(profileOf, "Size=2", "Size=0", 1) +
			"  AllGather: 0.010 ms | AlgBW: 0.00 GB/s | BusBW: 0.00 GB/s\n", 0, []string{
			"all_reduce float32 sum -1 in throughput ? 32 8 1e-05s ok off",
			"all_gather float32 none -1 out throughput ? -1 8 1e-05s ok off"}},
	} {
		m, counts := read(t, c.text)
		var got []string
		for _, r := range m.records() {
			got = append(got, brief(r))
		}
		if !slices.Equal(got, c.want) || counts.Torn != c.torn {
			t.Errorf("%s: %+v\n%s", what, counts, strings.Join(got, "\n"))
		}
	}
}

func TestRCCLJSON(t *testing.T) {
	row := rcclRow
	want := "all_reduce float32 sum -1 out throughput n4 1024 256 5.05e-05s ok ok"
	for _, text := range []string{"[" + row + "," + row + "]", row + "\n" + row + "\n"} {
		if m := expect(t, text, 2, 0, 0, 0, want, want); len(m.runs) != 1 || m.runs[0].run.Nodes != 2 {
			t.Errorf("%d runs", len(m.runs))
		}
	}
	expect(t, "["+row+",{\"size\":1},"+row[:40], 2, 1, 1, 0, want)
	expect(t, "\xef\xbb\xbf["+row+",5,"+row+"]", 2, 0, 1, 0, want, want)
	// A list that breaks off is not whole, be it between two rows.
	for _, end := range []string{"", ",", row[:40]} {
		if m := expect(t, "["+row+","+row+end, 3, 1, 0, 0, want, want); m.runs[0].end.Outcome != result.Interrupted {
			t.Errorf("%q: %+v", end, m.runs[0].end)
		}
	}
}

// Sizes of OSU ascend: a row that is not larger than those above is of another table, whose heading is missing.
func TestOSURowsOfAnotherTable(t *testing.T) {
	m, c := read(t,
		"# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n8  1.0\n16  1.5\n8  3.0\n16  4.5\n# OSU MPI Broadcast Latency Test v7.4\n# Size  Avg Latency(us)\n8  1.0\n")
	if len(m.runs) != 2 || len(m.runs[0].records) != 2 || len(m.runs[1].records) != 1 || c.Unknown != 2 ||
		c.First.At.String() != "some.log:5" {
		t.Errorf("%+v", c)
	}
}

// A table of the ML engineering book has bandwidths alone, or both bandwidths and latencies; of several collectives it
// has columns for each.
func TestTorchBench(t *testing.T) {
	software := "Environment:\n- software: torch=2.9.1+cu130, cuda=13.0, nccl=(2, 27, 7)\n"
	one := "The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):\n\n" +
		"| payload |    busbw   |    algbw   |\n| ------: | ---------: | ---------: |\n|    1MiB |  17.50GBps |  10.00GBps |\n"
	m := expect(t, software+one, 1, 0, 1, 0, "all_reduce float32 sum -1 ? throughput n8 1048576 -1 0.0001048576s ok off")
	if b := m.runs[0].run.Backend; b.Name != "nccl" || !strings.HasPrefix(b.Library, "NCCL 2.27.7") {
		t.Errorf("%+v", b)
	}
	expect(t, "The average bandwidth and the per-call latency of 2 collectives over 4 ranks (at least 5 warmups):\n\n"+
		"| payload | all_gather busbw | all_gather median | all_to_all busbw | all_to_all median |\n"+
		"| ------: | ---------------: | ----------------: | ---------------: | ----------------: |\n"+
		"|    768B |                  |              12.5 |             0.75 |               8.0 |\n", 1, 0, 0, 0,
		"all_gather float32 none -1 ? latency n4 768 -1 1.25e-05s ok off",
		"alltoall float32 none -1 ? throughput n4 768 -1 7.68e-07s ok off",
		"alltoall float32 none -1 ? latency n4 768 -1 8e-06s ok off")
	expect(t, strings.Replace(one, "over 8", "over 2", 1), 1, 0, 0, 0, "all_reduce float32 sum -1 ? throughput ? 1048576 -1 - failed off")
	m = expect(t, "---- Performance of all_gather on 4 devices ---------------------\n"+
		"Size (Bytes)         Description               Duration             Throughput (Gbps)    BusBW (Gbps)\n"+
		"-----------------------------------------------------------------\n"+
		"1.0 KB               256x4                     20.000 us            1.638                1.229\n"+
		"1.0 MB               262144x4                  1.500 ms             22.370               16.777\n"+
		"1.0 MB               262144x4                  1.5\n", 3, 1, 0, 0,
		"all_gather ? none -1 ? throughput n4 4096 -1 2e-05s ok off",
		"all_gather ? none -1 ? throughput n4 4194304 -1 0.0015s ok off")
	if s := m.records()[0].Imported.Stated; s["busbw"] != "1.229" || s["description"] != "256x4" {
		t.Errorf("%v", s)
	}
}
