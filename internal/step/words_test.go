package step

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"busbar/internal/coll"
)

func TestCapRoundTrip(t *testing.T) {
	for _, v := range append(Caps(), PerLayer, 1, 512<<10, 1000, 3<<40, All-1) {
		w := Cap(-1)
		b, err := v.MarshalText()
		if err == nil {
			err = w.UnmarshalText(b)
		}
		if err != nil || w != v {
			t.Errorf("%s: %v", b, err)
		}
	}
	if b, err := Cap(-1).MarshalText(); err == nil {
		t.Errorf("a cap below 0 is written as %q", b)
	}
}

func TestCanonicalText(t *testing.T) {
	for in, want := range map[string]string{"25M": "25M", "25MiB": "25M", "26214400": "25M", "512k": "512K",
		"1536": "1536", " ALL ": "all", "Layer": "layer"} {
		if c, err := ParseCap(in); err != nil || c.String() != want {
			t.Errorf("cap %q is %s, %v", in, c, err)
		}
	}
}

// An error says what is wrong and what was probably meant.
func TestWhatIsNoWord(t *testing.T) {
	parse := map[string]func(string) error{
		"strategy": func(s string) error { _, err := ParseStrategy(s); return err },
		"cap":      func(s string) error { _, err := ParseCap(s); return err },
		"progress": func(s string) error { _, err := ParseProgress(s); return err },
	}
	for _, c := range []struct{ kind, word, want string }{
		{"strategy", "fdsp", `did you mean "fsdp"?`},
		{"progress", "pol", `did you mean "poll"?`},
		{"cap", "al", `did you mean "all"?`},
		{"cap", "-1M", "known: layer, all, 25M"},
		{"cap", "0", "above 0"},
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

// A point in a file is words, and what was not chosen is not in it.
func TestPointAsJSON(t *testing.T) {
	full := Point{FSDP, 25 << 20, coll.Float16, "powersgd-4:2ms", Thread}
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

func TestPointString(t *testing.T) {
	for want, p := range map[string]Point{
		"ddp 25M float32":                            {DDP, 25 << 20, coll.Float32, "", ""},
		"ddp 25M float32, no calls":                  {DDP, 25 << 20, coll.Float32, "", NoCalls},
		"ddp all float8e4m3 + 1.5x, a second thread": {DDP, All, coll.Float8E4M3, "1.5x", Thread},
	} {
		if s := p.String(); s != want {
			t.Errorf("%q, not %q", s, want)
		}
	}
}
