package nccllog

import (
	"strconv"
	"strings"

	"busbar/internal/coll"
)

// choiceKey tells choices of one rank apart.
type choiceKey struct {
	name, algo, proto, kernel string
	bytes                     int64
	lo, hi                    int
}

// maxChoices is how many are kept of one rank.
const maxChoices = 1 << 14

// choice reads "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}" and its like of all
// versions.
func (r *Reader) choice(p *process, m message) verdict {
	c := cursor{m.text}
	ch := Choice{Comm: Unknown, Lo: Unknown, Hi: Unknown, Channels: Unknown, Times: 1}
	if c.read("%:", &ch.Name) {
		if c := (cursor{ch.Name}); c.read("% [%]", &ch.Name, &ch.Path) {
			ch.Path = strings.ToLower(ch.Path)
		}
		if !letters(ch.Name) {
			return unknown
		}
	}
	c.spaces()
	if !c.read("% Bytes -> ", &ch.Bytes) || !ch.readWay(&c) || ch.Bytes < 0 {
		return unknown
	}
	ch.What = coll.Other
	if ch.Name != "" {
		ch.What = collective(ch.Name)
	}
	k := p.context(m.head, false)
	if k.choices == nil {
		k.choices = map[choiceKey]*Choice{}
	}
	key := choiceKey{ch.Name, ch.Algo, ch.Proto, ch.Kernel, ch.Bytes, ch.Lo, ch.Hi}
	if known := k.choices[key]; known != nil {
		known.Times++
		return understood
	}
	if len(k.choices) >= maxChoices {
		return passed
	}
	ch.Name, ch.Algo, ch.Proto, ch.Kernel, ch.Path = kept(ch.Name), kept(ch.Algo), kept(ch.Proto), kept(ch.Kernel),
		kept(ch.Path)
	key.name, key.algo, key.proto, key.kernel = ch.Name, ch.Algo, ch.Proto, ch.Kernel
	k.choices[key] = &ch
	return understood
}

// readWay reads what stands behind the arrow: names of an algorithm and a protocol since 2.24, numbers and the expected time
// before, a kernel, or the copy engine.
func (ch *Choice) readWay(c *cursor) bool {
	var algo, proto, threads int
	var expected float64
	switch {
	case c.all("Algo % proto % time %", &algo, &proto, &expected):
		ch.ofAll = true
		ch.Algo, ch.Proto = coded(algorithms, algo), coded(protocols, proto)
		return true
	case c.read("Algo % proto % channel{Lo..Hi}={%..%}", &ch.Algo, &ch.Proto, &ch.Lo, &ch.Hi):
		ch.Channels = ch.Hi - ch.Lo + 1
		return ch.Lo >= 0 && ch.Channels >= 1 && ch.Channels <= 1<<10
	case c.all("Kernel % nchannels % nthreads %", &ch.Kernel, &ch.Channels, &threads):
		return true
	}
	for _, engine := range []string{"cudaMemcpy", "RMA proxy + CE"} {
		if strings.HasPrefix(c.s, engine) {
			ch.Kernel = engine
		}
	}
	return ch.Kernel != ""
}

func letters(s string) bool {
	for i := range len(s) {
		if !wordly(s[i]) {
			return false
		}
	}
	return s != "" && len(s) < 64
}

// settle says what the bytes of a choice are, which the version decides: a name and channels are of 2.24 and later,
// numbers of before.
func (ch *Choice) settle(ranks int) {
	switch {
	case !perRank(ch.What):
		ch.Mean = BytesTotal
		if ch.What == coll.Other {
			ch.Mean = BytesUnknown
		}
		ch.Size = sized(ch.What, ch.Bytes, ranks)
	case ch.ofAll:
		ch.Mean, ch.Size = BytesTotal, ch.Bytes
	default:
		ch.Mean, ch.Size = BytesPerRank, sized(ch.What, ch.Bytes, ranks)
	}
}

// costKey tells cells of the cost tables apart.
type costKey struct{ name, algo, proto string }

// costTable reads a line of NCCL's cost tables, as of 2.18 and later: a line for algorithms, which come three to a line,
// and one for protocols.
func (r *Reader) costTable(p *process, m message) verdict {
	name, cells := row(m.text)
	k := p.context(m.head, name == "Algorithm" || name == "Protocol")
	switch name {
	case "Algorithm":
		k.algos, k.protos = nil, nil
		for _, a := range cells {
			for range protocols {
				k.algos = append(k.algos, kept(a))
			}
		}
		return understood
	case "Protocol":
		if len(cells) < len(k.algos) {
			k.algos = nil
			return unknown
		}
		k.protos = nil
		for _, c := range cells[:len(k.algos)] { // the last line of algorithms may be shorter, this one is not
			k.protos = append(k.protos, kept(c))
		}
		return understood
	case "Max NThreads":
		return passed
	}
	if len(cells) == 0 || len(cells) != len(k.algos) || len(cells) != len(k.protos) || !letters(name) ||
		len(k.costs) > 1<<10 {
		return unknown
	}
	found := make([]Prediction, len(cells))
	for i, cell := range cells {
		f := Prediction{Comm: Unknown, Name: kept(name), What: collective(name), Algo: k.algos[i], Proto: k.protos[i]}
		latency, bw, _ := strings.Cut(cell, "/")
		var err, err2 error
		f.Latency, err = strconv.ParseFloat(latency, 64)
		f.Bw, err2 = strconv.ParseFloat(strings.TrimSpace(bw), 64)
		if err != nil || err2 != nil || f.Latency != f.Latency || f.Bw != f.Bw || f.Latency > 1e12 || f.Bw > 1e12 {
			return unknown
		}
		found[i] = f
	}
	if k.costs == nil {
		k.costs = map[costKey]Prediction{}
	}
	for _, f := range found {
		k.costs[costKey{f.Name, f.Algo, f.Proto}] = f
	}
	return understood
}

// row takes a line with bars apart.
func row(text string) (name string, cells []string) {
	name, rest, _ := strings.Cut(text, "|")
	for _, c := range strings.Split(strings.TrimSuffix(strings.TrimSpace(rest), "|"), "|") {
		if c = strings.TrimSpace(c); c != "" {
			cells = append(cells, c)
		}
	}
	return strings.TrimSpace(name), cells
}
