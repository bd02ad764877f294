package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
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

func opOf(k key) string      { return k.op.String() }
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

// dimension is something that curves may differ in. What is always said is so also of curves that other words tell
// apart: it makes figures other ones.
type dimension struct {
	words  func(key) string
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
		rootOf, opOf, placementOf, averageOf, aggregateOf, rotateOf, deviceOf, shapeOf, settingsOf, variantOf, typeOf, worldOf,
		libraryOf, backendOf, collectiveOf,
	}
)

// name puts the dimensions of keys together that tell them apart, and those that are always said where they differ;
// nothing where there is one key only.
func name(keys []key) []string {
	names := make([]string, len(keys))
	different := 1
	for _, d := range labelOrder {
		longer := make([]string, len(keys))
		seen, said := map[string]bool{}, map[string]bool{}
		for i, k := range keys {
			words := d.words(k)
			longer[i] = strings.TrimSpace(names[i] + " " + words)
			if names[i] != "" && usual[words] {
				longer[i] = names[i]
			}
			seen[longer[i]], said[words] = true, true
		}
		if len(seen) > different || d.always && len(said) > 1 {
			names, different = longer, len(seen)
		}
	}
	return names
}

// facts are the words under a title: what holds for all series of the picture, and whose they are.
func facts(all []series) []string {
	var backends, variants, worlds, shapes, devices, hosts, types, placements, modes, dates, tools []string
	for _, s := range all {
		backends = add(backends, s.backend+" ("+s.library+")")
		variants = add(variants, s.variant)
		worlds = add(worlds, strconv.Itoa(s.world))
		shapes = add(shapes, shapeOf(s.key))
		types = add(types, typeOf(s.key))
		if s.op != 0 {
			types = add(types, s.op.String())
		}
		placements = add(placements, placementOf(s.key))
		modes = add(modes, s.mode.String()+" mode")
		for _, r := range s.runs {
			devices = add(devices, r.Device)
			hosts = add(hosts, r.Machine.Host)
			if !r.Start.IsZero() {
				dates = add(dates, r.Start.UTC().Format("2006-01-02"))
			}
			tools = add(tools, r.Tool)
		}
	}
	var common []string // the labels say what is not
	for _, words := range unusual(all[0].key) {
		if !slices.ContainsFunc(all, func(s series) bool { return !slices.Contains(unusual(s.key), words) }) {
			common = append(common, words)
		}
	}
	world := several(worlds, "worlds") + " ranks"
	if len(worlds) == 1 {
		world = units.Count(all[0].world, "rank")
	}
	if len(shapes) == 1 {
		world += " on " + shapes[0]
	}
	if slices.Sort(dates); len(dates) > 2 {
		dates = []string{dates[0] + " to " + dates[len(dates)-1]}
	}
	if len(placements) > 1 {
		placements = nil // the labels say which
	}
	var f []string
	for _, part := range append([]string{
		several(backends, "libraries"), prefixed("variant ", several(variants, "variants")), world,
		several(devices, "kinds of device"),
		prefixed("host ", several(hosts, "hosts")), strings.Join(types, " "), strings.Join(placements, ""),
		strings.Join(modes, ", "), strings.Join(dates, ", "), several(tools, "tools"),
	}, common...) {
		f = add(f, part)
	}
	return f
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

// caption says what lines and shaded areas are, and whether launches mix along a line.
func caption(all []series) []string {
	launches, cycles, alone, everywhere := 1, 1, false, true
	for _, s := range all {
		its := map[string]bool{}
		for _, r := range s.runs {
			its[r.Launch] = true
		}
		for _, c := range s.cells {
			if launches = max(launches, c.launches); c.launches == 1 {
				cycles = max(cycles, c.n)
			}
			alone = alone || c.n == 1 && c.hi > c.lo
			everywhere = everywhere && (c.n == 0 || c.launches >= len(its))
		}
	}
	words := bands(launches, cycles, alone)
	if !everywhere {
		words = append(words, "Not every point is of the same launches.")
	}
	return words
}

// bands says what lines and shaded areas are of up to so many launches, or cycles of one launch; alone: some have one
// only.
func bands(launches, cycles int, alone bool) []string {
	if launches == 1 && cycles == 1 {
		if alone {
			return []string{"Shaded: 95 % interval of the median."}
		}
		return []string{"No interval: the number of iterations was fixed (-n), or the samples are too few for one."}
	}
	line, shaded, one := fmt.Sprintf("Lines: median over up to %d launches", launches), "Shaded: range over launches",
		"launch"
	switch {
	case launches == 1:
		line, shaded, one = fmt.Sprintf("Lines: median over up to %d cycles", cycles), "Shaded: range over cycles", "cycle"
	case cycles > 1:
		line += fmt.Sprintf(", or %d cycles of one", cycles)
		shaded, one = shaded+", or over the cycles of one", "cycle"
	}
	if alone {
		shaded += ", or the 95 % interval where there was one " + one
	}
	return []string{line + ".", shaded + "."}
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
