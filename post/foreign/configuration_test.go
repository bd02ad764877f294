package foreign

import (
	"fmt"
	"strings"
	"testing"
)

// variants are those of the runs.
func variants(m *memory) string {
	var all []string
	for _, k := range m.runs {
		all = append(all, k.run.Variant)
	}
	return strings.Join(all, "|")
}

// Tests of one file are launches of one configuration only if nothing between them can have changed it.
func TestConfigurationsOfOneFile(t *testing.T) {
	table := modernHead("all_reduce_perf") + rowOf(2, 5000) + footer
	log := "n1:1:2 [0] NCCL INFO "
	ring := log + "NCCL_ALGO set by environment to Ring\n"
	const osu = "# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n8 1.0\n"
	const imbHead = "# Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n"
	row := modernHead("all_reduce_perf") + rowOf(2, 5000)
	for what, c := range map[string]struct {
		text string
		want string
	}{
		"nothing between": {table + table + table, `||`},
		"headings": {"### A\n" + table + "### B\n" + table + "### C: NCCL_PROTO=LL\n" + table,
			`|after "### B"|after "### C: NCCL_PROTO=LL"`},
		"one heading alone": {"### A\n" + table + "### B\n" + table + table, `|after "### B"|after "### B"`},
		"the same again": {"noise\n" + table + "noise\n" + table + "x\n" + table + "noise\n" + table,
			`||after "x"|`},
		"one last line, three texts": {
			table + "A\n---- a\n" + table + "B\n---- a\n" + table + "C\n---- a\n" + table + "B\n---- a\n" + table,
			`|after "---- a"|after "---- a" (2)|after "---- a" (3)|after "---- a" (2)`,
		},
		"below a header": {table + modernHead("all_reduce_perf") + "plugin: policy B\n" + rowOf(2, 5000) + footer,
			`|after "plugin: policy B"`},
		"between rows": {modernHead("all_reduce_perf") + rowOf(2, 5000) + "noise\n" + rowOf(2, 5000) + footer +
			table, `|`},
		"variables of commands": {"$ mpirun -np 2 -x NCCL_PROTO=LL ./all_reduce_perf -b 8\n" + table +
			"$ mpirun -np 2 -x NCCL_PROTO=Simple ./all_reduce_perf -b 8\n" + table + "$ " +
			"mpirun -np 2 ./all_reduce_perf -b 8\n" +
			table, `NCCL_PROTO=LL|NCCL_PROTO=Simple|`},
		"variables of the log": {modernHead("all_reduce_perf") + log + "NCCL_MAX_NCHANNELS set by environment to 4.\n" +
			log + "NCCL_DEBUG_SUBSYS set by environment to ALL\n" + rowOf(2, 5000) + footer + table,
			`NCCL_MAX_NCHANNELS=4|`},
		"variables below a row": {row + ring + rowOf(2, 6000) + footer + table, `NCCL_ALGO=Ring|`},
		"variables far below": {row + strings.Repeat(rowOf(2, 5000), heldRows) + ring + footer + table,
			`|`},
		"variables below a footer": {table + ring + table, `|NCCL_ALGO=Ring`},
		"variables of an OSU run":  {osu + ring + "16 1.0\n" + osu, `NCCL_ALGO=Ring|`},
		"variables of an IMB block": {imbRun + imbBlockOf("Bcast") + ring + imbHead + imbBlockOf("Bcast"),
			`|NCCL_ALGO=Ring|`},
		"over rows of an IMB block": {
			imbRun + strings.Replace(imbBlockOf("Bcast"), "#bytes", ring+"#bytes", 1) + imbRun,
			`|NCCL_ALGO=Ring|`,
		},
		"variables of a command": {
			row + "$ mpirun -np 2 -x NCCL_ALGO=Ring ./all_reduce_perf\n" + table,
			`|NCCL_ALGO=Ring`,
		},
		"with a launcher's prefix": {strings.ReplaceAll("\n"+modernHead("all_reduce_perf")+log+
			"NCCL_ALGO set by environment to Ring\n"+rowOf(2, 5000)+footer, "\n", "\n[1,0]<stdout>:"),
			`NCCL_ALGO=Ring`},
		"a JSON of nccl-tests": {jsonTest, `NCCL_ALGO=Ring`},
		"runs of OSU": {"# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n8 1.0\n" +
			"--- B ---\n# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n" +
			"8 1.0\n", `|after "--- B ---"`},
		"blocks of a program of IMB": {imbRun + "A\n" + imbBlockOf("Bcast") +
			"B\n# Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n" + imbBlockOf("Bcast"), `|after "A"|after "B"`},
		"of the collective profiler": {profileOf + "B\n" + profileOf, `|after "B"`},
	} {
		m, _ := read(t, c.text)
		if got := variants(m); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func imbBlockOf(name string) string {
	return fmt.Sprintf(
		"# Benchmarking %s\n# #processes = 2\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"+
			"8 100 1.0 2.0 1.5\n",
		name,
	)
}

var imbRun = "# Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n" + imbBlockOf("Allreduce")

const profileOf = "Configuration: World Size=2\nBackend: nccl\nTensor Size: 8 elements (0.00 MB)\n" +
	"  AllReduce: 0.010 ms | AlgBW: 0.00 GB/s | BusBW: 0.00 GB/s\nProfiling Complete!\n"
