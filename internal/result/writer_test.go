package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// newWriter returns a writer in dir that keeps its warnings.
func newWriter(t *testing.T, dir string, run Run) (*Writer, *[]string) {
	t.Helper()
	w, err := Create(dir, run, sampleRanks())
	must.NoError(t, err)
	var warned []string
	w.Warn = func(s string) { warned = append(warned, s) }
	return w, &warned
}

func sampleAppend(t *testing.T, w *Writer, n int) {
	t.Helper()
	for i := range n {
		r := sampleRecord(sampleCase(t, coll.AllReduce, 8<<i), 1e-5)
		must.NoError(t, w.Append(&r))
	}
}

func mustRead(t *testing.T, path string) *File {
	t.Helper()
	f, err := ReadFile(t.Context(), path)
	must.NoError(t, err)
	return f
}

func TestWriterReadsBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	w, warned := newWriter(t, dir, sampleRun())
	test.EqOp(t, "profile_nccl_world4_20261121T011155482Z.jsonl", filepath.Base(w.Path()))
	records := everything(t)
	for i := range records {
		must.NoError(t, w.Append(&records[i]))
		if got := mustRead(t, w.Path()); len(got.Records) != i+1 || got.End != nil {
			t.Fatalf("%d records and end %v on disk after %d", len(got.Records), got.End, i+1)
		}
	}
	for range 2 {
		must.NoError(t, w.End(End{Outcome: Interrupted,
			Why: Because(notice.RunSignalled{Signal: "SIGTERM"}), Code: 143}))
	}
	if err := w.Append(&records[0]); !errors.Is(err, ErrEnded) {
		t.Errorf("a record after the end: %v", err)
	}
	f := mustRead(t, w.Path())
	if len(f.Problems) != 0 || len(f.Ranks) != 4 || f.Run.ID != "run-1" || f.Run.Schema != Schema {
		t.Errorf("read back: %+v", f)
	}
	for i, r := range f.Records {
		if !reflect.DeepEqual(r, records[i]) || r.N != i+1 {
			t.Errorf("record %d came back as\n%+v, written was\n%+v", i+1, r, records[i])
		}
	}
	if f.End.Outcome != Interrupted || f.End.Code != 143 || f.End.Points[OK] != 14 || f.End.Points[Wrong] != 1 {
		t.Errorf("the end came back as %+v", f.End)
	}
	if left, _ := filepath.Glob(dir + "/*.tmp"); left != nil || len(*warned) != 0 {
		t.Errorf("left %v, warned %v", left, *warned)
	}
}

func TestNamesAreUnique(t *testing.T) {
	dir := t.TempDir()
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			run := sampleRun()
			run.ID = fmt.Sprint(i)
			w, err := Create(dir, run, nil)
			if err == nil {
				err = w.End(End{Outcome: Complete})
			}
			test.NoError(t, err)
		})
	}
	wait.Wait()
	files, err := Find(dir)
	if err != nil || len(files) != 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	ids := map[string]bool{}
	for _, f := range files {
		ids[mustRead(t, f).Run.ID] = true
	}
	test.EqOp(t, 20, len(ids))
}

func TestEndWhileAppending(t *testing.T) {
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	sampleAppend(t, w, 1)
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			r := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
			if err := w.Append(&r); err != nil {
				if !errors.Is(err, ErrEnded) {
					t.Error(err)
				}
				return
			}
		}
	})
	test.NoError(t, w.End(End{Outcome: Interrupted}))
	wait.Wait()
	b, err := os.ReadFile(w.Path())
	must.NoError(t, err)
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	if kindOf(lines[len(lines)-1]) != KindEnd {
		t.Errorf("the last line is %s", lines[len(lines)-1])
	}
}

func TestNonFiniteValue(t *testing.T) {
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	r := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
	r.Time.AutoCorr, r.Ranks.Median[2] = math.NaN(), math.Inf(1)
	must.NoError(t, w.Append(&r))
	if got := mustRead(t, w.Path()).Records; len(got) != 1 || got[0].Case != r.Case || got[0].Status != Failed ||
		got[0].Cause.Fact != (notice.ValueNotFinite{}) || got[0].Time != nil {
		t.Errorf("kept as %+v", got)
	}
}

func TestTextViewError(t *testing.T) {
	w, warned := newWriter(t, t.TempDir(), sampleRun())
	path := beside(w.Path(), textSuffix)
	must.NoError(t, errors.Join(os.Remove(path), os.MkdirAll(path+"/x", 0o777)))
	sampleAppend(t, w, 2)
	must.NoError(t, w.End(End{Outcome: Complete}))
	if len(*warned) != 1 || !strings.Contains((*warned)[0], "text view") {
		t.Errorf("warned: %q", *warned)
	}
	if f := mustRead(t, w.Path()); len(f.Records) != 2 || f.End == nil {
		t.Errorf("records were lost: %+v", f)
	}
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.NoError(t, os.WriteFile(file, nil, 0o666))
	test.NoError(t, CheckDir(filepath.Join(dir, "a/b/c")))
	for _, bad := range []string{file, filepath.Join(file, "x/y"), "/proc/self/results"} {
		if err := CheckDir(bad); err == nil || !strings.Contains(err.Error(), bad) ||
			!strings.Contains(err.Error(), "--out") {
			t.Errorf("CheckDir(%s): %v", bad, err)
		}
		if _, err := Create(bad, sampleRun(), nil); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("Create(%s): %v", bad, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSidecar: the times of all ranks of a large world go into a file beside the records.
func TestSidecar(t *testing.T) {
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	times := []float64{1.2345678901234567e-4, 2e-4}
	r := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
	for range 2 {
		must.NoError(t, w.AppendRanks(&r, AllRanks{Median: times, Late: times}))
	}
	must.NoError(t, w.End(End{Outcome: Complete}))
	b, err := os.ReadFile(filepath.Join(filepath.Dir(w.Path()), r.Ranks.Sidecar))
	lines := bytes.Split(b, []byte("\n"))
	var got RankTimes
	if err = errors.Join(err, json.Unmarshal(lines[1], &got)); err != nil {
		t.Fatal(err)
	}
	want := RankTimes{Kind: KindRanks, Run: "run-1", N: 2, Median: []float64{1.23457e-4, 2e-4},
		Late: []float64{1.23457e-4, 2e-4}}
	if len(lines) != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d lines, the second %+v", len(lines), got)
	}
	if files, err := Find(filepath.Dir(w.Path())); err != nil || len(files) != 1 {
		t.Errorf("Find: %v, %v", files, err)
	}
}
