package step

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"

	"github.com/shoenig/test/must"
)

// examples are the files that come with the tool, as package sweeps embeds them.
var examples = os.DirFS("../../sweeps/models")

// The numbers of tensors and of parameters are the public ones of these models.
func TestModelsMatchPublishedSizes(t *testing.T) {
	for _, want := range golden.Table[struct {
		Name              string
		Tensors           int
		Params            int64
		Forward, Backward float64
	}](t, `
		Name          Tensors  Params      Forward  Backward
		resnet50      161      25557032    0.1/3    0.2/3
		uniform       50       26214400    0.1/3    0.2/3
		uniform:3x1K  3        3072        0.1/3    0.2/3
		gpt2          148      124439808   0.05     0.1
		llama         201      1100048384  0.15     0.3
	`) {
		m, err := Find(want.Name, examples)
		must.NoError(t, err)
		tensors, names := 0, map[string]bool{}
		for _, l := range m.Layers {
			names[l.Name] = true
			if l.Params > 0 {
				tensors++
			}
		}
		if tensors != want.Tensors || m.Params() != want.Params || len(names) != len(m.Layers) || m.Name != want.Name {
			t.Errorf(
				"%s: %s has %d tensors of %d layers (%d names), %d parameters",
				want.Name,
				m.Name,
				tensors,
				len(m.Layers),
				len(names),
				m.Params(),
			)
		}
		if math.Abs(m.Forward()-want.Forward) > 1e-12 || math.Abs(m.Backward()-want.Backward) > 1e-12 {
			t.Errorf("%s computes %g and %g s", want.Name, m.Forward(), m.Backward())
		}
		if m.About == "" {
			t.Errorf("%s: nothing about it", want.Name)
		}
	}
}

// The times of convolutions are in proportion to their multiply-adds.
func TestResNetTimes(t *testing.T) {
	m, err := Find("resnet50", nil)
	must.NoError(t, err)
	seconds := map[string]float64{}
	for _, l := range m.Layers {
		seconds[l.Name] = l.Forward + l.Backward
	}
	perMultiply := seconds["conv1.weight"] / 3 / (64 * 147 * 112 * 112)
	for name, multiplies := range map[string]float64{
		"layer1.0.conv1.weight":        64 * 64 * 56 * 56,
		"layer2.0.conv1.weight":        128 * 256 * 56 * 56, // the stride is in conv2
		"layer2.0.conv2.weight":        128 * 128 * 9 * 28 * 28,
		"layer2.0.downsample.0.weight": 512 * 256 * 28 * 28,
		"layer4.2.conv3.weight":        2048 * 512 * 7 * 7,
	} {
		if got := seconds[name] / 3 / perMultiply; math.Abs(got/multiplies-1) > 1e-9 {
			t.Errorf("%s: %g multiply-adds, not %g", name, got, multiplies)
		}
	}
}

func TestScale(t *testing.T) {
	m, err := Find("uniform:4x1K", nil)
	must.NoError(t, err)
	m.Optimizer = 1
	m.Scale(0.03)
	if f, b := m.Forward(), m.Backward(); math.Abs(f-0.01) > 1e-15 || math.Abs(b-0.02) > 1e-15 || m.Optimizer != 1 {
		t.Errorf("%g and %g s, optimizer %g s", f, b, m.Optimizer)
	}
}

func TestFindModel(t *testing.T) {
	named := filepath.Join(t.TempDir(), "mine")
	must.NoError(t, os.WriteFile(named, []byte("forward: 1ms\nlayers: [{params: 8}]\n"), 0o600))
	if m, err := Find(named, examples); err != nil || m.Name != "mine" {
		t.Errorf("%v, %v", m, err)
	}
	for name, want := range map[string]string{"resnet": "resnet50", "gpt": "gpt2"} {
		var unknown *coll.UnknownWordError
		if _, err := Find(name, examples); !errors.As(err, &unknown) || unknown.Nearest != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"./gone.yaml", "resnet50:2", "uniform:5", "uniform:0x1K", "uniform:200000x1",
		"uniform:3x0", "uniform:3x1Q", "uniform:100000x2000000M"} {
		if _, err := Find(name, examples); err == nil {
			t.Errorf("%s is a model", name)
		}
	}
}

// Find is Read and Parse.
func Find(nameOrPath string, files fs.FS) (*Model, error) {
	file, text, err := Read(nameOrPath, files)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}
