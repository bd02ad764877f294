package analysis

import (
	"fmt"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// Peak is a peak bandwidth that the user sets, for all curves or for some.
type Peak struct {
	Text  string  // as it was typed
	BusBW float64 // bytes per second

	Collective   coll.Collective // 0: of every one
	Backend      string          // "": of every one
	World, Nodes int             // 0: of any number
}

// Peaks are several, of which the one with the most conditions that are met counts; of equals the last.
type Peaks []Peak

// peakUnits are bytes per second of each; all count one direction, as busbw does.
var peakUnits = []struct {
	name  string
	bytes float64
}{{"GB/s", 1e9}, {"GiB/s", 1 << 30}, {"Gbit/s", 1e9 / 8}}

// ParsePeaks reads the values of --peak: "450GB/s", "400 Gbit/s@nodes=2", "48GB/s@world=16,collective=alltoall".
func ParsePeaks(texts []string) (peaks Peaks, err error) {
	for _, text := range texts {
		p, err := parsePeak(text)
		if err != nil {
			return nil, fmt.Errorf("--peak %q: %w", text, err)
		}
		peaks = append(peaks, p)
	}
	return peaks, nil
}

func parsePeak(text string) (p Peak, err error) {
	value, limits, limited := strings.Cut(text, "@")
	p = Peak{Text: text}
	if p.BusBW, err = parseRate(strings.TrimSpace(value)); err != nil || !limited {
		return p, err
	}
	for limit := range strings.SplitSeq(limits, ",") {
		if err := p.limit(strings.TrimSpace(limit)); err != nil {
			return p, err
		}
	}
	return p, nil
}

func parseRate(value string) (float64, error) {
	for _, unit := range peakUnits {
		number, has := strings.CutSuffix(value, unit.name)
		if !has {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if rate := v * unit.bytes; err == nil && rate > 0 && rate < 1e18 {
			return rate, nil
		}
		return 0, fmt.Errorf("%q is no bandwidth: a number above 0 is wanted, as in 450GB/s", strings.TrimSpace(number))
	}
	return 0, fmt.Errorf("%q ends in no unit that is known here: GB/s (1e9 bytes), GiB/s (2^30 bytes) or Gbit/s (1e9 "+
		"bits), as in 450GB/s", value)
}

func (p *Peak) limit(words string) (err error) {
	key, value, _ := strings.Cut(words, "=")
	switch key {
	case "collective":
		p.Collective, err = coll.ParseCollective(value)
	case "backend":
		if p.Backend = value; value == "" {
			err = fmt.Errorf("no backend is named behind backend=")
		}
	case "world":
		p.World, err = parseNumber(key, value)
	case "nodes":
		p.Nodes, err = parseNumber(key, value)
	default:
		err = fmt.Errorf("%q: after @, list what the peak applies to: nodes=N, world=N, collective=NAME or "+
			"backend=NAME, separated by commas", words)
	}
	return err
}

func parseNumber(key, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%s: a whole number above 0 is wanted", key, value)
	}
	return n, nil
}

// of is the peak that counts.
func (all Peaks) of(run *result.Run, c coll.Case) (best Peak, found bool) {
	most := 0
	for _, p := range all {
		met, ok := p.met(run, c)
		if ok && (!found || met >= most) {
			best, most, found = p, met, true
		}
	}
	return best, found
}

// met counts the conditions of a peak; false if one is not met.
func (p Peak) met(run *result.Run, c coll.Case) (conditions int, ok bool) {
	for _, limit := range []struct{ set, holds bool }{
		{p.Collective != 0, p.Collective == c.Collective}, {p.Backend != "", p.Backend == run.Backend.Name},
		{p.World != 0, p.World == c.World}, {p.Nodes != 0, p.Nodes == run.Nodes},
	} {
		if limit.set && !limit.holds {
			return 0, false
		}
		if limit.set {
			conditions++
		}
	}
	return conditions, true
}
