package step

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"busbar/internal/golden"

	"github.com/shoenig/test"
)

// layersAre a model's layers in lines.
func layersAre(m *Model) (lines []string) {
	for _, l := range m.Layers {
		lines = append(lines, fmt.Sprintf("%s %d %.4g %.4g", l.Name, l.Params, l.Forward*1e3, l.Backward*1e3))
	}
	return lines
}

func TestModelFiles(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // name, elements, forward and backward in ms
	}{
		{"by elements, backward twice as long", "forward: 10ms\nlayers: [{name: a, params: 1K}, {params: 3K}]",
			[]string{"a 1024 2.5 5", "layer2 3072 7.5 15"}},
		{"own times, and the rest by weight",
			"forward: 10ms\nbackward: 12ms\nlayers: [{name: a, params: 8, forward: 4ms}, {name: b, params: 8, " +
				"weight: 1}, {name: c, params: 0, weight: 2}]",
			[]string{"a 8 4 8.727", "b 8 2 1.091", "c 0 4 2.182"}},
		{"an own time of the backward pass is one layer's",
			"forward: 6ms\nlayers: [{name: a, params: 8}, {name: b, params: 8, backward: 1ms}]",
			[]string{"a 8 3 6", "b 8 3 1"}},
		{"a total that the layers make up", "forward: 3ns\nlayers: [{name: a, params: 8, forward: 1ns, repeat: 3}]",
			[]string{"a.0 8 1e-06 2e-06", "a.1 8 1e-06 2e-06", "a.2 8 1e-06 2e-06"}},
		{"shapes",
			"forward: 6ms\nlayers: [{name: a, shape: [8]}, {name: b, shape: [4, 1K]}, {name: c, shape: [2, 3, 4], " +
				"weight: 0}]",
			[]string{"a 8 0.0117 0.02339", "b 4096 5.988 11.98", "c 24 0 0"}},
		{"repeated",
			"forward: 6ms\nlayers: [{name: a, params: 1, repeat: 2}, {params: 1, repeat: 2}, {name: h, repeat: 2, " +
				"layers: [{name: w, params: 1}, {params: 1, repeat: 2}]}]",
			[]string{"a.0 1 0.6 1.2", "a.1 1 0.6 1.2", "layer3 1 0.6 1.2", "layer4 1 0.6 1.2",
				"h.0.w 1 0.6 1.2", "h.0.layer6 1 0.6 1.2", "h.0.layer7 1 0.6 1.2",
				"h.1.w 1 0.6 1.2", "h.1.layer9 1 0.6 1.2", "h.1.layer10 1 0.6 1.2"}},
		{"anchors", "forward: 2ms\nlayers: [{name: a, layers: &l [{name: w, params: &n 1}]}, {name: b, layers: *l}]",
			[]string{"a.w 1 1 2", "b.w 1 1 2"}},
	} {
		m, err := Parse("x/net\x1b.yml", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		test.SliceEqOp(t, c.want, layersAre(m), test.Sprint(c.name))
		if m.Name != "net\ufffd" {
			t.Errorf("%s: %q", c.name, m.Name)
		}
	}
	m, err := Parse(
		"net.yaml",
		[]byte("name: mine\nabout: made up\noptimizer: 5ms\nforward: 1ms\nlayers: [{params: 1}]"),
	)
	if err != nil || m.Name != "mine" || m.About != "made up" || math.Abs(m.Optimizer-5e-3) > 1e-15 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestModelFileErrors(t *testing.T) {
	for _, c := range golden.Table[struct{ Text, Want string }](t, `
		Text                                                                     Want
		-                                                                        empty
		"forward: 1ms\n---\nforward: 2ms\n"                                      document
		layers: [                                                                line 1
		forward: 1ms                                                             layers are missing
		"forwards: 1ms\nlayers: [{params: 1}]"                                   line 1: field forwards
		"forward: 1ms\nforward: 2ms\nlayers: [{params: 1}]"                      already defined at line 1
		"forward: -1ms\nlayers: [{params: 1}]"                                   "\"-1ms\""
		"name: [a]\nlayers: [{params: 1}]"                                       line 1
		"name: \"a\\nb\"\nlayers: [{params: 1}]"                                 printable
		"layers:\n- {name: a}"                                                   layer a: needs params or shape
		layers: [{params: 1, shape: [1]}]                                        params or shape
		layers: [{params: -1}]                                                   "\"-1\""
		layers: [{params: 999999G}]                                              "\"999999G\""
		layers: [{params: 200T}, {params: 200T}]                                 more than 256T parameters
		layers: [{shape: [5, 0]}]                                                at least 1
		layers: [{shape: [1T, 1T]}]                                              at most 256T
		layers: [{params: 1, weight: -1}]                                        weight
		layers: [{params: 1, repeat: 0}]                                         repeat
		layers: [{name: h, params: 5, layers: [{params: 1}]}]                    block h
		layers: [{name: h, repeat: 60000, layers: [{params: 1, repeat: 2}]}]     more than 100000 layers
		"forward: 1ms\nlayers:\n- {name: a, params: 1}\n- {name: a, params: 1}"  layer a: another layer
		layers: [{params: 1}]                                                    nothing computes
		"forward: 1ms\nlayers: [{params: 0, weight: 1}]"                         no layer has parameters
		"forward: 1ms\nlayers: [{params: 1, forward: 2ms}]"                      "forward: "
		"backward: 3ms\nlayers: [{params: 1, weight: 0}]"                        "backward: "
	`) {
		m, err := Parse("net.yaml", []byte(c.Text))
		if m != nil || err == nil || !strings.Contains(err.Error(), c.Want) ||
			!strings.HasPrefix(err.Error(), "net.yaml: ") {
			t.Errorf("%q: %v\nwant %s", c.Text, err, c.Want)
		}
	}
	_, err := Parse("net.yaml", []byte("layers:\n- {params: x}\n- {parms: 1}\n- {shape: [-1]}\n"))
	for _, line := range []string{"line 2", "line 3", "line 4"} {
		test.ErrorContains(t, err, line)
	}
}
