package nccllog

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/units"
)

// findSettings tells of settings that slow things down, or were meant for a test.
func findSettings(l *Log) (found []Finding) {
	for _, s := range l.Settings {
		v := theVariable(s.Name)
		if v == nil || v.Slow == nil || !s.given() {
			continue
		}
		severity := v.Slow(s.Value, l)
		if severity == "" {
			continue
		}
		found = append(found, Finding{Kind: SetSlow, Severity: severity, Who: l.who(s.Processes), Variable: s.Name, Source: environmentDoc + s.Name,
			Says: fmt.Sprintf("%s is %s: it %s.", s.Name, s.Value, v.Does), Evidence: []string{brief(s.Said)}, Advice: v.Anew})
	}
	return append(found, findTopologyFile(l)...)
}

// findTopologyFile tells of a topology that was not looked up but read, unless a plugin brought it.
func findTopologyFile(l *Log) (found []Finding) {
	file := l.setting("NCCL_TOPO_FILE")
	if file == "" || slices.ContainsFunc(l.Settings, func(s Setting) bool { return s.Name == "NCCL_TOPO_FILE" && strings.HasPrefix(s.From, "NET/") }) {
		return nil
	}
	return []Finding{{Kind: TopologyFile, Severity: Note, Source: environmentDoc + "NCCL_TOPO_FILE", Variable: "NCCL_TOPO_FILE",
		Says:     "NCCL takes the topology from a file, and not from the machine alone.",
		Evidence: []string{"NCCL_TOPO_FILE=" + file}, Advice: "see that the file is of this machine; run without it to compare"}}
}

// findDiffering tells of settings that processes have in different ways.
func findDiffering(l *Log) (found []Finding) {
	for i := 0; i < len(l.Settings); {
		j := i
		for j < len(l.Settings) && l.Settings[j].Name == l.Settings[i].Name {
			j++
		}
		if f := l.differing(l.Settings[i:j]); f != nil {
			found = append(found, *f)
		}
		i = j
	}
	return found
}

// differing judges the values of one variable. That a process does not mention one means little: many are read by one
// rank alone, or once. So only different values count. What a program asks for in a configuration is of one communicator, and may
// differ between them.
func (l *Log) differing(all []Setting) *Finding {
	all = slices.DeleteFunc(slices.Clone(all), func(s Setting) bool { return !s.given() || s.From == "config" })
	if len(all) < 2 || slices.Contains(aside, all[0].Name) {
		return nil
	}
	name := all[0].Name
	f := &Finding{Kind: SetDiffers, Severity: Warning, Variable: name, Source: environmentDoc + name}
	var values []string
	for _, s := range all {
		if slices.Contains(values, s.Value) {
			continue
		}
		values = append(values, s.Value)
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s=%s: %s", name, s.Value, l.name(s.Processes)))
	}
	if len(values) < 2 {
		return nil
	}
	f.Says = fmt.Sprintf("Processes have different values of %s: %s.", name, units.Some(values))
	f.Advice = "give all ranks one environment (mpirun -x NAME, srun --export, the same image): ranks that choose differently can hang"
	if v := theVariable(name); v != nil && v.Local {
		f.Severity, f.Advice = Note, "right where the hosts differ in this"
	}
	return f
}
