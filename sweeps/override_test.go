package sweeps

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
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
	tests := []struct {
		name, text string
		flags      Overrides
		want       string // sizes of every part, or the error
		origin     string
	}{
		{"all four of nccl-tests", "", Overrides{MinBytes: new(int64(8)), MaxBytes: new(int64(8 << 30)),
			StepFactor: new(int64(2))}, "8 to 8G by factor 2", "flag -b -e -f"},
		{"end only", "", Overrides{MaxBytes: new(int64(1024))}, "8 to 1K by factor 2", "flag -e, default"},
		{"step", "", Overrides{StepBytes: new(int64(1 << 20))}, "8 to 32M by step 1M", "flag -i, default"},
		{"factor over step", "sizes: {begin: 8, end: 64, step: 8}", Overrides{StepFactor: new(int64(4))},
			"8 to 64 by factor 4", "flag -f, t.yaml:1"},
		{"factor 1 is a step", "", Overrides{StepFactor: new(int64(1)), StepBytes: new(int64(1 << 20))},
			"8 to 32M by step 1M", ""},
		{"over a list", "sizes: [8, 1K]", Overrides{MinBytes: new(int64(16)), MaxBytes: new(int64(64))},
			"16 to 64 by factor 2", "flag -b -e"},
		{"over elements", "elements: 1M",
			Overrides{MinBytes: new(int64(16)), MaxBytes: new(int64(64)), StepBytes: new(int64(16))},
			"16 to 64 by step 16", "flag -b -e -i"},
		{"elements", "", Overrides{Elements: []int64{4, 2, 4}}, "2, 4 elements", "flag --elements"},
		{"every part", "parts: [{sizes: {begin: 8, end: 64}}, {sizes: {begin: 16, end: 128}}]",
			Overrides{MaxBytes: new(int64(32))}, "8 to 32 by factor 2; 16 to 32 by factor 2", ""},

		{"empty", "", Overrides{MinBytes: new(int64(65536)), MaxBytes: new(int64(8))}, "-b 64K is larger than -e 8",
			""},
		{"empty with the file", "description: d\nsizes: {begin: 1K, end: 2K}", Overrides{MaxBytes: new(int64(8))},
			"begin 1K (t.yaml:2) is larger than -e 8", ""},
		{"empty with the default", "", Overrides{MinBytes: new(int64(64 << 20))},
			"-b 64M is larger than end 32M (default)", ""},
		{"zero", "", Overrides{MinBytes: new(int64(0))}, "-b 0: want 1 or more", ""},
		{"factor 1", "", Overrides{StepFactor: new(int64(1))}, "-f 1: want 2 or more, or -i for steps of so many bytes",
			""},
		{"step 0", "", Overrides{StepBytes: new(int64(0))}, "-i 0: want 1 or more", ""},
		{"factor and step", "", Overrides{StepFactor: new(int64(2)), StepBytes: new(int64(1024))},
			"-f 2 and -i 1K exclude each other", ""},
		{"bytes and elements", "", Overrides{MaxBytes: new(int64(8)), Elements: []int64{1}},
			"--elements and -e exclude each other", ""},
		{"elements 0", "", Overrides{Elements: []int64{0}}, "--elements 0: want 1 or more", ""},
		{"too many", "", Overrides{MaxBytes: new(int64(1 << 40)), StepBytes: new(int64(8))},
			"begin 8 (default) to -e 1T by step 8 are more than 1000000 sizes", ""},
		{"half a range over a list", "sizes: [8, 1K]", Overrides{MaxBytes: new(int64(64)), StepFactor: new(int64(2))},
			"-e -f: the sweep has no range of sizes that this could change (it has 8, 1K); give both -b and -e", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := with(t, tt.text, tt.flags)
			if err != nil {
				if err.Error() != tt.want {
					t.Errorf("got error %q, want %q", err, tt.want)
				}
				return
			}
			var got []string
			for _, p := range s.Parts {
				got = append(got, p.Sizes.String())
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			origins := s.Origins()
			if where := origins["sizes"] + origins["elements"]; tt.origin != "" && where != tt.origin {
				t.Errorf("origin %q, want %q", where, tt.origin)
			}
		})
	}
}

func TestWithWinsOverEveryPartAndLeavesTheSweep(t *testing.T) {
	s, err := Load("quick")
	if err != nil {
		t.Fatal(err)
	}
	before, _ := Load("quick")
	c, err := s.With(Overrides{
		Collectives: []coll.Collective{coll.Gather}, Types: []coll.DataType{coll.Int8}, Ops: []coll.RedOp{coll.Max},
		Roots:      []int{1},
		Placements: []coll.Placement{coll.InPlace}, Modes: []coll.Mode{coll.Latency}, Worlds: []int{2},
		Precision: new(0.01),
		Budget:    new(time.Second), Iterations: new(20), Warmup: new(0), Check: new(0), Aggregate: new(2),
		TimeLimit: new(time.Duration(0)), MaxBytes: new(int64(1 << 20)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s, before) {
		t.Error("With changed its receiver")
	}
	for _, k := range mustPlan(t, c, 2, nil) {
		if k.Collective != coll.Gather || k.Type != coll.Int8 || k.Root != 1 || k.Placement != coll.InPlace ||
			k.Mode != coll.Latency || k.SizeBytes > 1<<20 {
			t.Errorf("%+v", k)
		}
	}
	if want := (Options{Precision: 0.01, Budget: time.Second, Iterations: 20, Aggregate: 2}); c.Options != want {
		t.Errorf("options are %+v, want %+v", c.Options, want)
	}
	for key, where := range c.Origins() {
		if !strings.HasPrefix(where, "flag -") {
			t.Errorf("%s comes from %s", key, where)
		}
	}
	if got := c.Origins()["types"]; got != "flag --datatype" {
		t.Errorf("types come from %q", got)
	}
}

func TestWithSaysEveryFlagOutOfRange(t *testing.T) {
	_, err := Default().With(Overrides{
		Roots: []int{-2}, Worlds: []int{0}, Precision: new(2.0), Budget: new(time.Duration(0)),
		TimeLimit:  new(-time.Second),
		Iterations: new(-1), Warmup: new(-1), Check: new(-1), Aggregate: new(0),
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, flag := range []string{"--root -2", "--worlds 0", "--precision: 2 is 200 %", "--budget: 0s",
		"--time-limit: -1s", "--iters -1", "--warmup-iters -1", "--check -1", "--agg-iters 0"} {
		if !strings.Contains(err.Error(), flag) {
			t.Errorf("nothing of %s in:\n%v", flag, err)
		}
	}
}
