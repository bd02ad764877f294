package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"busbar/internal/coll"
)

// replaced are flags of nccl-tests that rank lacks, by their long and short names, and what serves instead.
var replaced = map[string]string{}

func init() {
	for names, instead := range map[string]string{
		"parallel_init p":           "every rank initialises by itself here",
		"blocking z":                "--mode latency times each operation alone",
		"stream_null y":             "the stream is the tool's own",
		"report_cputime C":          "lateness_s and the per-rank summary show the host's share",
		"report_timestamps S":       "every record has its time in the file",
		"output_file J":             "--out DIR takes all results, as JSON lines",
		"device_implementation D V": "device kernels are not offered",
		"memory M":                  "--list shows the memory of a rank",
		"unalign u":                 "buffers are aligned to pages",
		"per_iter_timing I":         "--mode latency keeps the distribution",
		"per_iter_skip K":           "-w warms up what is measured",
	} {
		for name := range strings.FieldsSeq(names) {
			replaced[name] = instead
		}
	}
}

// torchs are flags of benchmark scripts around torch.distributed that rank lacks, and what serves instead.
var torchs = map[string]string{
	"device":         "NCCL measures on GPUs, Gloo and MPI on CPUs: --backend says which",
	"num_processes":  "the launcher starts the ranks of the largest world, and --worlds 2,4 measures smaller ones",
	"nproc_per_node": "the launcher starts the ranks: mpirun -np N, srun --ntasks-per-node=N",
	"data_sizes":     "-b 1M -e 1G -f 10 is a range of sizes, and a sweep file lists any (docs/sweeps.md)",
	"num_warmup":     "-w N",
	"num_iters":      "-n N; without it as many as the precision needs",
	"output":         "--out DIR takes all results; post export and post report write the tables",
	"master_addr":    "the launcher brings the ranks together, there is no address to choose",
	"master_port":    "addresses are exchanged over MPI, there is no port to choose or to find in use",
	"rdzv_endpoint":  "the launcher brings the ranks together, there is no address to choose",
}

// explainFlag adds to pflag's error what a person would want to know.
func explainFlag(f *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	key := strings.ReplaceAll(name, "-", "_")
	dashed := "--" + name
	if len(name) == 1 {
		dashed = "-" + name
	}
	if instead, ok := replaced[key]; ok {
		return fmt.Errorf("%s of nccl-tests is not here: %s", dashed, instead)
	}
	if instead, ok := torchs[key]; ok {
		return fmt.Errorf("%s of scripts around torch.distributed is not here: %s", dashed, instead)
	}
	var known []string
	f.VisitAll(func(fl *pflag.Flag) { known = append(known, fl.Name) })
	if near := coll.Nearest(name, known); near != "" && len(name) > 1 {
		return fmt.Errorf("unknown flag %s; did you mean --%s? (rank --help lists all)", dashed, near)
	}
	return fmt.Errorf("unknown flag %s (rank --help lists all)", dashed)
}
