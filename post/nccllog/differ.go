package nccllog

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// What is compared, and what one log has of it.
type (
	logAspect = nccllogs.LogAspect
	logValue  = nccllogs.LogValue
)

// Contrast is how two logs differ, and what may explain it. A is the log that is asked about, B the other.
type Contrast struct {
	Headlines []notice.Notice         `json:"notices"`   // the main differences, and why the logs may not be comparable
	Effects   []Difference            `json:"effects"`   // in what the library did, or in what was measured
	Causes    []Difference            `json:"causes"`    // in what it was given: settings, versions, plugins, machines
	Others    []Difference            `json:"others"`    // settings that are not known to matter for speed
	OnlyA     []notice.Notice         `json:"only_in_a"` // findings
	OnlyB     []notice.Notice         `json:"only_in_b"`
	Same      []nccllogs.LogAgreement `json:"same"`

	doubts []notice.Notice
}

// Difference is one thing that differs between two logs.
type Difference struct {
	What    logAspect           `json:"aspect"`
	A       logValue            `json:"value_a"` // empty where that log does not have it
	B       logValue            `json:"value_b"`
	Because []nccllogs.LogCause `json:"because"` // differences that can have caused it
	Source  string              `json:"source"`

	touches effect          // of a cause: what it can change; of an effect: what it is
	does    nccllogs.Effect // of a variable
}

// MarshalJSON writes what differs as texts for people, and as parameters.
func (d Difference) MarshalJSON() ([]byte, error) {
	type parameters Difference
	return json.Marshal(struct {
		What string `json:"what"`
		A    string `json:"a"`
		B    string `json:"b"`
		parameters
	}{d.What.String(), d.A.String(), d.B.String(), parameters(d)})
}

// Compare returns how two logs differ. Process ids, addresses, pointers and times of day are no differences.
func Compare(a, b *Log) *Contrast {
	c := &Contrast{}
	c.compare(aspect{cause: true, touches: every}, logAspect{Kind: nccllogs.LogWorlds}, worldOf(a), worldOf(b))
	c.settings(a, b)
	for _, p := range aspects {
		c.compare(p, logAspect{Kind: p.kind}, p.of(a), p.of(b))
	}
	c.choices(a, b)
	c.measured(a, b)
	c.inits(a, b)
	c.findings(a, b)
	c.explain()
	return c
}

// compare adds a difference, or that both are equal. A tuner in only one log is a difference too.
func (c *Contrast) compare(p aspect, what logAspect, a, b logValue) {
	d := Difference{What: what, A: a, B: b, touches: p.touches}
	unknown := a.Empty() || b.Empty()
	switch {
	case unknown && (a.Equal(b) || what.Kind != nccllogs.LogTuner):
	case a.Equal(b):
		c.same(what, a)
	case p.cause:
		c.cause(d)
	default:
		c.Effects = append(c.Effects, d)
	}
	if what.Kind == nccllogs.LogWorlds && !unknown && !a.Equal(b) {
		c.doubts = append(c.doubts, notice.New(nccllogs.WorldsDiffer{A: a, B: b}))
	}
}

// effect adds a difference of what was done, or that there is no difference.
func (c *Contrast) effect(of effect, what logAspect, a, b logValue) {
	c.compare(aspect{touches: of}, what, a, b)
}

func (c *Contrast) same(what logAspect, v logValue) {
	c.Same = append(c.Same, nccllogs.LogAgreement{Aspect: what, Value: v})
}

// cause adds a difference of what was given, which can change the speed too.
func (c *Contrast) cause(d Difference) {
	d.touches |= onSpeed
	c.Causes = append(c.Causes, d)
}

func worldOf(l *Log) (v logValue) {
	if w := l.largest(); w != nil && w.Ranks > 0 {
		v.Ranks, v.Nodes = w.Ranks, max(0, l.nodes())
	}
	return v
}

// chosen are the values of each variable that somebody set.
func chosen(l *Log) map[string]logValue {
	chosen := map[string]logValue{}
	for _, s := range l.Settings {
		if v := chosen[s.Name]; s.given() && s.Value != "" && !slices.Contains(v.Values, s.Value) {
			v.Values = append(v.Values, s.Value)
			slices.Sort(v.Values)
			chosen[s.Name] = v
		}
	}
	return chosen
}

// variableOf is the aspect of a variable.
func variableOf(name string) logAspect {
	return logAspect{Kind: nccllogs.LogVariable, Variable: name}
}

// settings compares what was set. The known ones are in the order of how much they can do.
func (c *Contrast) settings(a, b *Log) {
	x, y := chosen(a), chosen(b)
	names := maps.Clone(x)
	maps.Copy(names, y)
	same := 0
	for _, v := range variables {
		if !x[v.Name].Equal(y[v.Name]) {
			c.cause(Difference{
				What: variableOf(v.Name), A: x[v.Name], B: y[v.Name],
				touches: v.Touches, does: nccllogs.Effect(v.Name),
				Source: nccllogs.SettingAffectsSpeed{Variable: v.Name}.Source(),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x[name].Equal(y[name]) {
			same++
		} else if theVariable(name) == nil {
			c.Others = append(c.Others, Difference{What: variableOf(name), A: x[name], B: y[name]})
		}
	}
	if same > 0 {
		c.same(logAspect{Kind: nccllogs.LogSettings}, countOf(same))
	}
	for i, l := range []*Log{a, b} {
		if len(l.Settings) == 0 {
			c.doubts = append(c.doubts, notice.New(nccllogs.SettingsNotRecorded{Log: "AB"[i : i+1]}))
		}
	}
}

// aspect is one thing that is compared: a cause, or what the library did.
type aspect struct {
	kind    nccllogs.LogKind
	cause   bool
	touches effect // of a cause, what it can change; of an effect, what it is
	of      func(*Log) logValue
}

// aspects are what is compared after world and settings, apart from choices and times. Of communicators it is the
// largest.
var aspects = []aspect{
	{nccllogs.LogLibrary, true, every, librariesOf},
	{nccllogs.LogDriver, true, onTransports, driverOf},
	{nccllogs.LogPlugin, true, onNetwork | onTransports | onDirect | onChannels, namesIn(plugin)},
	{nccllogs.LogProvider, true, onNetwork | onTransports | onDirect, namesIn(provider)},
	{nccllogs.LogTuner, true, onChoice, namesIn(tuner)},
	{nccllogs.LogDevices, true, onNetwork | onTransports | onChannels, namesIn(ibDevice)},
	{nccllogs.LogNetwork, false, onNetwork, namesIn(using)},
	{nccllogs.LogDirectEnds, false, onDirect, directEnds},
	{nccllogs.LogChannels, false, onChannels, channels(func(c Channels) int { return c.Coll })},
	{nccllogs.LogNVLSChannels, false, onChannels, channels(func(c Channels) int { return c.NVLS })},
	{nccllogs.LogSendChannels, false, onChannels, channels(func(c Channels) int { return c.P2P })},
	{nccllogs.LogPeerChannels, false, onChannels, channels(func(c Channels) int { return c.PerPeer })},
	{nccllogs.LogGPULinks, false, onTopology, pathsOfLargest("GPU-GPU")},
	{nccllogs.LogNICPaths, false, onTopology, pathsOfLargest("GPU-NET")},
	{nccllogs.LogPrediction, false, onTopology, expected},
	{nccllogs.LogRings, false, onTopology, searchOfLargest("4")},
	{nccllogs.LogTrees, false, onTopology, searchOfLargest("3")},
	{nccllogs.LogTrees, false, onTopology, searchOfLargest("1")},
	{nccllogs.LogTransports, false, onTransports, transportsOf},
}

// channels returns a number of channels of the largest communicator.
func channels(of func(Channels) int) func(*Log) logValue {
	return ofLargest(func(c *Communicator) logValue { return countOf(of(c.Channels)) })
}

// ofLargest returns a value of the largest communicator of a log; none where there is no communicator.
func ofLargest(of func(*Communicator) logValue) func(*Log) logValue {
	return func(l *Log) (v logValue) {
		if c := l.largest(); c != nil {
			v = of(c)
		}
		return v
	}
}

func pathsOfLargest(between string) func(*Log) logValue {
	return ofLargest(func(c *Communicator) logValue { return pathsOf(c.Topology, between) })
}

func searchOfLargest(pattern string) func(*Log) logValue {
	return ofLargest(func(c *Communicator) logValue { return searchOf(c, pattern) })
}

func librariesOf(l *Log) (v logValue) {
	for _, of := range l.Versions {
		b := nccllogs.Build{Library: string(of.Library) + " " + of.Text, CUDA: of.CUDA}
		if !slices.Contains(v.Libraries, b) {
			v.Libraries = append(v.Libraries, b)
		}
	}
	units.SortBy(v.Libraries, nccllogs.Build.String)
	return v
}

func driverOf(l *Log) logValue {
	if v := l.Driver; v > 0 {
		return logValue{Names: []string{fmt.Sprintf("%d.%d", v/1000, v%1000/10)}}
	}
	return logValue{}
}

// namesIn returns the names in a list of the network.
func namesIn(list string) func(*Log) logValue {
	return func(l *Log) logValue { return namesOf(*l.Network.lists()[list]) }
}

func namesOf(all []Named) (v logValue) {
	for _, n := range all {
		v.Names = units.AddOnce(v.Names, strings.TrimSpace(n.Name+" "+n.Version))
	}
	slices.Sort(v.Names)
	return v
}

// countOf is a number of something; empty where it is unknown.
func countOf(n int) (v logValue) {
	if n >= 0 {
		v.Count = &n
	}
	return v
}

// findings compares what was found: by its code and its parameters, and messages without a known cause by their text.
func (c *Contrast) findings(a, b *Log) {
	x, y := a.findings(), b.findings()
	without := func(all, other []*found) (alone []notice.Notice) {
		for _, f := range all {
			if !slices.ContainsFunc(other, func(g *found) bool {
				return notice.Alike(f.Fact, g.Fact) && f.shape == g.shape
			}) {
				alone = append(alone, f.Notice)
			}
		}
		return alone
	}
	c.OnlyA, c.OnlyB = without(x, y), without(y, x)
}

// explain joins effects with what can have caused them, and makes the headlines.
func (c *Contrast) explain() {
	for e := range units.Each(c.Effects) {
		for _, d := range c.Causes {
			if e.touches&d.touches != 0 {
				e.Because = append(e.Because, nccllogs.LogCause{What: d.What, A: d.A, B: d.B, Effect: d.does})
			}
		}
	}
	units.SortBy(c.Effects, func(d Difference) effect { return d.touches })
	c.headlines()
	if len(c.Effects) == 0 {
		c.Headlines = []notice.Notice{notice.New(nccllogs.LogsAlike{Causes: len(c.Causes)})}
	}
	c.Headlines = append(c.Headlines, c.doubts...)
}

// headlines take the first effect of each sort. What explains several is stated once.
func (c *Contrast) headlines() {
	var before []nccllogs.LogCause
	var seen effect
	for _, e := range c.Effects {
		if seen&e.touches != 0 {
			continue
		}
		seen |= e.touches
		same := len(before) > 0 && reflect.DeepEqual(e.Because, before)
		if !same && len(e.Because) > 0 {
			before = e.Because
		}
		c.Headlines = append(c.Headlines, notice.New(nccllogs.LogDifference{What: e.What, A: e.A, B: e.B,
			Causes: nccllogs.LogCauses{All: e.Because, Before: same}}))
	}
}
