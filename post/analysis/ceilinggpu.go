package analysis

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// gpuModel is the links of a GPU to other GPUs, known by its name.
type gpuModel struct {
	name       *regexp.Regexp // as its driver calls it
	generation string         // "NVLink 4"; "" without NVLink
	links      int
	each       float64 // GB/s of a link, in one direction
	wiring     wiring
	reduces    bool // the switch between these GPUs can add up and copy (NVLink SHARP)
	source     string
}

// wiring is the topology between GPUs of one model.
type wiring uint8

const (
	bySwitch wiring = iota // boards of eight and more have a switch; on those of four links may lead from each to each
	byMesh                 // links lead to single others: all of them serve a world of eight only
	byBridge               // bridges over pairs or fours of cards, which may be missing
)

var wirings = map[string]wiring{"switch": bySwitch, "mesh": byMesh, "bridge": byBridge}

// gpuModels are searched in order, and the first match counts. Names must match exactly: variants of a GPU differ in
// their links. docs/analysis.md has the sources.
var gpuModels = func() (all []gpuModel) {
	for cells := range units.Rows(gpuTable, 7) {
		m := gpuModel{
			name: regexp.MustCompile(cells[0]), wiring: wirings[cells[4]], reduces: cells[5] == "yes", source: cells[6],
		}
		if m.links, _ = strconv.Atoi(cells[2]); m.links > 0 {
			m.generation = cells[1]
		}
		m.each, _ = strconv.ParseFloat(cells[3], 64)
		all = append(all, m)
	}
	return all
}()

// gpuTable has a line for each model: name, generation, links, GB/s of each, what joins them, whether the switch
// reduces, and the source.
//
//go:embed gpus.tsv
var gpuTable string

func modelOf(device string) (gpuModel, bool) {
	for _, m := range gpuModels {
		if m.name.MatchString(device) && !strings.Contains(device, "MIG") {
			return m, true
		}
	}
	return gpuModel{}, false
}

// links are the NVLinks between the GPUs of a node: how many lead from one to the other, as nvidia-smi topo -m draws
// it. Where a switch joins them, each pair is drawn with all links of a GPU.
type links [][]int

var gpuWord = regexp.MustCompile(`^GPU\d+$`)

// gpuLinks parses the matrix of GPU links in a record's topology; false if it has no matrix.
func gpuLinks(topology string) (links, bool) {
	lines := strings.Split(escapes.ReplaceAllString(topology, ""), "\n")
	for i, line := range lines {
		n := 0
		for _, word := range strings.Fields(line) {
			if gpuWord.MatchString(word) {
				n++
			}
		}
		if words := strings.Fields(line); n < 2 || words[0] != "GPU0" || words[1] != "GPU1" || i+n >= len(lines) {
			continue
		}
		var l links
		for _, row := range lines[i+1 : i+1+n] {
			words := strings.Fields(row)
			if len(words) < n+1 || !gpuWord.MatchString(words[0]) {
				return nil, false
			}
			counts := make([]int, n)
			for k, word := range words[1 : n+1] {
				if number, is := strings.CutPrefix(word, "NV"); is {
					counts[k], _ = strconv.Atoi(number)
				}
			}
			l = append(l, counts)
		}
		return l, true
	}
	return nil, false
}

// escapes are the underlines of the header, which nvidia-smi writes even into a pipe.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func (l links) none() bool {
	return !slices.ContainsFunc(l, func(row []int) bool { return slices.Max(row) > 0 })
}

// joined reports whether links connect all GPUs, directly or through others.
func (l links) joined() bool {
	reached, next := map[int]bool{0: true}, []int{0}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for to, n := range l[at] {
			if n > 0 && !reached[to] {
				reached[to] = true
				next = append(next, to)
			}
		}
	}
	return len(reached) == len(l)
}

// even is the number of links of every pair, where that is one number.
func (l links) even() (int, bool) {
	want := l[0][1]
	for from, row := range l {
		for to, n := range row {
			if from != to && n != want {
				return 0, false
			}
		}
	}
	return want, true
}

// overNVLink is the ceiling where the record has the links.
func overNVLink(run *result.Run, of coll.Case, m gpuModel, l links) Ceiling {
	ranks := run.RanksPerNode
	pair, even := l.even()
	usable := m.links
	switch {
	case even && pair >= m.links: // a switch
	case even && of.Collective == coll.SendRecv: // to the next alone
		usable = pair
	case even:
		usable = min(m.links, pair*(ranks-1))
	case ranks != len(l):
		return unknown(notice.UnevenLinks, fmt.Sprintf("%d of %d GPUs", ranks, len(l)))
	case !l.joined(): // data for the next island go over PCIe
		return overPCIe(run)
	case toOneRankEach(of.Collective):
		return unknown(notice.MissingLinks, "")
	default:
		for _, row := range l {
			sum := 0
			for _, n := range row {
				sum += n
			}
			usable = min(usable, sum)
		}
	}
	return nvlink(of, m, notice.PeakNVLink{Links: usable, Drawn: true}, even && pair >= m.links && ranks > 2)
}

// boardOfFour is the number of GPUs on boards that may do without a switch.
const boardOfFour = 4

// assumeNVLink is the ceiling where only the name of the GPU is known.
func assumeNVLink(run *result.Run, of coll.Case, m gpuModel) Ceiling {
	ranks := run.RanksPerNode
	switch {
	case m.wiring == byBridge:
		return unknown(notice.OptionalBridges, run.Device)
	case m.wiring == byMesh && ranks != 8:
		return unknown(notice.DependsOnGPUs, run.Device)
	case m.wiring == bySwitch && (ranks < boardOfFour || ranks == boardOfFour && of.Collective == coll.SendRecv):
		return unknown(notice.SwitchOrBoard, fmt.Sprintf("%d x %s", ranks, run.Device))
	}
	return nvlink(of, m, notice.PeakNVLink{Links: m.links, Device: run.Device}, m.reduces && ranks > boardOfFour)
}

func nvlink(of coll.Case, m gpuModel, what notice.PeakNVLink, switched bool) Ceiling {
	what.Generation, what.Each = m.generation, units.LinkRate(m.each*1e9)
	c := Ceiling{BusBW: float64(what.Links) * m.each * 1e9, Name: m.generation, Source: m.source, Fact: what}
	if switched && m.reduces && of.Collective == coll.AllReduce {
		c.Beyond, c.By = c.BusBW*of.Collective.BusFactor(of.World), notice.NVLinkSHARP
	}
	return c
}

// overPCIe is the ceiling of ranks whose GPUs reach each other over PCIe alone.
func overPCIe(run *result.Run) Ceiling {
	if run.Hardware == nil || run.Hardware.PCIe == nil {
		return unknown(notice.UnknownPCIe, "")
	}
	p := run.Hardware.PCIe
	i := slices.IndexFunc(pcieGenerations, func(g pcieGeneration) bool { return g.speed == p.Speed })
	if i < 0 {
		return unknown(notice.UnknownSpeed, fmt.Sprintf("%g GT/s", p.Speed))
	}
	g := pcieGenerations[i]
	c := Ceiling{
		BusBW:  g.speed / 8 * g.data * float64(p.Width) * 1e9,
		Name:   fmt.Sprintf("PCIe %d x%d", i+1, p.Width),
		Source: g.source,
	}
	what := notice.PeakPCIe{Generation: i + 1, Width: p.Width}
	if p.Width < p.Lanes {
		what.Lanes, what.GPU = p.Lanes, fmt.Sprintf("rank %d", p.Rank)
	}
	c.Fact = what
	return c
}

type pcieGeneration struct {
	speed  float64 // GT/s, which is Gbit/s of a lane in one direction
	data   float64 // the part that is data: what the line code leaves, of generation 6 what headers of a flit do
	source string
}

// pcieGenerations are in their order, from the first on.
var pcieGenerations = []pcieGeneration{
	{2.5, 8.0 / 10, notice.SourcePCI},
	{5, 8.0 / 10, notice.SourcePCI},
	{8, 128.0 / 130, notice.SourcePCI},
	{16, 128.0 / 130, notice.SourcePCI},
	{32, 128.0 / 130, notice.SourcePCI},
	{64, 236.0 / 256, notice.SourcePCI6},
}
