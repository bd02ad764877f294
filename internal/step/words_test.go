package step

import (
	"encoding/json"
	"errors"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test"
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

func TestUnknownWords(t *testing.T) {
	_, strategy := ParseStrategy("fdsp")
	_, word := ParseCap("al")
	for want, err := range map[string]error{"fsdp": strategy, "all": word} {
		var unknown *coll.UnknownWordError
		if !errors.As(err, &unknown) || unknown.Nearest != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, s := range []string{"-1M", "0", ""} {
		if c, err := ParseCap(s); err == nil {
			t.Errorf("%q is the cap %s", s, c)
		}
	}
}

// A point is stored as text, without default values.
func TestPointAsJSON(t *testing.T) {
	full := Point{FSDP, 25 << 20, coll.Float16, "powersgd-4:2ms", Thread}
	for want, p := range map[string]Point{
		`{"strategy":"fsdp","bucket":"25M","type":"float16",` +
			`"compression":"powersgd-4:2ms","progress":"thread"}`: full,
		`{"strategy":"ddp","bucket":"layer","type":"float32"}`: {Strategy: DDP, Type: coll.Float32},
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
		test.EqOp(t, want, p.String())
	}
}
