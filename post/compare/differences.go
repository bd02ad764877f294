package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// known is a property of a run; an empty value is none.
type known struct {
	name string
	of   func(*result.Run) string
}

func knownNumber(name string, of func(*result.Run) float64) known {
	return known{name, func(r *result.Run) string {
		if v := of(r); v != 0 {
			return fmt.Sprintf("%.6g", v)
		}
		return ""
	}}
}

// knownFacts are the values of a run's header that may affect a time and do not change from launch to launch by
// themselves.
var knownFacts = []known{
	{"backend", func(r *result.Run) string { return r.Backend.Name }},
	{"library", func(r *result.Run) string { return r.Backend.Title() }},
	{"library path", func(r *result.Run) string { return r.Backend.Path }},
	{"library build", func(r *result.Run) string { return r.Backend.BuildID }},
	{"library notes", func(r *result.Run) string { return strings.Join(r.Backend.Notes, "; ") }},
	{"variant", func(r *result.Run) string { return r.Variant }},
	{"settings", func(r *result.Run) string { return r.Method.Settings().String() }},
	{"MPI", func(r *result.Run) string { return r.MPI.Library }},
	{"MPI path", func(r *result.Run) string { return r.MPI.Path }},
	{"launcher", func(r *result.Run) string { return r.MPI.Launcher }},
	{"thread level", func(r *result.Run) string { return r.MPI.ThreadLevel }},
	{"device", func(r *result.Run) string { return r.Device }},
	{"rank 0 host", func(r *result.Run) string { return r.Machine.Host }},
	{"job nodes", func(r *result.Run) string { return r.Slurm["SLURM_JOB_NODELIST"] }},
	{"operating system", func(r *result.Run) string { return r.Machine.OS }},
	{"kernel", func(r *result.Run) string { return r.Machine.Kernel }},
	{"CPU", func(r *result.Run) string { return r.Machine.CPU }},
	knownNumber("cores", func(r *result.Run) float64 { return float64(r.Machine.Cores) }),
	{"frequency governor", func(r *result.Run) string { return r.Machine.Governor }},
	{"container", func(r *result.Run) string { return r.Machine.Container }},
	{"tool", func(r *result.Run) string { return r.Tool }},
	{"imported from", importedFrom},
	{"rank build", func(r *result.Run) string { return r.Build }},
	{"sweep", func(r *result.Run) string { return r.Sweep.Name }},
	{"clock", func(r *result.Run) string { return r.Method.Clock }},
	knownNumber("precision", func(r *result.Run) float64 { return r.Method.Precision }),
	knownNumber("case budget (s)", func(r *result.Run) float64 { return r.Method.Budget }),
	knownNumber("iterations", func(r *result.Run) float64 { return float64(r.Method.Iterations) }),
	knownNumber("warm-up iterations", func(r *result.Run) float64 { return float64(r.Method.Warmup) }),
	knownNumber("check rounds", func(r *result.Run) float64 { return float64(r.Method.CheckRounds) }),
	{"interleaved with", func(r *result.Run) string { return strings.Join(r.Interleaved, ",") }},
	{"ranks share cores", func(r *result.Run) string { return notice.Reason(r.Crowded()) }},
	{"topology", func(r *result.Run) string { return r.Topology }},
}

// importedFrom is the tool that measured a run that was imported.
func importedFrom(r *result.Run) string {
	if r.Imported == nil {
		return ""
	}
	return r.Imported.Tool
}

// passing are variables that are others in every launch.
var passing = []string{
	"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_STEP_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_START_TIME",
	"SLURM_JOB_END_TIME", "SLURM_RESTART_COUNT", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_jobfam_session_dir",
}

// propertiesThatDiffer are the properties that are known of the launches of both sides and are not the same: one may be
// why their times differ.
func propertiesThatDiffer(a, b *side) (all []notice.SidesDiffer) {
	note := func(name string, of func(*result.Run) string) {
		f := notice.SidesDiffer{Property: name, A: valuesIn(a, of), B: valuesIn(b, of)}
		if !slices.Equal(f.A, f.B) {
			all = append(all, f)
		}
	}
	for _, k := range knownFacts {
		note(k.name, k.of)
	}
	listed := []func(*result.Run) map[string]string{
		func(r *result.Run) map[string]string { return r.Environment },
		func(r *result.Run) map[string]string { return r.Backend.Parameters },
		func(r *result.Run) map[string]string { return r.Slurm },
	}
	for i, of := range listed {
		for _, name := range namesIn(slices.Concat(a.runs, b.runs), of) {
			value := func(r *result.Run) string { return of(r)[name] }
			if !slices.Contains(passing, name) && !(everyLaunch(a, value) && everyLaunch(b, value)) {
				note([]string{"", "parameter ", ""}[i]+name, value)
			}
		}
	}
	return all
}

func valuesIn(s *side, of func(*result.Run) string) (values notice.Values) {
	for _, r := range s.runs {
		if v := of(r); v != "" {
			values = units.AddOnce(values, v)
		}
	}
	slices.Sort(values)
	return values
}

// everyLaunch says that of several launches each has a value of its own: it belongs to the launch and not to the side.
func everyLaunch(s *side, of func(*result.Run) string) bool {
	return len(s.launches) > 1 && len(valuesIn(s, of)) >= len(s.launches)
}

func namesIn(runs []*result.Run, of func(*result.Run) map[string]string) []string {
	seen := map[string]bool{}
	for _, r := range runs {
		for name := range of(r) {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
