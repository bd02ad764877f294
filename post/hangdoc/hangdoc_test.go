package hangdoc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice/hangs"
	"busbar/post/hang"

	"github.com/shoenig/test/must"
)

// dump is the Flight Recorder's of a rank of four that entered n all_reduces and completed 22.
func dump(rank, n int) string {
	var entries []string
	for i := range n {
		state := "completed"
		if i >= 22 {
			state = "scheduled"
		}
		entries = append(entries, fmt.Sprintf(`{"record_id": %d, "pg_id": 0, "process_group": ["0", "default_pg"],
			"collective_seq_id": %d, "profiling_name": "nccl:all_reduce", "time_created_ns": %d, "state": %q,
			"input_sizes": [[1000]], "input_dtypes": ["Float"], "output_sizes": [[1000]], "output_dtypes": ["Float"],
			"frames": [{"name": "train_step", "filename": "/home/user/train.py", "line": 81}]}`, i, i+1,
			int64(1_795_000_000+i)*1e9+int64(rank)*1e6, state))
	}
	return fmt.Sprintf(`{"version": "2.10", "entries": [%s],
		"pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}}}`, strings.Join(entries, ","))
}

// found is the finding about a job of four ranks whose rank 2 stopped.
func found(t *testing.T, not ...int) *hang.Finding {
	t.Helper()
	t.Chdir(t.TempDir())
	files := map[string]string{"pyspy_rank2.txt": "Process 9: python train.py\n\nThread 9 (idle): \"MainThread\"\n" +
		"    load_batch (train.py:81)\n" +
		"    <module> (train.py:90)\n"}
	for rank, n := range []int{23, 23, 22, 23} {
		if !slices.Contains(not, rank) {
			files[fmt.Sprint("trace_", rank)] = dump(rank, n)
		}
	}
	for name, text := range files {
		must.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	of, _, err := hang.Read(t.Context(), []string{"."})
	must.NoError(t, err)
	return hang.Analyze(*of)
}

// The documents of a decided and of an undecided case, as they are shown.
func TestDocuments(t *testing.T) {
	folder, err := filepath.Abs("testdata")
	must.NoError(t, err)
	for name, f := range map[string]*hang.Finding{"missing": found(t), "undecided": found(t, 2)} {
		for _, format := range []document.Format{document.Text, document.Markdown} {
			var b bytes.Buffer
			must.NoError(t, Of(f).Write(&b, format))
			golden.Text(t, filepath.Join(folder, name+"."+string(format)), b.String())
		}
	}
}

// The chart has a row for each rank, and a square for each of the last 20 collectives; many ranks that did the same
// share a row.
func TestChart(t *testing.T) {
	f := found(t)
	drawn := string(chart(f.Calls).HTML)
	if n, want := strings.Count(drawn, "<rect "), 4*len(f.Calls)+len(states); n != want || len(f.Calls) != 20 {
		t.Errorf("%d squares, not %d, of %d collectives", n, want, len(f.Calls))
	}
	if n := strings.Count(drawn, `fill="#de2d26"`); n != 2 { // of rank 2, and of the legend
		t.Errorf("%d red squares", n)
	}
	var most hangs.Ranks
	for rank := range 1023 {
		most = append(most, rank)
	}
	rows := rowsOf([]hang.Column{{Sequence: 6, Ranks: [hang.States]hangs.Ranks{
		hang.Waiting: most, hang.Missing: {1023},
	}}})
	if len(rows) != 2 || len(rows[0].ranks) != 1023 || rows[1].states != "2" {
		t.Errorf("%+v", rows)
	}
}
