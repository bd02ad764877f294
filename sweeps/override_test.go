package sweeps

import (
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func with(t *testing.T, text string, o Overrides) (*Sweep, error) {
	t.Helper()
	s := Default()
	if text != "" {
		s = mustParse(t, "t.yaml", text)
	}
	return s.With(o)
}

func TestWithSizes(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, k := range []struct {
		text, sizes string // of every part
		origin      string
		o           Overrides
	}{
		{"", "8 to 8G by factor 2", "flag -b -e -f", Overrides{MinBytes: n(8), MaxBytes: n(8 << 30), StepFactor: n(2)}},
		{"", "8 to 1K by factor 2", "flag -e, default", Overrides{MaxBytes: n(1024)}},
		{"", "8 to 32M by step 1M", "flag -i, default", Overrides{StepBytes: n(1 << 20)}},
		{"sizes: {begin: 8, end: 64, step: 8}", "8 to 64 by factor 4", "flag -f, t.yaml:1",
			Overrides{StepFactor: n(4)}},
		{"sizes: [8, 1K]", "16 to 64 by factor 2", "flag -b -e", Overrides{MinBytes: n(16), MaxBytes: n(64)}},
		{"elements: 1M", "16 to 64 by step 16", "flag -b -e -i",
			Overrides{MinBytes: n(16), MaxBytes: n(64), StepBytes: n(16)}},
		{"", "2, 4 elements", "flag --elements", Overrides{Elements: []int64{4, 2, 4}}},
		{"parts: [{sizes: {begin: 8, end: 64}}, {sizes: {begin: 16, end: 128}}]",
			"8 to 32 by factor 2; 16 to 32 by factor 2", "flag -e, t.yaml:1", Overrides{MaxBytes: n(32)}},
	} {
		s, err := with(t, k.text, k.o)
		if err != nil {
			t.Errorf("%s: %v", k.sizes, err)
			continue
		}
		var got []string
		for _, p := range s.Parts {
			got = append(got, p.Sizes.String())
		}
		origins := s.Origins()
		if strings.Join(got, "; ") != k.sizes || origins["sizes"]+origins["elements"] != k.origin {
			t.Errorf("%q of %q, want %q of %q", got, origins, k.sizes, k.origin)
		}
	}
	for name, k := range map[string]struct {
		text string
		o    Overrides
	}{
		"begin 64K is larger than end 8":   {"", Overrides{MinBytes: n(65536), MaxBytes: n(8)}},
		"begin 1K is larger than end 8":    {"sizes: {begin: 1K, end: 2K}", Overrides{MaxBytes: n(8)}},
		"must begin at 1 or above":         {"", Overrides{MinBytes: n(0)}},
		"-f: a range requires a factor":    {"", Overrides{StepFactor: n(1)}},
		"-i: a range requires a factor":    {"", Overrides{StepBytes: n(0)}},
		"-f 2 and -i exclude":              {"", Overrides{StepFactor: n(2), StepBytes: n(1024)}},
		"--elements and -e exclude":        {"", Overrides{MaxBytes: n(8), Elements: []int64{1}}},
		"more than 1000000 sizes":          {"", Overrides{MaxBytes: n(1 << 40), StepBytes: n(8)}},
		"-e -f: the sweep has no range of": {"sizes: [8, 1K]", Overrides{MaxBytes: n(64), StepFactor: n(2)}},
	} {
		if s, err := with(t, k.text, k.o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

func TestOverridesApplyToAllParts(t *testing.T) {
	s, err := load("quick")
	must.NoError(t, err)
	before, _ := load("quick")
	c, err := s.With(Overrides{
		Collectives: []coll.Collective{coll.Gather}, Types: []coll.DataType{coll.Int8}, Ops: []coll.RedOp{coll.Max},
		Roots:      []int{1},
		Placements: []coll.Placement{coll.InPlace}, Modes: []coll.Mode{coll.Latency}, Worlds: []int{2},
		Precision: new(0.01),
		Budget:    new(time.Second), Iterations: new(20), Warmup: new(0), Check: new(0), Aggregate: new(2),
		Imbalances: []coll.Imbalance{"hot:4"}, Groups: []coll.Division{""},
		TimeLimit: new(time.Duration(0)), MaxBytes: new(int64(1 << 20)),
	})
	must.NoError(t, err)
	test.Eq(t, before, s)
	for _, k := range mustPlan(t, c, 2, nil) {
		if k.Collective != coll.Gather || k.Type != coll.Int8 || k.Root != 1 || k.Placement != coll.InPlace ||
			k.Mode != coll.Latency || k.SizeBytes > 1<<20 {
			t.Errorf("%+v", k)
		}
	}
	test.EqOp(t, (Options{Precision: 0.01, Budget: time.Second, Iterations: 20, Aggregate: 2}), c.Options)
	for key, where := range c.Origins() {
		test.StrHasPrefix(t, "flag -", where, test.Sprint(key))
	}
	test.EqOp(t, "flag --datatype", c.Origins()["types"])
}
