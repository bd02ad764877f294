package nccllog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// Log is what was read so far. Nothing in it is nil where a list is meant.
func (r *Reader) Log() *Log {
	l := r.log
	l.Files = slices.Clone(r.log.Files)
	f := finisher{r: r, l: &l}
	f.processes()
	f.communicators()
	f.versions()
	f.settings()
	f.network()
	f.facts()
	f.sequences()
	l.Messages = make([]Message, 0, len(r.said))
	for _, w := range r.said {
		m := w.Message
		m.Processes, m.Devices = f.who(w.who), list(m.Devices)
		l.Messages = append(l.Messages, m)
		l.Reading.count(m)
	}
	l.Reading.Warnings, l.Reading.Unexplained = l.Reading.Warnings+r.unkept, l.Reading.Unexplained+r.unkept
	l.Inspected = r.inspected()
	l.RAS, l.Rows = list(r.log.RAS), list(r.log.Rows)
	if l.Reading.Said > 0 {
		l.Reading.Share = 100 * float64(l.Reading.NotUnderstood) / float64(l.Reading.Said)
	}
	l.Reading.Shapes = r.mostFrequent()
	return &l
}

// count adds a warning or an error.
func (d *Reading) count(m Message) {
	if m.Level == failed {
		return // it says which way another message took
	}
	d.Warnings += m.Times
	if explain(m) == nil {
		d.Unexplained += m.Times
	}
}

// finisher turns what was read into a Log.
type finisher struct {
	r      *Reader
	l      *Log
	places []int                 // of processes in Log.Processes, by number
	comms  map[*communicator]int // places in Log.Communicators
	all    []*member             // those of strays too

	nameless map[*member]int // places of ranks that never named their communicator
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// who are the places of processes.
func (f *finisher) who(w who) []int {
	all := make([]int, 0, len(w))
	for _, n := range w {
		all = append(all, f.places[n])
	}
	slices.Sort(all)
	return all
}

const shownShapes = 20

func (r *Reader) mostFrequent() []Shape {
	all := []Shape{}
	for text, n := range r.shapes {
		all = append(all, Shape{text, n})
	}
	slices.SortFunc(all, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Text, b.Text))
	})
	return all[:min(len(all), shownShapes)]
}

func (f *finisher) processes() {
	order := slices.Clone(f.r.order)
	slices.SortStableFunc(order, func(a, b *process) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.PID, b.PID))
	})
	f.places = make([]int, len(order))
	f.l.Processes = make([]Process, len(order))
	for i, p := range order {
		f.places[p.number] = i
		f.l.Processes[i] = p.Process
		f.l.Processes[i].Devices = list(slices.Clone(p.Devices))
		if len(p.Devices) == 0 {
			f.l.Processes[i].Devices = list(slices.Clone(p.current))
		}
		largest := Unknown
		ranks := []int{}
		for _, k := range p.members {
			if k.ranks > largest {
				largest, ranks = k.ranks, ranks[:0]
			}
			if k.ranks == largest && k.Rank >= 0 {
				ranks = append(ranks, k.Rank)
			}
		}
		slices.Sort(ranks)
		f.l.Processes[i].Ranks = slices.Compact(ranks)
	}
	for _, p := range f.r.order {
		f.all = append(f.all, p.members...)
		f.all = append(f.all, p.stray)
	}
}

// communicators makes them of their ranks. Ranks that never said which communicator they set up are put together in
// one.
func (f *finisher) communicators() {
	comms := slices.Clone(f.r.comms)
	var nameless *communicator
	for _, k := range f.all {
		if k.comm != nil || k == k.proc.stray {
			continue
		}
		if nameless == nil {
			nameless = &communicator{number: len(comms), ranks: Unknown}
			comms = append(comms, nameless)
		}
		k.comm = nameless
		nameless.members = append(nameless.members, k)
	}
	f.comms = map[*communicator]int{}
	for i, c := range comms {
		f.comms[c] = i
	}
	f.l.Communicators = make([]Communicator, 0, len(comms))
	for _, c := range comms {
		f.l.Communicators = append(f.l.Communicators, f.communicator(c))
	}
	if nameless != nil {
		defer func() {
			// They are made anew each time, since the next file may say more.
			for _, k := range nameless.members {
				k.comm = nil
			}
		}()
		f.namelessOf(nameless)
	}
}

// namelessOf remembers where the ranks of the nameless communicator are, whose own field does not last.
func (f *finisher) namelessOf(c *communicator) {
	f.nameless = map[*member]int{}
	for _, k := range c.members {
		f.nameless[k] = f.comms[c]
	}
}

// comm is where a rank's communicator is; Unknown.
func (f *finisher) comm(k *member) int {
	if k.comm != nil {
		return f.comms[k.comm]
	}
	if i, ok := f.nameless[k]; ok {
		return i
	}
	return Unknown
}

func (f *finisher) communicator(c *communicator) Communicator {
	out := Communicator{Name: "comm " + strconv.Itoa(f.comms[c]+1), ID: c.id, Ranks: c.ranks, Nodes: Unknown,
		Function: c.function, Parent: Unknown,
		Split: c.split, Members: []Member{}, Graphs: []Graph{}, Rings: []Ring{}}
	out.Channels = Channels{Unknown, Unknown, Unknown, Unknown, Unknown}
	if c.parent != nil {
		out.Parent = f.comms[c.parent]
	}
	members := slices.Clone(c.members)
	slices.SortStableFunc(members, func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(f.places[a.proc.number], f.places[b.proc.number]))
	})
	counts, graphs, rings := map[Channels]int{}, map[Graph]int64{}, map[int]Ring{}
	hosts := map[string]bool{}
	for _, k := range members {
		m := k.Member
		m.Process = f.places[k.proc.number]
		out.Members = append(out.Members, m)
		hosts[k.proc.host] = true
		if k.Channels != nil {
			counts[*k.Channels]++
		}
		out.merge(k, graphs, rings)
	}
	for _, ch := range slices.SortedFunc(maps.Keys(counts), func(a, b Channels) int {
		return cmp.Compare(a.Coll, b.Coll)
	}) {
		if counts[ch] > counts[out.Channels] {
			out.Channels = ch
		}
	}
	if out.Nodes == Unknown && c.ranks > 0 && len(members) == c.ranks && !hosts[""] {
		out.Nodes = len(hosts)
	}
	for _, g := range slices.SortedFunc(maps.Keys(graphs), compareGraphs) {
		g.Times, graphs[g] = graphs[g], 0
		out.Graphs = append(out.Graphs, g)
	}
	for _, n := range slices.Sorted(maps.Keys(rings)) {
		out.Rings = append(out.Rings, rings[n])
	}
	out.Topology.Paths = list(out.Topology.Paths)
	return out
}

func compareGraphs(a, b Graph) int {
	return cmp.Or(cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Channels, b.Channels),
		cmp.Compare(a.BwIntra, b.BwIntra), cmp.Compare(a.BwInter, b.BwInter),
		cmp.Compare(a.Intra, b.Intra), cmp.Compare(a.Inter, b.Inter), cmp.Compare(a.CrossNIC, b.CrossNIC),
		cmp.Compare(a.Same, b.Same))
}

// merge adds what one rank said.
func (c *Communicator) merge(k *member, graphs map[Graph]int64, rings map[int]Ring) {
	if k.nodes != Unknown {
		c.Nodes = k.nodes
	}
	if c.Function == "" {
		c.Function = k.function
	}
	for g, n := range k.graphs {
		graphs[g] += n
	}
	maps.Copy(rings, k.rings)
	if k.hardware != nil && c.Topology.GPUs == 0 {
		file := c.Topology.File
		c.Topology = k.topology
		if c.Topology.File == "" {
			c.Topology.File = file
		}
		c.Topology.Paths = slices.Clone(k.topology.Paths)
	}
	if c.Topology.File == "" {
		c.Topology.File = k.topology.File
	}
	if c.NVLS == nil {
		c.NVLS = k.nvls
	}
}

func (f *finisher) versions() {
	f.l.Versions = []Version{}
	for _, v := range f.r.versions {
		w := slices.Clone(v.who)
		if v.label != "" {
			for _, p := range f.r.order {
				if p.Label == v.label {
					w.add(p)
				}
			}
		}
		out := v.Version
		out.Processes = f.who(w)
		for _, n := range w {
			if d := f.r.order[n].driver; d != 0 {
				out.Driver = d
			}
		}
		if i := slices.IndexFunc(f.l.Versions, func(o Version) bool {
			return o.Library == out.Library && o.Text == out.Text && o.CUDA == out.CUDA && o.Git == out.Git
		}); i >= 0 {
			o := &f.l.Versions[i]
			o.Processes = append(o.Processes, out.Processes...)
			slices.Sort(o.Processes)
			o.Processes = slices.Compact(o.Processes)
			o.Driver = max(o.Driver, out.Driver)
			continue
		}
		f.l.Versions = append(f.l.Versions, out)
	}
	if len(f.l.Versions) == 1 && f.l.Versions[0].Driver == 0 {
		for _, p := range f.r.order {
			f.l.Versions[0].Driver = max(f.l.Versions[0].Driver, p.driver)
		}
	}
}

func (f *finisher) settings() {
	f.l.Settings = []Setting{}
	for _, s := range f.r.settings {
		out := s.Setting
		out.Processes = f.who(s.who)
		f.l.Settings = append(f.l.Settings, out)
	}
	slices.SortFunc(f.l.Settings, func(a, b Setting) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value), cmp.Compare(a.From, b.From))
	})
}

func (f *finisher) network() {
	n := &f.l.Network
	lists := map[string]*[]Named{using: &n.Using, plugin: &n.Plugins, missing: &n.Missing, provider: &n.Providers,
		ibDevice: &n.IB, socket: &n.Sockets,
		bootstrap: &n.Bootstrap, tuner: &n.Tuners, profiler: &n.Profilers}
	for _, l := range lists {
		*l = []Named{}
	}
	for _, x := range f.r.namesInOrder {
		out := x.Named
		out.Processes = f.who(x.who)
		*lists[x.list] = append(*lists[x.list], out)
	}
	n.GDR = []GDR{}
	for _, d := range f.r.direct {
		out := d.GDR
		out.Processes = f.who(d.who)
		n.GDR = append(n.GDR, out)
	}
	slices.SortFunc(n.GDR, func(a, b GDR) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Said, b.Said))
	})
}

// facts puts together what ranks said: the same of several ranks of a communicator once.
func (f *finisher) facts() {
	type via struct {
		comm, process int
		viaKey
	}
	type chosen struct {
		comm int
		choiceKey
	}
	type cost struct {
		comm int
		costKey
	}
	vias, choices, costs := map[via]*Transport{}, map[chosen]*Choice{}, map[cost]Prediction{}
	f.l.Calls = []Calls{}
	for _, k := range f.all {
		comm := f.comm(k)
		for key, t := range k.via {
			t := *t
			t.Comm, t.Process, t.Channels = comm, Unknown, slices.Clone(t.Channels)
			if comm < 0 { // rank numbers of different communicators are not those of one
				t.Process = k.proc.number
			}
			known := vias[via{comm, t.Process, key}]
			if known != nil {
				known.Times += t.Times
				known.Channels = append(known.Channels, t.Channels...)
				slices.Sort(known.Channels)
				known.Channels = slices.Compact(known.Channels)
				continue
			}
			vias[via{comm, t.Process, key}] = &t
		}
		for key, c := range k.choices {
			c := *c
			c.Comm = comm
			if known := choices[chosen{comm, key}]; known != nil {
				known.Times += c.Times
				continue
			}
			c.settle(f.ranks(comm))
			choices[chosen{comm, key}] = &c
		}
		for key, p := range k.costs {
			p.Comm = comm
			costs[cost{comm, key}] = p
		}
		for _, c := range k.calls {
			out := *c
			out.Comm, out.Rank, out.Process = comm, k.Rank, f.places[k.proc.number]
			f.l.Calls = append(f.l.Calls, out)
		}
	}
	f.l.Transports = []Transport{}
	for _, t := range vias {
		f.l.Transports = append(f.l.Transports, *t)
	}
	f.l.Choices = []Choice{}
	for _, c := range choices {
		f.l.Choices = append(f.l.Choices, *c)
	}
	f.l.Predictions = []Prediction{}
	for _, p := range costs {
		f.l.Predictions = append(f.l.Predictions, p)
	}
	f.across()
	f.sort()
}

func (f *finisher) ranks(comm int) int {
	if comm != Unknown {
		return f.l.Communicators[comm].Ranks
	}
	if len(f.l.Communicators) == 1 {
		return f.l.Communicators[0].Ranks
	}
	return Unknown
}

// across marks transports between hosts.
func (f *finisher) across() {
	type place struct{ comm, rank int }
	hosts := map[place]string{}
	for i, c := range f.l.Communicators {
		for _, m := range c.Members {
			hosts[place{i, m.Rank}] = f.l.Processes[m.Process].Host
		}
	}
	for i := range f.l.Transports {
		t := &f.l.Transports[i]
		a, b := hosts[place{t.Comm, t.From}], hosts[place{t.Comm, t.To}]
		t.Across = a != "" && b != "" && a != b
	}
}

func (f *finisher) sort() {
	slices.SortFunc(f.l.Transports, func(a, b Transport) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(a.Via, b.Via), compareBools(a.Receive, b.Receive))
	})
	slices.SortFunc(f.l.Choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Bytes, b.Bytes),
			cmp.Compare(a.Algo, b.Algo), cmp.Compare(a.Proto, b.Proto),
			cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi))
	})
	slices.SortFunc(f.l.Predictions, func(a, b Prediction) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Algo, b.Algo),
			cmp.Compare(a.Proto, b.Proto))
	})
	slices.SortFunc(f.l.Calls, func(a, b Calls) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Process, b.Process),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Count, b.Count),
			cmp.Compare(a.Type, b.Type), cmp.Compare(a.Op, b.Op))
	})
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (f *finisher) sequences() {
	f.l.Sequences = []Sequence{}
	for _, c := range f.r.comms {
		if s, ok := f.r.compare(c, f.places); ok {
			s.Comm = f.comms[c]
			if s.Mismatch != nil || len(s.Behind) > 0 {
				s.Doubt = f.r.doubt(c, s)
			}
			f.l.Sequences = append(f.l.Sequences, s)
		}
	}
}
