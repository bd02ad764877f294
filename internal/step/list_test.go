package step

import (
	"errors"
	"strings"
	"testing"

	"busbar/internal/coll"
)

func TestTable(t *testing.T) {
	m, err := Find("resnet50", nil)
	if err != nil {
		t.Fatal(err)
	}
	var plans []*Plan
	for _, p := range []Point{
		{Strategy: DDP, Bucket: 25 << 20, Type: coll.Float32},
		{Strategy: DDP, Bucket: 100 << 20, Type: coll.Float32},
		{Strategy: DDP, Bucket: 200 << 20, Type: coll.Float32},
		{Strategy: DDP, Bucket: All, Type: coll.BFloat16, Compression: Compression{Rank: 4}},
		{Strategy: FSDP, Bucket: PerLayer, Type: coll.Float32, Progress: Poll},
	} {
		plan, err := NewPlan(m, p, 2, Options{First: FirstBucket})
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, plan)
	}
	var b strings.Builder
	if err := WriteTable(&b, plans); err != nil {
		t.Fatal(err)
	}
	want := `# point                          operations  smallest   largest  together    memory
ddp 25M float32                           5  7.82 MiB    30 MiB  97.5 MiB  97.5 MiB
ddp 100M float32                          2  7.82 MiB  89.7 MiB  97.5 MiB  97.5 MiB
ddp 200M float32               as with 100M
ddp all bfloat16 + powersgd-4             1   750 KiB   750 KiB   750 KiB   750 KiB
fsdp layer float32, polling             482     256 B     9 MiB   292 MiB   195 MiB
`
	if b.String() != want {
		t.Errorf("\n%s", b.String())
	}
	if err := WriteTable(brokenPipe{}, plans); err == nil {
		t.Error("a table that nobody reads is written")
	}
	if s := m.String(); s != "resnet50: 161 layers, 25,557,032 parameters, forward 33.3ms, backward 66.7ms" {
		t.Error(s)
	}
	m.Optimizer = 2.5e-3
	if s := m.String(); !strings.HasSuffix(s, "66.7ms, optimizer 2.5ms") {
		t.Error(s)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 25557032: "25,557,032", 100000: "100,000"} {
		if s := thousands(n); s != want {
			t.Errorf("%d is %s", n, s)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "0.977 KiB", 1024: "1 KiB", 102228128: "97.5 MiB", 4400193536: "4.1 GiB", 1<<63 - 1: "8 EiB"} {
		if s := binary(n); s != want {
			t.Errorf("%d is %s", n, s)
		}
	}
	for seconds, want := range map[float64]string{0: "0s", 1e-9: "1ns", 0.0333333: "33.3ms", 0.9999999: "1s", 66.66666: "1m6.7s"} {
		if s := rounded(seconds).String(); s != want {
			t.Errorf("%g s is %s", seconds, s)
		}
	}
}
