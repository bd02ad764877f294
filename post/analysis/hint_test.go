package analysis

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/campaign"
	"busbar/internal/coll"
	"busbar/internal/result"

	"github.com/shoenig/test"
)

// Every sweep is a valid plan, and has the current setting beside each value.
func TestSweepsParse(t *testing.T) {
	for _, tip := range catalogue {
		if tip.NoSweep {
			continue
		}
		text := "name: try\nnodes: [2]\nflags: --backend " + tip.someBackend() + "\n" + tip.sweep()
		plan, err := campaign.Parse("plan.yaml", []byte(text))
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		variants := plan.Variants()
		if len(variants) != 1+max(1, len(tip.Values)) || variants[0].Name != "asis" || len(variants[0].Flags)+
			len(variants[0].Environment) != 0 {
			t.Errorf("%+v\n%s", variants, text)
			continue
		}
		for i, v := range variants[1:] {
			var set []string
			for _, e := range v.Environment {
				set = append(set, e.String())
			}
			want := tip.Variable
			if tip.Values != nil {
				want += "=" + tip.Values[i]
			}
			if got := strings.Join(v.Flags, "="); !strings.HasPrefix(got, want) && !slices.Contains(set, want) {
				t.Errorf("%s sets %q and %q, want %s", v.Name, v.Flags, set, want)
			}
		}
	}
}

// someBackend is a backend that the tip is for.
func (t *tip) someBackend() string {
	if t.Backends == nil {
		return "mpi"
	}
	return t.Backends[0]
}

func TestCatalogueComplete(t *testing.T) {
	for _, tip := range catalogue {
		if tip.Name == "" || tip.Kinds == nil || tip.Tip.Text() == "" || tip.Tip.Source() == "" || tip.Variable == "" {
			t.Errorf("%+v", tip)
		}
		for _, b := range tip.Backends {
			nccl := strings.HasPrefix(tip.Variable, "NCCL_")
			if nccl != (strings.HasSuffix(b, "cl") || b == "ncclx") && !strings.HasPrefix(tip.Variable, "-") &&
				!strings.HasPrefix(tip.Variable, "srun") {
				t.Errorf("%s is hinted at for %s", tip.Variable, b)
			}
		}
	}
}

func TestHintsApplyToRun(t *testing.T) {
	curve := func(change func(*Curve)) *Curve {
		c := &Curve{Contender: Contender{Backend: "nccl", Library: "NCCL 2.27"},
			Condition: Condition{Case: coll.Case{Collective: coll.AllReduce, World: 16}, Nodes: 2},
			Runs:      []*result.Run{{}}}
		change(c)
		return c
	}
	variables := func(hints []Hint) (all []string) {
		for _, h := range hints {
			all = append(all, h.Variable)
		}
		return all
	}
	none := func(*Curve) {}
	for name, c := range map[string]struct {
		change   func(*Curve)
		kind     Kind
		from, to int64
		want     []string
	}{
		"nccl, a step": {none, Step, 64 << 10, 128 << 10, []string{"--algorithms", "NCCL_PROTO", "NCCL_ALGO",
			"NCCL_NVLS_ENABLE"}},
		"large sizes": {none, Step, 1 << 30, 2 << 30, []string{"--algorithms", "NCCL_ALGO", "NCCL_NVLS_ENABLE"}},
		"one node has no network": {func(c *Curve) {
			c.Nodes = 1
			c.Collective = coll.SendRecv
		}, LowCeiling, 1 << 20, 1 << 30, []string{"--min-ctas", "--register"}},
		"a GPU without NVLink SHARP": {func(c *Curve) {
			c.Device = "NVIDIA GeForce RTX 5090"
		}, Step, 1 << 30, 2 << 30, []string{"--algorithms", "NCCL_ALGO"}},
		"a GPU with NVLink SHARP": {func(c *Curve) {
			c.Device = "NVIDIA H100 80GB HBM3"
		}, Step, 1 << 30, 2 << 30, []string{"--algorithms", "NCCL_ALGO", "NCCL_NVLS_ENABLE"}},
		"the way is known": {func(c *Curve) {
			c.Points = []Point{{Path: &result.Path{}}}
		}, Step, 8, 16, []string{"NCCL_PROTO", "NCCL_ALGO"}},
		"already set to that": {func(c *Curve) {
			c.Runs[0].Environment = map[string]string{"NCCL_NVLS_ENABLE": "0"}
		}, Step, 1 << 30, 1 << 30, []string{"--algorithms", "NCCL_ALGO"}},
		"the flag is there": {func(c *Curve) {
			c.Runs[0].Command = []string{"rank", "--path"}
		}, Step, 1 << 30, 1 << 30, []string{"NCCL_ALGO", "NCCL_NVLS_ENABLE"}},
		"Open MPI on one node": {func(c *Curve) {
			c.Backend, c.Library, c.Nodes = "mpi", "Open MPI 4.1.4", 1
		}, Step, 4096, 8192, []string{"OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_coll_tuned_allreduce_algorithm"}},
		"MPICH": {func(c *Curve) {
			c.Backend, c.Library = "mpi", "MPICH 4.0.2"
		}, Step, 4096, 8192, []string{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"}},
		"gloo": {func(c *Curve) { c.Backend = "gloo" }, Decline, 4096, 1 << 20,
			[]string{"--rotate"}},
		"gloo has its thread": {func(c *Curve) {
			c.Backend, c.Nodes = "gloo", 1
		}, TwoModes, 8, 8, []string{"srun --cpu-bind"}},
		"what rank cannot measure": {func(c *Curve) { c.Backend = "rccl" }, Step, 8, 16,
			[]string{"NCCL_PROTO", "NCCL_ALGO"}},
	} {
		test.SliceEqOp(t, c.want, variables(hintsFor(c.kind, curve(c.change), c.from, c.to)), test.Sprint(name))
	}
	// Hints omit values that the runs had, and name variables that are required beside them.
	for variable, c := range map[string]struct {
		change      func(*Curve)
		value, ends string
	}{
		"NCCL_PROTO": {func(c *Curve) {
			c.Runs[0].Environment = map[string]string{"NCCL_PROTO": "Simple"}
		}, "LL", `(was "Simple")`},
		"OMPI_MCA_coll_tuned_allreduce_algorithm": {func(c *Curve) {
			c.Backend, c.Library = "mpi", "Open MPI 4.1.4"
		}, "4", ", with OMPI_MCA_coll_tuned_use_dynamic_rules=1"},
	} {
		hints := hintsFor(Step, curve(c.change), 4096, 8192)
		i := slices.IndexFunc(hints, func(h Hint) bool { return h.Variable == variable })
		if i < 0 || hints[i].Value != c.value || !strings.HasSuffix(hints[i].Text(), c.ends) {
			t.Errorf("%+v", hints)
		}
	}
}
