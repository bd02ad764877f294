package nccllog

import (
	"regexp"
	"strings"

	"busbar/post/nccllog/logline"

	"busbar/internal/coll"
)

// What a line on the choice for a size has, and its way: names of an algorithm and a protocol since 2.24, numbers and
// the expected time before, a kernel, or the copy engine.
var (
	choiceLine  = logline.MustCompile("% Bytes -> ")
	namedWay    = logline.MustCompile("Algo % proto % channel{Lo..Hi}={%..%}")
	numberedWay = logline.MustCompile("Algo % proto % time %")
	kernelWay   = logline.MustCompile("Kernel % nchannels % nthreads %")
	copyEngine  = regexp.MustCompile(`^(?:cudaMemcpy|RMA proxy \+ CE)`)
)

// readChoice reads "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}", and such lines of all
// versions.
func readChoice(r *Reader, p *process, m message) bool {
	c := logline.Cursor{S: m.text}
	ch := Choice{Channels: Unknown, What: coll.Other}
	if c.Read("%:", &ch.Name) {
		ch.Name, _, _ = strings.Cut(ch.Name, " [") // symmetric, copy engine
		if !letters(ch.Name) {
			return false
		}
		ch.What = logline.Collective(ch.Name)
	}
	c.Spaces()
	if !c.Read(choiceLine, &ch.Bytes) || !ch.readWay(&c) || ch.Bytes < 0 {
		return false
	}
	ch.of = p.context(m.head, false)
	row(r, &r.log.Choices, ch, ch).Times++
	return true
}

// readWay reads the text after the arrow.
func (ch *Choice) readWay(c *logline.Cursor) bool {
	var algo, proto, threads, lo, hi int
	var expected float64
	switch {
	case c.All(numberedWay, &algo, &proto, &expected):
		ch.ofAll = true
		ch.Algo, ch.Proto = logline.Coded(logline.Algorithms, algo), logline.Coded(logline.Protocols, proto)
		return true
	case c.Read(namedWay, &ch.Algo, &ch.Proto, &lo, &hi):
		ch.Channels = hi - lo + 1
		return lo >= 0 && ch.Channels >= 1 && ch.Channels <= 1<<10
	case c.All(kernelWay, &ch.Kernel, &ch.Channels, &threads):
		return true
	}
	ch.Kernel = copyEngine.FindString(c.S)
	return ch.Kernel != ""
}

func letters(s string) bool {
	for i := range len(s) {
		if !logline.Wordly(s[i]) {
			return false
		}
	}
	return s != "" && len(s) < 64
}

// settle decides what the bytes of a choice are, which the version decides: a name and channels are of 2.24 and later,
// numbers of before.
func (ch *Choice) settle(ranks int) {
	ch.Mean, ch.Size = BytesTotal, logline.Sized(ch.What, ch.Bytes, ranks)
	switch {
	case ch.What == coll.Other:
		ch.Mean = BytesUnknown
	case logline.PerRank(ch.What) && ch.ofAll:
		ch.Size = ch.Bytes
	case logline.PerRank(ch.What):
		ch.Mean = BytesPerRank
	}
}

// readCostTable reads a line of NCCL's cost tables, as of 2.18 and later: a line for algorithms, which come three to a
// line, and one for protocols.
func readCostTable(r *Reader, p *process, m message) bool {
	name, cells := tableRow(m.text)
	k := p.context(m.head, name == "Algorithm" || name == "Protocol")
	switch {
	case name == "Algorithm":
		k.algos, k.protos = nil, nil
		for _, a := range cells {
			for range logline.Protocols {
				k.algos = append(k.algos, a)
			}
		}
		return true
	case name == "Protocol":
		// the last line of algorithms may be shorter, this one is not
		k.protos = cells[:min(len(cells), len(k.algos))]
		return true
	case len(cells) == 0 || len(cells) != len(k.algos) || len(cells) != len(k.protos) || !letters(name):
		return false
	}
	for i, cell := range cells {
		f := Prediction{Name: name, What: logline.Collective(name), Algo: k.algos[i], Proto: k.protos[i], of: k}
		known := f // by its names
		c := logline.Cursor{S: cell}
		if !c.Read("%/", &f.Latency) {
			return false // Max NThreads
		}
		c.Spaces()
		c.Read("%", &f.Bw)
		*row(r, &r.log.Predictions, known, f) = f
	}
	return true
}

// tableRow takes a line with bars apart.
func tableRow(text string) (name string, cells []string) {
	for i, c := range strings.Split(text, "|") {
		switch c = strings.TrimSpace(c); {
		case i == 0:
			name = c
		case c != "":
			cells = append(cells, c)
		}
	}
	return name, cells
}
