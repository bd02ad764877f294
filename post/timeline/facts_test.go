package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/shoenig/test/must"

	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/post/trace/tracetest"
)

const tool = "post, busbar"

var byTool = Options{Tool: tool + " 9"}

// jittered is a trace as real ones are: no two times are equal. A step has many kernels, copies and all-reduces.
func jittered(t testing.TB, path string, rank, world, steps, calls int) (bytes int64) {
	t.Helper()
	group := tracetest.Group{Name: "0", About: "default_pg", Ranks: []int{0, 1, 2, 3, 4, 5, 6, 7}}
	f, err := os.Create(path)
	must.NoError(t, err)
	w := tracetest.NewWriter(f, tracetest.Options{Rank: rank, World: world, NCCL: "2.27.5", Base: 1.7e18,
		Groups: []tracetest.Group{group}})
	r := rand.New(rand.NewPCG(uint64(rank), 5))
	now, seq := int64(1e6), int64(0)
	for step := range steps {
		begin := now
		for call := range calls {
			for range 5 {
				took := 20_000 + r.Int64N(90_000)
				w.Kernel(tracetest.Kernel{Name: gemm, Stream: 7, Start: now, Took: took, Launch: now - 9000})
				now += took + r.Int64N(3000)
			}
			seq++
			elements := int64(1<<20 + call%7<<10)
			w.Kernel(tracetest.Kernel{Name: allReduce, Stream: 20, Start: now - r.Int64N(30_000),
				Took: 60_000 + r.Int64N(90_000), Launch: now - 50_000, Collective: &tracetest.Collective{
					Name: "allreduce", Type: "Float", In: elements, Out: elements, Group: group, Seq: seq}})
			now += r.Int64N(200_000)
		}
		now += 200_000
		w.Range(fmt.Sprintf("ProfilerStep#%d", step), begin-10_000, now-begin)
	}
	must.NoError(t, w.Close())
	at, err := f.Seek(0, io.SeekCurrent)
	must.NoError(t, err)
	must.NoError(t, f.Close())
	return at
}

// sameAsTraces checks that facts give the same timeline, with what is not in the JSON.
func sameAsTraces(t *testing.T, paths ...string) (facts string) {
	t.Helper()
	want, _, err := Read(t.Context(), paths, byTool)
	must.NoError(t, err)
	dir := t.TempDir()
	_, err = Extract(t.Context(), dir, tool, paths, byTool, func(path string) { facts = path })
	must.NoError(t, err)
	got, _, err := Read(t.Context(), []string{dir}, byTool)
	must.NoError(t, err)
	for i := range got.Files {
		must.StrHasPrefix(t, dir, got.Files[i].Facts)
		got.Files[i].Facts = ""
	}
	must.True(t, reflect.DeepEqual(want, got))
	return facts
}

// Ranks of one job; the last file is cut off, so that it has no steps and a note.
func TestFactsAsTraces(t *testing.T) {
	dir := t.TempDir()
	size := int64(0)
	for rank := range 4 {
		size = jittered(t, filepath.Join(dir, fmt.Sprintf("rank%d.json", rank)), rank, 8, 4, 20)
	}
	must.NoError(t, os.Truncate(filepath.Join(dir, "rank3.json"), size*2/3))
	facts := filepath.Dir(sameAsTraces(t, dir))
	want, _, err := ReadDiff(t.Context(), [2]string{dir, dir}, byTool)
	must.NoError(t, err)
	got, _, err := ReadDiff(t.Context(), [2]string{facts, dir}, byTool)
	must.NoError(t, err)
	got.Before.Path = dir
	must.True(t, reflect.DeepEqual(want, got) && want.Parts[0].Before > 0)
}

func TestFactsAsPublicTraces(t *testing.T) {
	for _, pattern := range []string{"hta/trace_filter*", "hta/[dn][fc]*", "nsys/*.sqlite", "tracelens/*"} {
		sameAsTraces(t, needs.Examples(t, filepath.Join(traces, pattern))...)
	}
}

// docs/timeline.md states the limit.
func TestFactsSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	size := jittered(t, path, 0, 8, 20, 40)
	must.Greater(t, 3e6, size)
	info, err := os.Stat(sameAsTraces(t, path))
	must.NoError(t, err)
	must.LessEq(t, size/100, info.Size())
}

// filled sets all that a value has, down to lists of lists, to numbers that differ.
func filled(v reflect.Value, next *int) {
	*next = *next%7 + 1
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			filled(reflect.NewAt(v.Field(i).Type(), unsafe.Pointer(v.Field(i).UnsafeAddr())).Elem(), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), next)
	case reflect.Slice:
		n := 9
		if v.Type().Elem().Kind() == reflect.Int64 { // of an operator: one more than there are steps
			n++
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			filled(v.Index(i), next)
		}
	case reflect.String:
		v.SetString(fmt.Sprint(*next))
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8: // a severity has three values
		v.SetUint(uint64(*next % 3))
	case reflect.Interface: // the fact of a notice
		v.Set(reflect.ValueOf(profiles.CUDAGraphs{Time: 0.1}))
	default:
		v.SetInt(int64(*next))
	}
}

func TestFactsKeepAllFields(t *testing.T) {
	want, next := &reduced{}, 0
	filled(reflect.ValueOf(want).Elem(), &next)
	var text bytes.Buffer
	must.NoError(t, want.write(&text, tool))
	got, err := readFacts(&text)
	must.NoError(t, err)
	must.True(t, reflect.DeepEqual(want, got))
}

func FuzzFacts(f *testing.F) {
	d := onGPU("range ProfilerStep#1 0-9; 7 gemm 0-4; 8 allReduce 3-5; 9 copy 6-8").analysed(Options{})
	r := &reduced{devices: []Device{d, d}, notes: []notice.Notice{notice.New(profiles.OnlyCopies{})}}
	var text bytes.Buffer
	must.NoError(f, json.NewEncoder(&text).Encode(r.facts()))
	f.Add(text.Bytes())
	f.Fuzz(func(_ *testing.T, text []byte) {
		if r, err := parseFacts(text); err == nil {
			b := NewBuilder(Options{})
			b.join(r)
			tl := b.Timeline()
			tl.InShort()
			ReplayOf(tl)
			_, _ = diffOf([2]string{}, [2]*Timeline{tl, tl})
			for i := range tl.Devices {
				tl.Devices[i].Calls()
				for _, s := range tl.Devices[i].Strips() {
					s.Runs()
				}
			}
		}
	})
}

// BenchmarkThousandFacts joins the facts of 20 steps of 64 all-reduces on 256, 512 and 1,024 ranks; time and memory
// grow linearly.
func BenchmarkThousandFacts(b *testing.B) {
	for _, world := range []int{256, 512, 1024} {
		b.Run(fmt.Sprint(world), func(b *testing.B) {
			dir := b.TempDir()
			path := filepath.Join(dir, "t.json")
			jittered(b, path, 0, world, 20, 64)
			r, err := read(b.Context(), path, byTool)
			must.NoError(b, err)
			must.NoError(b, os.Remove(path))
			for i := range mostOperators - 2 {
				o := operator{Name: fmt.Sprintf("%0300d", i), Steps: make([]int64, 21)}
				for n := range o.Steps {
					o.Steps[n] = rand.Int64N(2e6)
				}
				r.devices[0].operators = append(r.devices[0].operators, o)
			}
			for rank := range world {
				r.devices[0].named(rank)
				for i := range r.devices[0].seen { // another rank begins each call last
					s := &r.devices[0].seen[i]
					s.end = s.start + 60_000 + int64((i*31+rank*17)%world)*100
				}
				f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.facts", rank)))
				must.NoError(b, err)
				must.NoError(b, r.write(f, tool))
				must.NoError(b, f.Close())
			}
			for b.Loop() {
				tl, _, err := Read(b.Context(), []string{dir}, byTool)
				must.NoError(b, err)
				must.EqOp(b, 20*64, tl.Across.Matched)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/1e6, "MB-of-process")
		})
	}
}
