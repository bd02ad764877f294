package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"
)

// examples are public logs outside of the repository.
const examples = "../../../shared/examples"

// whole are the points (rows times placements) of each file.
var whole = map[string]int{
	"nccl-tests/E0-2017-2019_allreduce_ms_RTX2080Ti_c0.log":                 42,
	"nccl-tests/E1-2019-2022_superbench_nccl_allgather.log":                 68,
	"nccl-tests/E1-2019-2022_superbench_nccl_allreduce.log":                 68,
	"nccl-tests/E1_GTX1080_broadcast_root-column_error.log":                 8,
	"nccl-tests/E2-2.13era_2nodes_x8_H100_8B-8G_allreduce_lessizzmore.log":  62,
	"nccl-tests/E2-2.13era_V100-16GB_2nodes_reduced-maxbytes_truncated.log": 58,
	"nccl-tests/E2-2.17.8_2nodes_allreduce+sendrecv_NA_xxrjun.log":          20,
	"nccl-tests/E2-2.19.6_2nodes_GB10_allgather_16G.log":                    12,
	"nccl-tests/E2-2.19.7_cuda-failure_no-rows.log":                         0,
	"nccl-tests/JSON-v3_2.19.7_8xH100_all_reduce_azure.json":                2,
	"nccl-tests/RCCL_2.17.9_8GPU_alltoall_NA_zero-rows.log":                 50,
	"nccl-tests/RCCL_develop33cc4df_2nodes_R9700_allreduce.log":             50,
	"osu/osu-allgather.txt":                                                 8, "osu/osu-allreduce-default.txt": 14,
	"osu/osu-allreduce-full.txt": 14, "osu/osu-allreduce-pct.txt": 8,
	"osu/osu-allreduce-validate.txt": 14, "osu/osu-alltoall-ddt.txt": 8, "osu/osu-barrier.txt": 1, "osu/osu-bw.txt": 11,
	"osu/osu-iallreduce-full.txt": 8,
	"osu/osu-inplace.txt":         4, "osu/osu-latency.txt": 7, "osu/osu-mbw_mr.txt": 7,
	"imb/imb-allreduce-np2.txt": 24, "imb/imb-msglen-double.txt": 4, "imb/imb-multi0.txt": 8,
	"imb/imb-multi1.txt":   12,
	"imb/imb-offcache.txt": 11, "imb/imb-outofmem.txt": 2, "imb/imb-several.txt": 57, "imb/imb-timeout.txt": 1,
}

// TestExamples: every file of these folders is read completely, without unknown lines.
func TestExamples(t *testing.T) {
	seen := 0
	for _, folder := range []string{"nccl-tests", "osu", "imb"} {
		for _, path := range needs.Examples(t, filepath.Join(examples, folder, "*")) {
			name := folder + "/" + filepath.Base(path)
			if name == "imb/bare-c-loop-np2.txt" { // of no benchmark's layout
				continue
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, c := read(t, string(b))
			want, listed := whole[name]
			if len(m.records()) != want || c.Points != want || c.Torn+c.Unknown > 0 || !listed {
				t.Errorf("%s: %+v, %d points of %d", name, c, len(m.records()), want)
			}
			for _, r := range m.records() {
				if strings.HasPrefix(folder, "nccl") && r.Operation() == "other" {
					t.Errorf("%s:%d: the collective is not found: %v", name, r.Imported.Line, m.runs[0].run.Warnings)
				}
			}
			seen++
		}
	}
	if seen != len(whole) {
		t.Errorf("%d files of %d", seen, len(whole))
	}
}

// TestBandwidthsMatch: size, time and world that are read make the bandwidths that nccl-tests printed.
func TestBandwidthsMatch(t *testing.T) {
	files := needs.Examples(t, filepath.Join(examples, "nccl-tests", "*.log"))
	compared := 0
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := read(t, string(b))
		for _, r := range m.records() {
			stated, ok := number(r.Imported.Stated["busbw"])
			if !ok || r.Time == nil {
				t.Fatalf("%s:%d: no busbw", path, r.Imported.Line)
			}
			made := r.BusBW(r.Time.Seconds) / 1e9
			if off := made - stated; stated > 1 && (off > 0.006+0.002*stated || off < -0.006-0.002*stated) {
				t.Errorf("%s:%d: got %g GB/s, want %g", path, r.Imported.Line, made, stated)
			}
			compared++
		}
	}
	if compared < 300 {
		t.Errorf("%d points compared", compared)
	}
}
