package notice

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"busbar/internal/units"
)

// Older versions of busbar kept warnings and reasons as sentences. This file alone reads them.

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

func (w words) duration(i int) units.Seconds {
	d, _ := time.ParseDuration(w[i])
	return units.Seconds(d.Seconds())
}

// bytes reads "1.5 GiB".
func (w words) bytes(i int) units.RoughBytes {
	number, unit, _ := strings.Cut(w[i], " ")
	v, _ := strconv.ParseFloat(number, 64)
	power := slices.Index([]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}, unit)
	return units.RoughBytes(math.Ldexp(v, 10*power))
}

const (
	num  = `([-+0-9.e]+)`
	size = `([0-9.]+ (?:[KMGTPE]i)?B)`
)

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
			`^oversubscribed: ` + num + ` ranks share ` + num +
				` cores? on (\S+?)(?: \((.*)\))?: figures say nothing about speed$`,
		),
		func(w words) Fact { return Oversubscribed{Ranks: w.int(1), Cores: w.int(2), Host: w[3], Why: w[4]} },
	},
	{
		regexp.MustCompile(`^oversubscribed: so are ` + num + ` hosts more$`),
		func(w words) Fact { return OversubscribedHosts{w.int(1)} },
	},
	{regexp.MustCompile(`^threads: a rank of Gloo has two, and (\S+) has ` + num + ` CPUs? for ` + num + ` ranks?: `),
		func(w words) Fact { return SharedThreads{w[1], w.int(2), w.int(3)} }},
	// Whatever else was oversubscribed must not be judged for speed either.
	{regexp.MustCompile(`^(?:oversubscribed|threads): (.*)$`), func(w words) Fact { return Oversubscribed{Why: w[1]} }},
	{regexp.MustCompile(`^load: (\S+) had a load average of ` + num + ` before the run`),
		func(w words) Fact { return HostLoad{w[1], w.number(2)} }},
	// Why a point had no value.
	{
		regexp.MustCompile(`^too small: ` + num + ` ranks share it in pieces of whole 16 bytes, and none is left$`),
		func(w words) Fact { return TooSmall{w.int(1)} },
	},
	{
		regexp.MustCompile(
			`^time: its ` + num + ` operations would take about (\S+), and --time-limit leaves (\S+)$`,
		),
		func(w words) Fact { return TakesTooLong{w.int(1), w.duration(2), w.duration(3)} },
	},
	{
		regexp.MustCompile(`^time: left out to keep the run within --time-limit (\S+)$`),
		func(w words) Fact { return TimeOver{w.duration(1)} },
	},
	{
		regexp.MustCompile(`^memory: it takes ` + size + ` of buffers a rank; rank ` + num + ` on (\S+) may have ` +
			size + ` of buffers: (.+) leaves ` + size + `(?: for ` + num + ` ranks)?, a tenth and ` + size +
			` a rank kept back` +
			`(?:; backends that are interleaved share that by ` + num + `)?` +
			`(?:; groups on one machine share that by ` + num + `)?$`),
		func(w words) Fact {
			return MemoryInsufficient{w.bytes(1), MemoryLimit{
				Rank: w.int(2), Host: w[3], Bytes: w.bytes(4), Bound: w[5], Free: w.bytes(6), Ranks: w.int(7),
				Kept: w.bytes(8), Libraries: w.int(9), Groups: w.int(10),
			}}
		},
	},
	{
		regexp.MustCompile(
			`^memory: rank ` + num + ` on (\S+) was refused the buffers although they should fit(?:: (.*))?$`,
		),
		func(w words) Fact { return MemoryRefused{w.int(1), w[2], w[3]} },
	},
	{
		regexp.MustCompile(`^wrong data: ` + num + ` of ` + num + ` elements; first on rank ` + num +
			`(?: on (\S+))? at index ` + num + `(?: of (.*))?: wanted (.*), found (.*)$`),
		func(w words) Fact {
			first := WrongElement{Rank: w.int(3), Host: w[4], Index: int64(w.int(5)), Want: w[7], Got: w[8]}
			return DataWrong{int64(w.int(1)), int64(w.int(2)), w[6], first}
		},
	},
	{
		regexp.MustCompile(
			`^an average over ` + num + ` ranks is 0 in (\S+): NCCL multiplies with 1/\d+, which rounds to 0$`,
		),
		func(w words) Fact { return AverageUnderflows{w.int(1), w[2]} },
	},
	{
		regexp.MustCompile(`^cut off after ` + num + ` rounds?, whose figures these are$`),
		func(w words) Fact { return CutOff{w.int(1)} },
	},
	{
		regexp.MustCompile(`^the source counts wrong elements$`),
		func(words) Fact { return SourceCountsWrong{} },
	},
	{
		regexp.MustCompile(`^the source marks the error as larger than allowed$`),
		func(words) Fact { return SourceErrorLarge{} },
	},
	{regexp.MustCompile(`^the source says (.*)$`), func(w words) Fact { return SourceReports{w[1]} }},
	{
		regexp.MustCompile(`^busbw/algbw contradicts the number of ranks: printed (.*)/(.*) = ` + num + `, but ` + num +
			` ranks give ` + num + `$`),
		func(w words) Fact {
			return RanksContradicted{w[1], w[2], Ratio3(w.number(3)), w.int(4), Ratio3(w.number(5))}
		},
	},
	// What was deduced of an import.
	{
		regexp.MustCompile(`^(the number of ranks|the collective|the placement), (.*)$`),
		func(w words) Fact { return deducedOf(w[1], w[2], "") },
	},
	{
		regexp.MustCompile(`^(the size) of (\w+), (.*)$`),
		func(w words) Fact { return deducedOf(w[1], w[3], w[2]) },
	},
	{
		regexp.MustCompile(`^each operation awaited; all_reduce is torch's, in place, and of float32`),
		func(words) Fact { return ScriptHabits{} },
	},
	// Why a run ended.
	{
		regexp.MustCompile(`^(SIGTERM|SIGINT)(?: to rank ` + num + ` on (\S+))?$`),
		func(w words) Fact {
			if w[3] == "" {
				return RunSignalled{Signal: w[1]}
			}
			return RunSignalled{w[1], new(w.int(2)), w[3]}
		},
	},
	{regexp.MustCompile(`^asked to end by (SIGUSR1)$`), func(w words) Fact { return RunSignalled{Signal: w[1]} }},
	{regexp.MustCompile(`(?s)^hang: (.*)$`), func(w words) Fact { return RunHung{Problem: w[1]} }},
	{
		regexp.MustCompile(`^rank ` + num + ` on (\S+) \(pid ` + num + `\) is gone: it was killed or crashed ` +
			`(?:during (.*) \((.*)\)|while the run was in phase (.*)); see that host's log and kernel messages ` +
			`\(out of memory\?\)(?:; to go on without it leave (\S+) out .*)?$`),
		func(w words) Fact {
			return RankGone{PlacedRank{w.int(1), w[2]}, w.int(3), InHand{w[4], w[5] + w[6]}, w[7]}
		},
	},
	{
		regexp.MustCompile(`(?s)^rank ` + num + ` on (\S+) crashed: ([^\n]*)(?:\n(.*))?$`),
		func(w words) Fact { return RankCrashed{PlacedRank{w.int(1), w[2]}, w[3], w[4]} },
	},
	{
		regexp.MustCompile(`^rank ` + num + `(?: on (\S+))?: (.*)$`),
		func(w words) Fact { return RankFailed{w.int(1), w[2], w[3]} },
	},
	{
		regexp.MustCompile(`^(NCCL|NCCLX|Gloo|MPI|Open MPI|MPICH) has no (\S+)$`),
		func(w words) Fact { return NotSupported{w[1], w[2]} },
	},
}

// deducedOf is what was deduced from something; Recorded where its origin is not known.
func deducedOf(text, from, collective string) Fact {
	var what DeducedWhat
	for w, words := range deducedTexts {
		if words == text {
			what = w
		}
	}
	for i, d := range deducedFrom {
		if strings.HasPrefix(from, d.text) { // some texts were longer
			return Deduced{what, DeducedFrom(i), collective}
		}
	}
	return Recorded{text + ", " + from}
}
