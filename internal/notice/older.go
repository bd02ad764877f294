package notice

import (
	"regexp"
	"strconv"

	"busbar/internal/units"
)

// Older versions of busbar kept warnings as sentences. This file alone reads them.

// FromText returns the fact that a sentence of an older version stated; Recorded where it is none of them.
func FromText(text string) Fact {
	for _, o := range older {
		if m := o.pattern.FindStringSubmatch(text); m != nil {
			return o.fact(words(m))
		}
	}
	return Recorded{text}
}

// words are the parts of a match.
type words []string

func (w words) number(i int) float64 {
	v, _ := strconv.ParseFloat(w[i], 64) // the patterns let numbers through alone
	return v
}

func (w words) int(i int) int { return int(w.number(i)) }

func (w words) share(i int) units.Share { return units.Share(w.number(i) / 100) }

func (w words) microseconds(i int) units.Seconds { return units.Seconds(w.number(i) / 1e6) }

func (w words) nanoseconds(i int) units.Nanoseconds { return units.Nanoseconds(w.number(i) / 1e9) }

const num = `([-+0-9.e]+)`

// older are the sentences, each with what it stated.
var older = []struct {
	pattern *regexp.Regexp
	fact    func(words) Fact
}{
	{regexp.MustCompile(`^too few samples \(` + num + `\): a 95 % interval of the median takes at least ` + num + `$`),
		func(w words) Fact { return TooFewSamples{w.int(1), w.int(2)} }},
	{
		regexp.MustCompile(
			`^successive samples resemble each other: .*\(` + num + ` samples, about ` + num + ` would do\)$`,
		),
		func(w words) Fact { return Autocorrelated{w.int(1), w.int(2)} },
	},
	{regexp.MustCompile(`^drift within the case: the last third of the samples is ` + num + ` % from the first$`),
		func(w words) Fact { return Drift{Change(w.number(1) / 100)} }},
	{regexp.MustCompile(`^drift within the case: the last third of the samples is ` + num + ` times the first$`),
		func(w words) Fact { return Drift{Change(w.number(1) - 1)} }},
	{regexp.MustCompile(`^drift within the case: the first third of the samples is ` + num + ` times the last$`),
		func(w words) Fact { return Drift{Change(1/w.number(1) - 1)} }},
	{regexp.MustCompile(`^two modes: ` + num + ` us \(` + num + ` % of samples\) and ` + num + ` us \(` + num + ` %\)`),
		func(w words) Fact { return Bimodal{w.microseconds(1), w.share(2), w.microseconds(3), w.share(4)} }},
	{
		regexp.MustCompile(`^` + num + ` samples are not finite numbers`),
		func(w words) Fact { return SamplesNotFinite{w.int(1)} },
	},
	{regexp.MustCompile(`^a figure was infinite or not a number`), func(words) Fact { return ValueNotFinite{} }},
	{regexp.MustCompile(`^timer: one clock reading \(` + num + ` ns\) is ` + num + ` %`),
		func(w words) Fact { return TimerCost{w.nanoseconds(1), w.share(2)} }},
	{regexp.MustCompile(`^timer: percentiles are not claimed, the clock's step \(` + num + ` ns\)`),
		func(w words) Fact { return TimerResolution{w.nanoseconds(1)} }},
	{regexp.MustCompile(`^no common clock: `), func(words) Fact { return NoCommonClock{} }},
	{regexp.MustCompile(`^clocks: the offset between hosts is known to ` + num + ` us, which is ` + num + ` %`),
		func(w words) Fact { return ClockUncertainty{w.microseconds(1), w.share(2)} }},
	{
		regexp.MustCompile(
			`^events: one step of the device's clock \(` + num + ` ns\) is over ` + num + ` % of the ` + num + ` us`,
		),
		func(w words) Fact { return EventResolution{w.nanoseconds(1), w.share(2), w.microseconds(3)} },
	},
	{
		regexp.MustCompile(
			`^oversubscribed: ` + num + ` ranks share ` + num + ` cores? on (\S+?)(?: \((.*)\))?: figures say nothing about speed$`,
		),
		func(w words) Fact { return Oversubscribed{w.int(1), w.int(2), w[3], w[4]} },
	},
	{
		regexp.MustCompile(`^oversubscribed: so are ` + num + ` hosts more$`),
		func(w words) Fact { return OversubscribedHosts{w.int(1)} },
	},
	{regexp.MustCompile(`^threads: a rank of Gloo has two, and (\S+) has ` + num + ` CPUs? for ` + num + ` ranks?: `),
		func(w words) Fact { return SharedThreads{w[1], w.int(2), w.int(3)} }},
	{
		regexp.MustCompile(
			`^threads: ` + num + ` threads that compute or communicate share ` + num + ` cores? on (\S+?)(?: \((.*)\))?: `,
		),
		func(w words) Fact { return SharedStepThreads{w.int(1), w.int(2), w[3], w[4]} },
	},
	// Whatever else was oversubscribed must not be judged for speed either.
	{regexp.MustCompile(`^(?:oversubscribed|threads): (.*)$`), func(w words) Fact { return Oversubscribed{Why: w[1]} }},
	{regexp.MustCompile(`^load: (\S+) had a load average of ` + num + ` before the run`),
		func(w words) Fact { return HostLoad{w[1], w.number(2)} }},
	{
		regexp.MustCompile(`^attempt ` + num + `: (\w+): (.*)$`),
		func(w words) Fact { return AttemptFailed{w.int(1), w[2], w[3]} },
	},
}
