package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// fact is something that is known of the launches of both sides and is not the same: it may be why their times differ.
type fact struct {
	name string
	a, b []string // the values there are, each once; none where it is not set
}

// known is a fact of one run; an empty value is none.
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

// knownFacts are what a run's header says that may move a time, and does not change from launch to launch by itself.
var knownFacts = []known{
	{"backend", func(r *result.Run) string { return r.Backend.Name }},
	{"library", func(r *result.Run) string { return r.Backend.Title() }},
	{"path of the library", func(r *result.Run) string { return r.Backend.Path }},
	{"build of the library", func(r *result.Run) string { return r.Backend.BuildID }},
	{"notes of the library", func(r *result.Run) string { return strings.Join(r.Backend.Notes, "; ") }},
	{"variant", func(r *result.Run) string { return r.Variant }},
	{"settings", func(r *result.Run) string { return r.Method.Settings().String() }},
	{"MPI", func(r *result.Run) string { return r.MPI.Library }},
	{"path of MPI", func(r *result.Run) string { return r.MPI.Path }},
	{"launcher", func(r *result.Run) string { return r.MPI.Launcher }},
	{"thread level", func(r *result.Run) string { return r.MPI.ThreadLevel }},
	{"device", func(r *result.Run) string { return r.Device }},
	{"host of rank 0", func(r *result.Run) string { return r.Machine.Host }},
	{"nodes of the job", func(r *result.Run) string { return r.Slurm["SLURM_JOB_NODELIST"] }},
	{"operating system", func(r *result.Run) string { return r.Machine.OS }},
	{"kernel", func(r *result.Run) string { return r.Machine.Kernel }},
	{"CPU", func(r *result.Run) string { return r.Machine.CPU }},
	knownNumber("cores", func(r *result.Run) float64 { return float64(r.Machine.Cores) }),
	{"frequency governor", func(r *result.Run) string { return r.Machine.Governor }},
	{"container", func(r *result.Run) string { return r.Machine.Container }},
	{"tool", func(r *result.Run) string { return r.Tool }},
	{"measured by another tool", importedFrom},
	{"build of rank", func(r *result.Run) string { return r.Build }},
	{"sweep", func(r *result.Run) string { return r.Sweep.Name }},
	{"clock", func(r *result.Run) string { return r.Method.Clock }},
	knownNumber("precision", func(r *result.Run) float64 { return r.Method.Precision }),
	knownNumber("budget of a case in s", func(r *result.Run) float64 { return r.Method.Budget }),
	knownNumber("iterations", func(r *result.Run) float64 { return float64(r.Method.Iterations) }),
	knownNumber("warm-up iterations", func(r *result.Run) float64 { return float64(r.Method.Warmup) }),
	knownNumber("rounds of checks", func(r *result.Run) float64 { return float64(r.Method.CheckRounds) }),
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
var passing = []string{"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_STEP_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME", "SLURM_RESTART_COUNT",
	"OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_jobfam_session_dir"}

// factsOf are what is not the same on both sides.
func factsOf(a, b *side) (facts []fact) {
	note := func(name string, of func(*result.Run) string) {
		if f := (fact{name, valuesIn(a, of), valuesIn(b, of)}); !slices.Equal(f.a, f.b) {
			facts = append(facts, f)
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
	if text := inTurn(a, b); text != "" {
		facts = append(facts, fact{"order of the launches", []string{text}, nil})
	}
	return facts
}

func valuesIn(s *side, of func(*result.Run) string) (values []string) {
	for _, r := range s.runs {
		if v := of(r); v != "" {
			values = addWord(values, v)
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

// inTurn says that the launches of two sides did not take turns: what changed on the machine meanwhile counts for one
// side alone then.
func inTurn(a, b *side) string {
	for _, order := range [][2]*side{{a, b}, {b, a}} {
		first, second := order[0], order[1]
		if first.runs[0].Start.IsZero() || second.runs[0].Start.IsZero() { // another tool's file does not tell
			continue
		}
		if len(first.launches) > 1 && len(second.launches) > 1 && first.runs[len(first.runs)-1].Start.Before(second.runs[0].Start) {
			return fmt.Sprintf("all of %s before all of %s: what changed on the machine meanwhile looks like a difference", first.letter, second.letter)
		}
	}
	return ""
}

// words are a fact in a line; long values are cut.
func (f fact) words() string {
	if f.b == nil && strings.HasPrefix(f.name, "order") {
		return f.name + ": " + f.a[0]
	}
	return fmt.Sprintf("%s: %s | %s", f.name, someValues(f.a), someValues(f.b))
}

// someValues lists up to three values.
func someValues(values []string) string {
	var words []string
	for _, v := range values[:min(len(values), 3)] {
		v = strings.Join(strings.Fields(v), " ")
		if r := []rune(v); len(r) > 60 {
			v = string(r[:59]) + "…"
		}
		words = append(words, v)
	}
	if n := len(values) - len(words); n > 0 {
		words = append(words, fmt.Sprintf("%d more", n))
	}
	return cmp.Or(strings.Join(words, ", "), "-")
}
