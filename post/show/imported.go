package show

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/title"
)

// importedLines are which tool measured a run, and where its file is. What the file lacks is left out.
func importedLines(f *result.File) []string {
	r := &f.Run
	lines := []string{fmt.Sprintf("IMPORTED: measured by %s, not by rank; from %s", r.Imported.Tool, r.Imported.Path)}
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
		words = append(words, "started "+r.Imported.Started)
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	lines = append(lines, strings.Join(words, ", ")+title.Unusual(&r.Method))
	if len(r.Imported.Deduced) > 0 {
		lines = append(lines, "deduced: "+r.Imported.Deduced.String())
	}
	if len(r.Imported.Given) > 0 {
		lines = append(lines, "given to post import: "+pairs(r.Imported.Given))
	}
	return lines
}
