package main

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/say"
)

// writeImported says what another tool measured, and where its file is. What that file does not tell is left out.
func writeImported(line func(string), f *result.File) {
	r := &f.Run
	line(fmt.Sprintf("IMPORTED: %s measured this, not rank; from %s", r.Imported.Tool, r.Imported.Path))
	words := []string{fmt.Sprintf("%s (%s)", r.Backend.Name, r.Backend.Library)}
	where := ""
	if r.World > 0 {
		where = units.Count(r.World, "rank")
	}
	if r.Nodes > 0 {
		where += " on " + units.Count(r.Nodes, "node")
	}
	if r.Device != "" {
		where += " of " + r.Device
	}
	words = append(words, strings.TrimSpace(where))
	if len(f.Ranks) > 0 {
		words = append(words, "host "+f.Ranks[0].Host)
	}
	if r.Imported.Started != "" {
		words = append(words, "begun "+r.Imported.Started)
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	line(strings.Join(words, ", ") + say.Unusual(&r.Method))
	if len(r.Imported.Deduced) > 0 {
		line("deduced: " + strings.Join(r.Imported.Deduced, "; "))
	}
	if len(r.Imported.Given) > 0 {
		var given []string
		for k, v := range r.Imported.Given {
			given = append(given, k+" "+v)
		}
		slices.Sort(given)
		line("said by who imported it: " + strings.Join(given, ", "))
	}
}
