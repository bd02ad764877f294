package nccllog

import (
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
)

// findSettings finds settings that slow NCCL down, or are for tests.
func findSettings(l *Log) (all []found) {
	for _, s := range l.Settings {
		v := theVariable(s.Name)
		if v == nil || v.Slow == nil || !s.given() {
			continue
		}
		if severity, slow := v.Slow(s.Value, l); slow {
			fact := nccllogs.SettingAffectsSpeed{
				Variable: nccllogs.NCCLVariable(
					s.Name,
				), Value: s.Value, Effect: nccllogs.Effect(s.Name), Line: brief(s.Said),
			}
			all = append(all, about(l.who(s.Processes), fact).as(severity))
		}
	}
	return append(all, findTopologyFile(l)...)
}

// findTopologyFile finds a topology that was read from a file, unless a plugin brought it.
func findTopologyFile(l *Log) []found {
	file := l.setting("NCCL_TOPO_FILE")
	if file == "" || slices.ContainsFunc(l.Settings, func(s Setting) bool {
		return s.Name == "NCCL_TOPO_FILE" && strings.HasPrefix(s.From, "NET/")
	}) {
		return nil
	}
	return one(nccllogs.TopologyFromFile{File: file})
}

// findDiffering finds settings that processes have with different values.
func findDiffering(l *Log) (all []found) {
	for i := 0; i < len(l.Settings); {
		j := i
		for j < len(l.Settings) && l.Settings[j].Name == l.Settings[i].Name {
			j++
		}
		all = append(all, l.differing(l.Settings[i:j])...)
		i = j
	}
	return all
}

// differing judges the values of one variable. That a process does not mention one means little: many are read by one
// rank alone, or once. So only different values count. What a program asks for in a configuration is of one
// communicator, and may differ between them.
func (l *Log) differing(all []Setting) []found {
	all = slices.DeleteFunc(slices.Clone(all), func(s Setting) bool { return !s.given() || s.From == "config" })
	if len(all) < 2 || slices.Contains(aside, all[0].Name) {
		return nil
	}
	name := all[0].Name
	fact := nccllogs.SettingsDiffer{Variable: nccllogs.NCCLVariable(name)}
	for _, s := range all {
		if !slices.Contains(fact.Values, s.Value) {
			fact.Values = append(fact.Values, s.Value)
			value := nccllogs.ValueOf{Assigned: nccllogs.Assigned{Name: name, Value: s.Value}, Who: l.name(s.Processes)}
			fact.Each = append(fact.Each, value)
		}
	}
	if len(fact.Values) < 2 {
		return nil
	}
	if slices.Contains(perHost, name) {
		fact.PerHost = true
		return []found{about("", fact).as(notice.Info)}
	}
	return one(fact)
}
