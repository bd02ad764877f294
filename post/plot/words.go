package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/title"
)

// partsOf are the parts of a key in words, by their names; "" where another tool's file lacks one.
func partsOf(k key) map[string]string {
	return map[string]string{
		"collective": k.Collective.String(), "backend": k.Backend, "library": k.Library, "variant": k.Variant,
		"settings": settingsOf(k), "device": k.Device, "world": worldOf(k), "type": typeOf(k), "op": opOf(k),
		"average": k.Average, "imbalance": string(k.Imbalance), "group": k.Groups.String(),
		"placement": title.KnownPlacement(k.Placement), "shape": shapeOf(k), "rotate": rotateOf(k),
		"aggregate": aggregateOf(k),
		"root":      title.Known(k.Root >= 0, func() string { return fmt.Sprintf("root %d", k.Root) }),
	}
}

func settingsOf(k key) string { return cmp.Or(k.Settings, "default settings") }
func worldOf(k key) string    { return units.Count(k.World, "rank") }
func typeOf(k key) string     { return title.Known(k.Type != 0, k.Type.String) }
func opOf(k key) string       { return title.Known(k.Op != 0, k.Op.String) }

func shapeOf(k key) string {
	words := fmt.Sprintf("%d nodes × %d", k.Nodes, k.PerNode)
	switch k.Nodes {
	case 0:
		return ""
	case 1:
		words = "1 node"
	}
	if k.Whole.Nodes > 1 {
		words += " of " + k.Whole.String()
	}
	return words
}

func rotateOf(k key) string {
	switch {
	case k.Rotate == 0:
		return "warm caches"
	case k.Rotate < 0:
		return ""
	}
	return "rotating over " + coll.FormatSize(k.Rotate, true)
}

func aggregateOf(k key) string {
	if k.Aggregate == 1 {
		return "issued alone"
	}
	return fmt.Sprintf("issued by %d", k.Aggregate)
}

// usual are default methods, which labels omit beside other words.
var usual = map[string]bool{"warm caches": true, "issued alone": true, "max over ranks": true, "default settings": true,
	"out-of-place": true}

// unusual are the words for a method that differs from the default.
func unusual(k key) (words []string) {
	for _, part := range []string{rotateOf(k), aggregateOf(k), k.Average, settingsOf(k)} {
		if !usual[part] {
			words = add(words, part)
		}
	}
	return words
}

// labelOrder is the order of properties in labels, in which curves may differ. Labels always have those with a *, which
// make values incomparable. splitOrder is the order by which too many curves are split over plots.
var (
	labelOrder = strings.Fields(`
		collective imbalance group backend variant* settings* world placement* op root type library rotate* aggregate*
		average* shape device`)
	splitOrder = strings.Fields(`
		root op imbalance group placement average aggregate rotate device shape settings variant type world library
		backend collective`)
)

// name returns labels of the properties in which keys differ; empty for a single key.
func name(keys []key) []string {
	names := make([]string, len(keys))
	different := 1
	for _, part := range labelOrder {
		part, always := strings.CutSuffix(part, "*")
		longer := make([]string, len(keys))
		seen, values := map[string]bool{}, map[string]bool{}
		for i, k := range keys {
			value := partsOf(k)[part]
			longer[i] = strings.TrimSpace(names[i] + " " + value)
			if names[i] != "" && usual[value] {
				longer[i] = names[i]
			}
			seen[longer[i]], values[value] = true, true
		}
		if len(seen) > different || always && len(values) > 1 {
			names, different = longer, len(seen)
		}
	}
	return names
}

// subtitles are the lines under a title: the noun that counts several values, with the prefix of values before it.
// Without a noun, only a single value is a subtitle.
var subtitles = strings.Split("libraries,variant |variants,worlds,kinds of device,host |hosts,types,operations,,modes,"+
	"days,tools", ",")

// subtitlesOf are the values of subtitles.
func subtitlesOf(s series, r *result.Run) []string {
	return []string{
		s.Backend + " (" + s.Library + ")", s.Variant, worldOf(s.key) + prefixed(" on ", shapeOf(s.key)), r.Device,
		r.Machine.Host, typeOf(s.key), opOf(s.key), title.KnownPlacement(s.Placement), s.Mode.String() + " mode",
		title.Known(!r.Start.IsZero(), func() string { return r.Start.UTC().Format("2006-01-02") }), r.Tool,
	}
}

// facts are the lines under a title: what all series of the plot share.
func facts(all []series) (facts []string) {
	for i, line := range subtitles {
		var values []string
		for _, s := range all {
			for _, r := range s.runs {
				values = add(values, subtitlesOf(s, r)[i])
			}
		}
		prefix, noun, found := strings.Cut(line, "|")
		if !found {
			prefix, noun = "", line
		}
		if len(values) == 1 || noun != "" {
			facts = add(facts, prefixed(prefix, several(values, noun)))
		}
	}
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
	if repeated > 1 {
		lines = []string{fmt.Sprintf("Lines: median over up to %d launches or cycles.", repeated)}
	}
	switch {
	case repeated > 1 && interval:
		lines = append(lines, "Shaded: their range, or the "+ci+" of a single one.")
	case repeated > 1:
		lines = append(lines, "Shaded: their range.")
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

// numbered makes repeated names unique.
func numbered(seen map[string]int, name string) string {
	if seen[name]++; seen[name] > 1 {
		return fmt.Sprintf("%s_%d", name, seen[name])
	}
	return name
}
