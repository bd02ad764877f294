package nccllog

import (
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// findSettings finds settings that slow NCCL down, or are for tests.
func findSettings(l *findings) {
	for _, s := range l.Settings {
		v := theVariable(s.Name)
		if v == nil || !s.given() {
			continue
		}
		if severity, slow := v.Slow(s.Value, l.Log); slow {
			fact := nccllogs.SettingAffectsSpeed{
				Variable: s.Name, Value: s.Value, Effect: nccllogs.Effect(s.Name), Line: brief(s.Said)}
			l.about(l.who(s.Processes), fact).Severity = severity
		}
	}
	file := l.setting("NCCL_TOPO_FILE")
	if file != "" && !slices.ContainsFunc(l.Settings, func(s Setting) bool { // a plugin's own file is none to report
		return s.Name == "NCCL_TOPO_FILE" && strings.HasPrefix(s.From, "NET/")
	}) {
		l.add(nccllogs.TopologyFromFile{File: file})
	}
}

// findDiffering finds settings that processes have with different values.
func findDiffering(l *findings) {
	for _, all := range units.GroupBy(l.Settings, func(s Setting) string { return s.Name }) {
		l.differing(all)
	}
}

// differing judges the values of one variable. That a process does not mention one means little: many are read by one
// rank alone, or once. So only different values count. What a program asks for in a configuration is of one
// communicator, and may differ between them.
func (l *findings) differing(all []Setting) {
	all = units.Where(all, func(s Setting) bool { return s.given() && s.From != "config" })
	if len(all) < 2 || slices.Contains(aside, all[0].Name) {
		return
	}
	name := all[0].Name
	fact := nccllogs.SettingsDiffer{Variable: name, PerHost: slices.Contains(perHost, name)}
	for _, s := range all {
		if !slices.Contains(fact.Values, s.Value) {
			fact.Values = append(fact.Values, s.Value)
			value := nccllogs.ValueOf{Assigned: nccllogs.Assigned{Name: name, Value: s.Value}, Who: l.name(s.Processes)}
			fact.Each = append(fact.Each, value)
		}
	}
	if len(fact.Values) < 2 {
		return
	}
	if f := l.add(fact); fact.PerHost {
		f.Severity = notice.Info
	}
}
