package compare

import (
	_ "embed" // for properties.tsv
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// properties are the values of a run's header that may affect a time and do not change from launch to launch by
// themselves: paths in its JSON, or names of headerOf, with the names of notices. A path that ends in a dot is all
// below it.
var properties = func() (all []property) {
	for f := range units.Rows(propertiesFile, 2) {
		all = append(all, property{f[0], f[1]})
	}
	return all
}()

type property struct{ path, name string }

//go:embed properties.tsv
var propertiesFile string

// importedTool is the path of the tool that measured an imported run.
const importedTool = "imported.tool"

// perLaunch are variables that differ in every launch.
var perLaunch = strings.Fields(`
	SLURM_JOB_ID SLURM_JOBID SLURM_STEP_ID SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID SLURM_JOB_START_TIME
	SLURM_JOB_END_TIME SLURM_RESTART_COUNT OMPI_MCA_ess_base_jobid OMPI_MCA_orte_jobfam_session_dir`)

// headerOf is the header of a run: paths in its JSON and their values.
func headerOf(r *result.Run) map[string]string {
	values := flattened(r)
	values["title"], values["settings"] = r.Backend.Title(), r.Method.Settings().String()
	values["crowded"] = notice.Reason(r.Crowded())
	if !r.Start.IsZero() { // another tool's file may lack it
		values["date"] = r.Start.UTC().Format(time.DateOnly)
	}
	return values
}

// flattened is the JSON of a plain struct: paths and their values.
func flattened(v any) map[string]string {
	var all map[string]any
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil { // plain structs have no error
		panic(err)
	}
	values := map[string]string{}
	flatten("", all, values)
	return values
}

// flatten adds values by their paths; numbers that are 0 are unknown.
func flatten(path string, value any, to map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			flatten(strings.TrimPrefix(path+"."+name, "."), one, to)
		}
	case []any:
		to[path] = strings.Trim(fmt.Sprint(v), "[]")
	case string:
		to[path] = v
	case float64:
		if v != 0 {
			to[path] = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
}

// valuesOf are the values of a side's runs by their paths.
func valuesOf(s *side) map[string]notice.Values {
	all := map[string]notice.Values{}
	for _, r := range s.runs {
		for path, v := range headerOf(r) {
			if v != "" {
				all[path] = units.AddOnce(all[path], v)
			}
		}
	}
	for _, values := range all {
		slices.Sort(values)
	}
	return all
}

// propertiesThatDiffer are the properties that are not the same on both sides: one may be why their times differ.
func propertiesThatDiffer(a, b *side) (all []notice.SidesDiffer) {
	ofA, ofB := valuesOf(a), valuesOf(b)
	note := func(path, name string) {
		if !slices.Equal(ofA[path], ofB[path]) {
			all = append(all, notice.SidesDiffer{Property: name, A: ofA[path], B: ofB[path]})
		}
	}
	both := maps.Clone(ofA)
	maps.Copy(both, ofB)
	paths := slices.Sorted(maps.Keys(both))
	for _, p := range properties {
		if !strings.HasSuffix(p.path, ".") {
			note(p.path, p.name)
			continue
		}
		for _, path := range paths {
			name, is := strings.CutPrefix(path, p.path)
			if is && !slices.Contains(perLaunch, name) && !(a.inEveryLaunch(ofA[path]) && b.inEveryLaunch(ofB[path])) {
				note(path, p.name+name)
			}
		}
	}
	return all
}

// inEveryLaunch reports whether each of several launches has a value of its own, which is then not of the side.
func (s *side) inEveryLaunch(values notice.Values) bool {
	return len(s.launches) > 1 && len(values) >= len(s.launches)
}
