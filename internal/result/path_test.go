package result

import (
	"testing"
)

func TestPathInWords(t *testing.T) {
	for want, p := range map[string]*Path{
		"RING LL128, 16 channels": {Algorithm: "RING", Protocol: "LL128", Channels: 16},
		"TREE LL, 1 channel":      {Algorithm: "TREE", Protocol: "LL", Channels: 1},
		"PAT, at most 2 channels": {Algorithm: "PAT", Channels: 2, AtMost: true},
		"8 channels":              {Channels: 8},
		"CE":                      {Algorithm: "CE"},
		"nothing that it tells":   nil,
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is %q, wanted %q", p, got, want)
		}
	}
}
