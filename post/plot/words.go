package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
)

// The parts of a key in words.
func collectiveOf(k key) string { return k.collective.String() }
func backendOf(k key) string    { return k.backend }
func libraryOf(k key) string    { return k.library }
func variantOf(k key) string    { return k.variant }
func settingsOf(k key) string   { return cmp.Or(k.settings, "default settings") }
func deviceOf(k key) string     { return k.device }
func worldOf(k key) string      { return units.Count(k.world, "rank") }

func typeOf(k key) string {
	if k.dataType == 0 { // another tool's file does not tell
		return ""
	}
	return k.dataType.String()
}

func opOf(k key) string {
	if k.op == 0 {
		return ""
	}
	return k.op.String()
}

func averageOf(k key) string { return k.average }

func shapeOf(k key) string {
	switch k.nodes {
	case 0: // another tool's file does not tell
		return ""
	case 1:
		return "1 node"
	}
	return fmt.Sprintf("%d nodes × %d", k.nodes, k.perNode)
}

func placementOf(k key) string {
	switch k.placement {
	case coll.InPlace:
		return "in-place"
	case coll.OutOfPlace:
		return "out-of-place"
	}
	return "" // another tool's file does not tell
}

func rootOf(k key) string {
	if k.root < 0 {
		return ""
	}
	return fmt.Sprintf("root %d", k.root)
}

func rotateOf(k key) string {
	switch {
	case k.rotate == 0:
		return "warm caches"
	case k.rotate < 0: // another tool's file does not tell
		return ""
	}
	return "rotating over " + coll.FormatSize(k.rotate, true)
}

func aggregateOf(k key) string {
	if k.aggregate == 1 {
		return "issued alone"
	}
	return fmt.Sprintf("issued by %d", k.aggregate)
}

// usual are the words on how a figure was taken that are left out where others say enough.
var usual = map[string]bool{"warm caches": true, "issued alone": true, "max over ranks": true, "default settings": true,
	"out-of-place": true}

// unusual are the words on how a figure was taken, where that is not rank's own way.
func unusual(k key) (words []string) {
	for _, part := range []string{rotateOf(k), aggregateOf(k), averageOf(k), settingsOf(k)} {
		if !usual[part] {
			words = add(words, part)
		}
	}
	return words
}

// dimension is something that curves may differ in. What is always named is so also of curves that other dimensions
// tell apart: their values are not comparable.
type dimension struct {
	of     func(key) string
	always bool
}

// labelOrder is the order in which dimensions are used to tell curves apart; splitOrder that in which too many
// curves are dealt out to pictures.
var (
	labelOrder = []dimension{
		{collectiveOf, false}, {backendOf, false}, {variantOf, true}, {settingsOf, true}, {worldOf, false},
		{placementOf, true}, {opOf, false}, {rootOf, false},
		{typeOf, false}, {libraryOf, false}, {rotateOf, true}, {aggregateOf, true}, {averageOf, true}, {shapeOf, false},
		{deviceOf, false},
	}
	splitOrder = []func(key) string{
		rootOf, opOf, placementOf, averageOf, aggregateOf, rotateOf, deviceOf, shapeOf, settingsOf, variantOf, typeOf,
		worldOf,
		libraryOf, backendOf, collectiveOf,
	}
)

// name puts the dimensions of keys together that tell them apart, and those that are always named where they differ;
// nothing where there is one key only.
func name(keys []key) []string {
	names := make([]string, len(keys))
	different := 1
	for _, d := range labelOrder {
		longer := make([]string, len(keys))
		seen, values := map[string]bool{}, map[string]bool{}
		for i, k := range keys {
			value := d.of(k)
			longer[i] = strings.TrimSpace(names[i] + " " + value)
			if names[i] != "" && usual[value] {
				longer[i] = names[i]
			}
			seen[longer[i]], values[value] = true, true
		}
		if len(seen) > different || d.always && len(values) > 1 {
			names, different = longer, len(seen)
		}
	}
	return names
}

// facts are the lines under a title: what holds for all series of the picture, and whose they are.
func facts(all []series) (facts []string) {
	list := func(prefix, noun string, of func(series) []string) {
		var values []string
		for _, s := range all {
			for _, v := range of(s) {
				values = add(values, v)
			}
		}
		if len(values) == 1 || noun != "" { // else the labels have it
			facts = add(facts, prefixed(prefix, several(values, noun)))
		}
	}
	one := func(of func(key) string) func(series) []string {
		return func(s series) []string { return []string{of(s.key)} }
	}
	ofRuns := func(of func(*result.Run) string) func(series) []string {
		return func(s series) (values []string) {
			for _, r := range s.runs {
				values = append(values, of(r))
			}
			return values
		}
	}
	list("", "libraries", one(func(k key) string { return k.backend + " (" + k.library + ")" }))
	list("variant ", "variants", one(variantOf))
	list("", "worlds", one(func(k key) string { return worldOf(k) + prefixed(" on ", shapeOf(k)) }))
	list("", "kinds of device", ofRuns(func(r *result.Run) string { return r.Device }))
	list("host ", "hosts", ofRuns(func(r *result.Run) string { return r.Machine.Host }))
	list("", "types", one(typeOf))
	list("", "operations", one(opOf))
	list("", "", one(placementOf))
	list("", "modes", func(s series) []string { return []string{s.mode.String() + " mode"} })
	list("", "days", ofRuns(func(r *result.Run) string {
		if r.Start.IsZero() {
			return ""
		}
		return r.Start.UTC().Format("2006-01-02")
	}))
	list("", "tools", ofRuns(func(r *result.Run) string { return r.Tool }))
	for _, words := range unusual(all[0].key) {
		if !slices.ContainsFunc(all, func(s series) bool { return !slices.Contains(unusual(s.key), words) }) {
			facts = add(facts, words) // else the labels have it
		}
	}
	return facts
}

// several joins up to four values and counts more.
func several(values []string, noun string) string {
	if len(values) > 4 {
		return fmt.Sprintf("%d %s", len(values), noun)
	}
	return strings.Join(values, ", ")
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func add(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// caption states what lines and shaded areas are, and whether launches mix along a line.
func caption(all []series) (lines []string) {
	repeated, interval, everywhere := 1, false, true
	for _, s := range all {
		its := map[string]bool{}
		for _, r := range s.runs {
			its[r.Launch] = true
		}
		for _, c := range s.cells {
			repeated = max(repeated, c.n)
			interval = interval || c.n == 1 && c.hi > c.lo
			everywhere = everywhere && (c.n == 0 || c.launches >= len(its))
		}
	}
	const ci = "95 % CI of the median"
	switch {
	case repeated > 1 && interval:
		lines = []string{fmt.Sprintf("Lines: median over up to %d launches or cycles.", repeated),
			"Shaded: their range, or the " + ci + " of a single one."}
	case repeated > 1:
		lines = []string{
			fmt.Sprintf("Lines: median over up to %d launches or cycles.", repeated),
			"Shaded: their range.",
		}
	case interval:
		lines = []string{"Shaded: " + ci + "."}
	default:
		lines = []string{"No interval: the number of iterations was fixed (-n), or the samples are too few for one."}
	}
	if !everywhere {
		lines = append(lines, "Not every point is of the same launches.")
	}
	return lines
}

// fileName makes a name of lower-case words for a file.
func fileName(parts ...string) string {
	clean := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}
	var words []string
	for _, p := range parts {
		if p != "" {
			words = append(words, strings.Trim(strings.Map(clean, p), "-."))
		}
	}
	return strings.Join(words, "_")
}
