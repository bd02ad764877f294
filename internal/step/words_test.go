package step

import (
	"encoding"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"busbar/internal/coll"
)

// Every value of every word reads back from what it writes.
func TestWordsRoundTrip(t *testing.T) {
	trip := func(v encoding.TextMarshaler, into encoding.TextUnmarshaler, same func() bool) {
		t.Helper()
		b, err := v.MarshalText()
		if err == nil {
			err = into.UnmarshalText(b)
		}
		if err != nil || !same() {
			t.Errorf("%s: %v", b, err)
		}
	}
	for _, v := range Strategies() {
		var w Strategy
		trip(v, &w, func() bool { return v == w && v.String() != "" })
	}
	for _, v := range Ways() {
		var w Progress
		trip(v, &w, func() bool { return v == w && v.String() != "" && v.phrase() != "" })
	}
	for _, v := range append(Caps(), PerLayer, 1, 512<<10, 1000, 3<<40, All-1) {
		w := Cap(-1)
		trip(v, &w, func() bool { return v == w })
	}
	for _, v := range compressionsForTest() {
		w := Compression{Factor: 99}
		trip(v, &w, func() bool { return v == w })
	}
	for w := Forward; w <= Optimizer; w++ {
		if w.String() == "" {
			t.Errorf("work %d has no name", w)
		}
	}
}

func compressionsForTest() []Compression {
	return []Compression{{}, {Factor: 8}, {Factor: 1.5, Cost: 5e-3}, {Rank: 4}, {Rank: 32, Cost: 2e-3},
		{Factor: 1e7, Cost: 90}, {Rank: 1, Cost: 1e-9}}
}

func TestWhatHasNoText(t *testing.T) {
	for _, v := range []encoding.TextMarshaler{Strategy(0), Strategy(3), Progress(0), Progress(4), Cap(-1)} {
		if b, err := v.MarshalText(); err == nil {
			t.Errorf("%T is written as %q", v, b)
		}
	}
}

func TestCanonicalText(t *testing.T) {
	for in, want := range map[string]string{"25M": "25M", "25MiB": "25M", "26214400": "25M", "512k": "512K",
		"1536": "1536", " ALL ": "all", "Layer": "layer"} {
		if c, err := ParseCap(in); err != nil || c.String() != want {
			t.Errorf("cap %q is %s, %v", in, c, err)
		}
	}
	for in, want := range map[string]string{"None": "none", "8x": "8x", "08.0X:5000us": "8x:5ms",
		"powersgd-04": "powersgd-4", "PowerSGD-4:0.002s": "powersgd-4:2ms"} {
		if c, err := ParseCompression(in); err != nil || c.String() != want {
			t.Errorf("compression %q is %s, %v", in, c, err)
		}
	}
}

// An error says what is wrong and what was probably meant.
func TestWhatIsNoWord(t *testing.T) {
	parse := map[string]func(string) error{
		"strategy":    func(s string) error { _, err := ParseStrategy(s); return err },
		"cap":         func(s string) error { _, err := ParseCap(s); return err },
		"progress":    func(s string) error { _, err := ParseProgress(s); return err },
		"compression": func(s string) error { _, err := ParseCompression(s); return err },
	}
	for _, c := range []struct{ kind, word, want string }{
		{"strategy", "fdsp", `did you mean "fsdp"?`},
		{"strategy", "", "known: ddp, fsdp"},
		{"progress", "pol", `did you mean "poll"?`},
		{"cap", "al", `did you mean "all"?`},
		{"cap", "-1M", "known: layer, all, 25M"},
		{"cap", "", "known: layer"},
		{"cap", "0", "above 0"},
		{"cap", "25Q", `"Q" is no unit`},
		{"cap", "99999999999999999999", "out of range"},
		{"compression", "nne", `did you mean "none"?`},
		{"compression", "powersdg-4", `did you mean "powersgd-4"?`},
		{"compression", "none:5ms", "none costs nothing"},
		{"compression", "1x", "a factor above 1"},
		{"compression", "1.2.3x", "a factor above 1"},
		{"compression", "x", "unknown compression"},
		{"compression", "infx", "unknown compression"},
		{"compression", "1e3x", "unknown compression"},
		{"compression", "powersgd-0", "a whole rank from 1"},
		{"compression", "powersgd-99999999", "a whole rank from 1"},
		{"compression", "powersgd-2.5", "a whole rank"},
		{"compression", "8x:", "is no time"},
		{"compression", "8x:5", "is no time"},
		{"compression", "8x:0s", "above 0"},
		{"compression", "powersgd-4:-1ms", "0 or more"},
	} {
		if err := parse[c.kind](c.word); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v", c.kind, c.word, err)
		}
	}
	var unknown *coll.UnknownWordError
	if _, err := ParseStrategy("x"); !errors.As(err, &unknown) {
		t.Errorf("%T is no unknown word", err)
	}
}

func TestPointForPeople(t *testing.T) {
	p := Point{Strategy: DDP, Bucket: 25 << 20, Type: coll.Float32}
	for want, change := range map[string]func(Point) Point{
		"ddp 25M float32": func(p Point) Point { return p },
		"ddp 25M float32 + powersgd-4, polling": func(p Point) Point {
			p.Compression.Rank, p.Progress = 4, Poll
			return p
		},
		"fsdp layer bfloat16 + 8x:5ms": func(Point) Point {
			return Point{FSDP, PerLayer, coll.BFloat16, Compression{Factor: 8, Cost: 5e-3}, 0}
		},
		"ddp 25M float32, no calls": func(p Point) Point { p.Progress = NoCalls; return p },
		"ddp all float8e4m3 + 1.5x, a second thread": func(Point) Point {
			return Point{DDP, All, coll.Float8E4M3, Compression{Factor: 1.5}, Thread}
		},
	} {
		if s := change(p).String(); s != want {
			t.Errorf("%q, not %q", s, want)
		}
	}
}

// A point in a file is words, and what was not chosen is not in it.
func TestPointAsJSON(t *testing.T) {
	full := Point{FSDP, 25 << 20, coll.Float16, Compression{Rank: 4, Cost: 2e-3}, Thread}
	for want, p := range map[string]Point{
		`{"strategy":"fsdp","bucket":"25M","type":"float16","compression":"powersgd-4:2ms","progress":"thread"}`: full,
		`{"strategy":"ddp","bucket":"layer","type":"float32"}`:                                                   {Strategy: DDP, Type: coll.Float32},
	} {
		b, err := json.Marshal(p)
		var back Point
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || string(b) != want || back != p {
			t.Errorf("%s is read as %v, %v", b, back, err)
		}
	}
}
