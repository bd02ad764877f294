package hangdoc

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice/hangs"
	"busbar/post/hang"
	"busbar/post/hang/hangtest"
)

// found is the finding about a job of four ranks whose rank 2 stopped.
func found(t *testing.T, not ...int) *hang.Finding {
	t.Helper()
	t.Chdir(t.TempDir())
	f := hangtest.NewFolder(t)
	all := hangtest.Call{Op: "all_reduce", In: 1000, Out: 1000}
	dumps := (&hangtest.Job{World: 4}).All(all, 22).Except(all, 2).Run()
	for _, d := range dumps {
		for i := range d.Entries {
			d.Entries[i].Function, d.Entries[i].Source = "train_step", "/home/user/train.py"
		}
	}
	f.Dumps(dumps, not...)
	f.File("pyspy_rank2.txt", "Process 9: python train.py\n\nThread 9 (idle): \"MainThread\"\n"+
		"    load_batch (train.py:81)\n"+
		"    <module> (train.py:90)\n")
	t.Chdir(f.Path)
	of, _, err := hang.Read(t.Context(), []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	return hang.Analyze(*of)
}

// The documents of a decided and of an undecided case, as they are shown.
func TestDocuments(t *testing.T) {
	folder, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*hang.Finding{"missing": found(t), "undecided": found(t, 2)} {
		for _, format := range []document.Format{document.Text, document.Markdown} {
			var b bytes.Buffer
			if err := Of(f).Write(&b, format); err != nil {
				t.Fatal(err)
			}
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
