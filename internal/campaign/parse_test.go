package campaign

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"busbar/internal/strictyaml"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const whole = `
name: nccl-228
description: what the new library costs
launches: 3
nodes: [4, 1, 2]
ranks_per_node: 8
seed: 42
flags: --backend nccl --sweep baseline
variants:
  library:
    "2.27": {flags: --nccl /opt/nccl-2.27/lib}
    ncclx: {flags: [--backend, ncclx, --nccl, "/opt/nccl x"]}
  algorithm:
    chosen:
    ring: {environment: {NCCL_ALGO: Ring, NCCL_PROTO: "^LL128"}}
steps: 3
sbatch:
  time: 1-12:30
  throttle: 2
  options: --exclusive --gpus-per-node=8
  report: [--partition=cpu]
`

func mustParse(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := Parse("p.yaml", []byte(text))
	must.NoError(t, err)
	return p
}

func TestParse(t *testing.T) {
	p := mustParse(t, whole)
	p.Source = nil
	want := &Plan{
		Name: "nccl-228", Description: "what the new library costs", Launches: 3, Nodes: []int{1, 2, 4},
		RanksPerNode: 8,
		Seed:         42,
		Flags:        []string{"--backend", "nccl", "--sweep", "baseline"}, Steps: 3,
		Axes: []Axis{
			{"library", []Level{
				{Name: "2.27", Flags: []string{"--nccl", "/opt/nccl-2.27/lib"}},
				{Name: "ncclx", Flags: []string{"--backend", "ncclx", "--nccl", "/opt/nccl x"}},
			}},
			{"algorithm", []Level{
				{Name: "chosen"},
				{Name: "ring", Environment: []Setting{{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "^LL128"}}},
			}},
		},
		Sbatch: Sbatch{Time: "1-12:30", Throttle: 2, Options: []string{"--exclusive", "--gpus-per-node=8"},
			Report: []string{"--partition=cpu"}},
	}
	test.Eq(t, want, p)
	var names []string
	for _, v := range p.Variants() {
		names = append(names, v.Name)
	}
	test.SliceEqOp(t, []string{"2.27+chosen", "2.27+ring", "ncclx+chosen", "ncclx+ring"}, names)
	last := p.Variants()[3]
	if !slices.Equal(last.Flags, []string{"--backend", "ncclx", "--nccl", "/opt/nccl x"}) ||
		len(last.Environment) != 2 {
		t.Errorf("%+v", last)
	}
}

func TestDefaults(t *testing.T) {
	p := mustParse(t, "name: a\nnodes: 2\n")
	if p.Launches != 5 || p.Seed != 1 || p.Sbatch.Throttle != 1 || p.Sbatch.Time != "01:00:00" ||
		len(p.Variants()) != 1 || p.Variants()[0].Name != "" {
		t.Errorf("%+v", p)
	}
}

func TestParseErrors(t *testing.T) {
	const head = "name: a\nnodes: 2\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "p.yaml:1: the file is empty; expected keys such as name"},
		"unknown key":      {"name: a\nnode: 2\n", `p.yaml:2:1: unknown key "node"; did you mean "nodes"?`},
		"twice":            {head + "nodes: 4\n", "p.yaml:3:1: nodes was given before, in line 2"},
		"no name":          {"nodes: 2\n", "p.yaml:1:1: the plan has no name: add the key"},
		"no nodes":         {"name: a\n", "p.yaml:1:1: the plan has no nodes: add the key"},
		"a name of a path": {"name: a/b\nnodes: 2\n", `p.yaml:1:7: the name "a/b": only letters`},
		"launches": {head + "launches: 0\n",
			`p.yaml:3:11: launches "0": value must be an integer of at least 1`},
		"nodes": {"name: a\nnodes: [2, x]\n", `p.yaml:2:12: nodes "x": value must be an integer`},
		"seed":  {head + "seed: -1\n", `p.yaml:3:7: seed "-1": value must be an integer of at least 0`},
		"alone": {"name: a\nnodes: [1, 2]\nranks_per_node: 1\n",
			"p.yaml:2:1: 1 node with 1 rank is a world of one rank"},
		"level twice":  {head + "variants:\n  x:\n    a:\n    a:\n", "p.yaml:6:5: a was given before, in line 5"},
		"level's name": {head + "variants:\n  x:\n    a+b:\n", `p.yaml:5:5: level: the name "a+b"`},
		"hidden level": {head + "variants:\n  x:\n    .a:\n", `p.yaml:5:5: level: the name ".a"`},
		"level's key":  {head + "variants:\n  x:\n    a: {env: {A: 1}}\n", `p.yaml:5:9: unknown key "env"`},
		"axis of nothing": {head + "variants:\n  x:\n",
			"p.yaml:4:5: axis x: expected names with their values, found nothing"},
		"variable": {head + "variants:\n  x:\n    a: {environment: {A-B: 1}}\n",
			`p.yaml:5:23: "A-B" is no name of a variable`},
		"variable of ours": {head + "variants:\n  x:\n    a: {environment: {BUSBAR_BLOCK: b}}\n",
			"p.yaml:5:23: BUSBAR_BLOCK is not for a variant"},
		"variable's value": {head + "variants:\n  x:\n    a: {environment: {A: [1]}}\n",
			"p.yaml:5:26: expected one value, found a list"},
		"variable and axis": {head +
			"variants:\n  x:\n    a: {environment: {A: 1}}\n  y:\n    b: {environment: {A: 2}}\n",
			"p.yaml:6:3: axis y sets A, and so does axis x"},
		"flag and axis": {head + "variants:\n  x:\n    a: {flags: --algo=ring}\n  y:\n    b: {flags: --algo tree}\n",
			"p.yaml:6:3: axis y sets --algo, and so does axis x"},
		"own flag": {head + "flags: --sweep quick --out here\n", "p.yaml:3:8: --out is not allowed in a plan"},
		"own flag of a rank": {head + "variants:\n  x:\n    a: {flags: --variant=b}\n",
			"p.yaml:5:16: --variant is not allowed in a plan"},
		"lines": {head + "flags: \"a\\nb\"\n", `p.yaml:3:8: "a\nb": value must be one line of text`},
		"time":  {head + "sbatch: {time: an hour}\n", `p.yaml:3:16: time "an hour": expected the format of Slurm`},
		"option": {head + "sbatch: {options: -N4}\n",
			"p.yaml:3:19: -N is not for the options: the key nodes of the plan sets it"},
		"option, long": {head + "sbatch: {options: [--array=1-2]}\n",
			"p.yaml:3:19: --array is not for the options: the key launches of the plan sets it"},
		"option of ours": {head + "sbatch: {report: --wrap=true}\n",
			"p.yaml:3:18: --wrap is not for the options: the campaign sets it"},
		"part of the job": {head + "sbatch: {options: --export=NCCL_DEBUG}\n",
			"p.yaml:3:19: --export is not for the options"},
		"steps": {head + "steps: 0\n", `p.yaml:3:8: steps "0"`},
		"variants": {head + "variants:" + strings.Join(manyAxes(5), ""),
			"p.yaml:3:1: 5 axes make more than 10000 variants"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("p.yaml", []byte(c.text))
			var first *strictyaml.Error
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.As(err, &first) {
				t.Errorf("got  %v\nwant %s…", err, c.want)
			}
		})
	}
}

// manyAxes are axes of ten levels each.
func manyAxes(n int) []string {
	axes := make([]string, n)
	for i := range axes {
		axes[i] = fmt.Sprintf("\n  x%d: {a: , b: , c: , d: , e: , f: , g: , h: , i: , j: }", i)
	}
	return axes
}

// FuzzParse: a parsed plan can be planned, and every error has a position.
func FuzzParse(f *testing.F) {
	const head = "name: a\nnodes: 2\n"
	for _, text := range []string{
		whole, "", "- a", "{", head, head + "variants: &v\n  x: {a: *v}", head +
			"variants:\n  x:\n    a: {flags: --algo=ring}\n  y:\n    b: {flags: [--algo, tree]}",
		head + "sbatch: {time: 1-2:03:04, options: [--exclusive], report: --partition=cpu, throttle: 3}", head +
			"seed: 99999999999999999999", "name: !!binary aQ==", "--- \n--- ", "\xff\xfe",
		head + "variants:" + strings.Join(manyAxes(5), ""),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("f.yaml", []byte(text))
		if err != nil {
			var first *strictyaml.Error
			if !errors.As(err, &first) || first.Line < 1 || first.File != "f.yaml" {
				t.Errorf("not positioned: %v", err)
			}
			return
		}
		if p.Name == "" || len(p.Nodes) == 0 || p.Launches < 1 {
			t.Errorf("a plan without sense: %+v", p)
		}
		variants := p.Variants()
		if len(variants) == 0 || len(variants) != p.variants() {
			t.Errorf("%d variants, %d counted", len(variants), p.variants())
		}
		names := map[string]bool{}
		for _, v := range variants {
			if names[v.Name] {
				t.Errorf("two variants %q", v.Name)
			}
			names[v.Name] = true
		}
	})
}

func TestManualListsKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/campaigns.md")
	must.NoError(t, err)
	for _, keys := range [][]string{planKeys, levelKeys, jobKeys} {
		for _, key := range keys {
			test.StrContains(t, string(text), "\n| `"+key+"` |", test.Sprint(key))
		}
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	test.EqOp(t, 5*4*6, len(mustParse(t, example).All()))
}

func TestExamplesParse(t *testing.T) {
	for name, launches := range map[string]int{"campaign": 5 * 2 * 6, "tune": 8 * 2 * 21} {
		p, err := Load("../../slurm/" + name + ".yaml")
		if err != nil || len(p.All()) != launches {
			t.Errorf("%v: %+v", err, p)
		}
	}
}
