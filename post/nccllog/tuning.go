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

// copyEngine is how NCCL calls operations of its proxy and the copy engine.
const copyEngine = "RMA proxy + CE"

// choice reads "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}" and its like of all
// versions.
func (r *Reader) choice(p *process, m message) verdict {
	c := cursor{s: m.text, open: m.open}
	ch := Choice{Comm: Unknown, Lo: Unknown, Hi: Unknown, Channels: Unknown, Times: 1}
	if name, _, ok := strings.Cut(m.text, ":"); ok && strings.Index(m.text, " Bytes") > len(name) {
		ch.Name = c.until(":")
		if i := strings.Index(ch.Name, " ["); i > 0 && strings.HasSuffix(ch.Name, "]") {
			ch.Path = strings.ToLower(ch.Name[i+2 : len(ch.Name)-1])
			ch.Name = ch.Name[:i]
		}
		if !letters(ch.Name) {
			return unknown
		}
	}
	ch.Bytes = c.integer()
	c.lit(" Bytes ->")
	c.spaces()
	switch {
	case c.maybe("Algo "):
		ch.algorithm(&c)
	case c.maybe("Kernel "):
		ch.Kernel = c.word()
		c.lit(" nchannels")
		ch.Channels = c.small()
		c.lit(" nthreads")
		c.small()
	case c.maybe("cudaMemcpy"):
		ch.Kernel = "cudaMemcpy"
	case c.maybe(copyEngine):
		ch.Kernel = copyEngine
	default:
		return unknown
	}
	if !c.done() || ch.Bytes < 0 {
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

// algorithm reads what stands behind "Algo ": names since 2.24, numbers and the expected time before.
func (ch *Choice) algorithm(c *cursor) {
	c.spaces()
	if c.s != "" && c.s[0] >= '0' && c.s[0] <= '9' {
		ch.ByCode = true
		ch.Algo = coded(algorithms, c.small())
		c.lit(" proto")
		ch.Proto = coded(protocols, c.small())
		c.lit(" time")
		ch.Time = c.float()
		return
	}
	ch.Algo = c.word()
	c.spaces()
	c.lit("proto")
	ch.Proto = c.word()
	c.spaces()
	c.lit("channel{Lo..Hi}={")
	ch.Lo = int(c.upToDots())
	ch.Hi = c.small()
	c.lit("}")
	ch.Channels = ch.Hi - ch.Lo + 1
	c.bad = c.bad || ch.Lo < 0 || ch.Channels < 1 || ch.Channels > 1<<10
}

// upToDots reads a number and the two dots behind it.
func (c *cursor) upToDots() int64 {
	v, err := strconv.ParseInt(c.until(".."), 10, 32)
	c.bad = c.bad || err != nil
	return v
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
	case ch.ByCode:
		ch.Mean, ch.Size = BytesTotal, ch.Bytes
	default:
		ch.Mean, ch.Size = BytesPerRank, sized(ch.What, ch.Bytes, ranks)
	}
}

// costKey tells cells of the cost tables apart.
type costKey struct{ name, algo, proto string }

// costs reads a line of NCCL's cost tables. The headings of 2.18 and later have a line for algorithms, which come three
// to a line, and one for protocols; before that one line has both.
func (r *Reader) costTable(p *process, m message) verdict {
	if m.open {
		return unknown
	}
	name, cells := row(m.text)
	k := p.context(m.head, name == "Algorithm" || name == "Protocol" || name == "Latency/AlgBw")
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
	case "Latency/AlgBw":
		k.algos, k.protos = nil, nil
		for _, c := range cells {
			a, b, _ := strings.Cut(c, "/")
			k.algos, k.protos = append(k.algos, kept(strings.TrimSpace(a))), append(k.protos,
				kept(strings.TrimSpace(b)))
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
		c := cursor{s: cell}
		latency := c.float()
		c.lit("/")
		bw := c.float()
		if !c.done() {
			return unknown
		}
		found[i] = Prediction{Comm: Unknown, Name: kept(name), What: collective(name), Algo: k.algos[i],
			Proto:   k.protos[i],
			Latency: latency, Bw: bw}
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
