package foreign

import (
	"math"
	"strings"
	"testing"
)

// seeds are small files of every layout.
var seeds = []string{
	modern, e1Head("redop") + "8 2 float sum 1 0 0 0e+00 1 0 0 N/A\n", modernHead("") + "8 2 float -1 1 0 0 0 1 0 0 0\n",
	"# bytes N type op time algbw busbw res time algbw busbw res\n8 2 float sum 0.1 0 0 N/A 0.1 0 0 N/A\n",
	modernHead("reduce_perf") + "8 2 float sum 0blue:1:2 [0] NCCL INFO x\n 1.0 0 0 0 1.0 0 0 0\n",
	"[1,0]<stdout>:" + strings.ReplaceAll(modern, "\n", "\n[1,0]<stdout>:"),
	jsonTest, `[{"numCycle":0,"name":"AllReduce","ranks":4,"size":1024,"type":"float","redop":"sum","inPlace":0,"time":50.5,"wrong":"0"}]`,
	`{"nccl-bw/allreduce_16_time:0":5.5}`, "numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,busbw,#wrong\n0,AllReduce,4,2,1,1024,float,sum,0,50.0,0.02,0.03,0\n",
	"backend,num_processes,data_size_mb,mean_time_ms\ngloo,2,1,1.5\n", osuFixture("# OSU MPI Allgather Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n16                      2.50\n"),
	imbFixture, "Configuration: World Size=4\nBackend: nccl (x)\nTensor Size: 1,024 elements (1 MB)\n  AllReduce:     0.100 ms | AlgBW: 58.59 GB/s | BusBW: 39.06 GB/s\n",
	"COMMS-RES total-size (B) nElementsPerRank Time(us):p50\nCOMMS-RES-all_reduce-float32 1024 256 12.5\n",
	"np 2 pure C bytes 8 med 0.331 p90 0.371 p99 0.510 max 54.3 us\n",
}

// FuzzRead holds what must be true of any bytes: no panic, no more rows than lines, every point handed on, every run ended,
// no figure that JSON cannot hold, and nothing that a reader of result files would refuse.
func FuzzRead(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := &memory{}
		c, err := Read(strings.NewReader(text), File{Path: "x", SHA256: "00", Given: Given{World: 4}}, m)
		if err != nil {
			return
		}
		records := m.records()
		json := strings.ContainsAny(text, "{")
		if lines := strings.Count(text, "\n") + 1; !json && c.Rows > lines {
			t.Errorf("%d rows in %d lines", c.Rows, lines)
		}
		if c.Points != len(records) || c.Torn > c.Rows || c.Points > 2*(c.Rows-c.Torn) {
			t.Errorf("%+v, %d records", c, len(records))
		}
		if len(m.lines) != c.Torn+c.Unknown+c.Log {
			t.Errorf("%+v, %d lines kept", c, len(m.lines))
		}
		for _, k := range m.runs {
			if k.end == nil || k.run.Imported == nil || k.run.World < 0 {
				t.Errorf("run %+v", k.run)
			}
		}
		for _, r := range records {
			if r.Collective == 0 || r.World < 0 || r.SizeBytes < -1 || r.Count < -1 || r.Status == "" || r.Imported == nil || r.Check.Result == "" {
				t.Errorf("record %+v", r)
			}
			if r.Time != nil && (r.Time.Seconds < 0 || math.IsInf(r.Time.Seconds, 0) || math.IsNaN(r.Time.Seconds)) {
				t.Errorf("time %+v", r.Time)
			}
		}
	})
}
