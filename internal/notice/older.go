package notice

import (
	"cmp"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Older versions of busbar kept warnings and reasons as sentences. This file alone reads them.

// FromText returns the fact that a sentence of an older version stated; Recorded where it is none of them.
func FromText(text string) Fact {
	for i, p := range olderPatterns() {
		m := p.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if of, is := older[i].fact.(func(words) Fact); is {
			return of(m)
		}
		fact := reflect.New(reflect.TypeOf(older[i].fact)).Elem()
		words(m[1:]).fill(fact)
		return fact.Interface()
	}
	return Recorded{text}
}

// words are the parts of a match.
type words []string

// fill sets the fields of a fact in order, and returns the parts that are left.
func (w words) fill(v reflect.Value) words {
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			w = w.fill(v.Field(i))
		}
		return w
	}
	if len(w) == 0 {
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(w[0])
	case reflect.Float64:
		v.SetFloat(w.number(0))
	default:
		v.SetInt(int64(w.number(0)))
	}
	return w[1:]
}

// number reads "1.5 GiB", "20 us", "7.1 %" and "3m20s", in bytes, seconds and as a share.
func (w words) number(i int) float64 {
	number, unit, _ := strings.Cut(w[i], " ")
	v, err := strconv.ParseFloat(number, 64) // the patterns let nothing else through but durations
	if err != nil {
		d, _ := time.ParseDuration(number)
		return d.Seconds()
	}
	switch unit {
	case "%":
		return v / 100
	case "us":
		return v / 1e6
	case "ns":
		return v / 1e9
	}
	power := slices.Index([]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}, unit)
	return math.Ldexp(v, 10*max(0, power))
}

func (w words) int(i int) int { return int(w.number(i)) }

const (
	digits  = `[-+0-9.e]+`
	num     = `(` + digits + `)`
	percent = `(` + digits + ` %)`
	us      = `(` + digits + ` us)`
	ns      = `(` + digits + ` ns)`
	size    = `([0-9.]+ (?:[KMGTPE]i)?B)`
)

var olderPatterns = sync.OnceValue(func() (all []*regexp.Regexp) {
	for _, o := range older {
		all = append(all, regexp.MustCompile(o.pattern))
	}
	return all
})

// older are the sentences, each with what it stated: a fact whose fields are the parts of the sentence in order, or a
// function of these parts, the first of which is the whole sentence.
var older = []struct {
	pattern string
	fact    any
}{
	{`^too few samples \(` + num + `\): a 95 % interval of the median takes at least ` + num + `$`, TooFewSamples{}},
	{`^successive samples resemble each other: .*\(` + num + ` samples, about ` + num + ` would do\)$`,
		Autocorrelated{}},
	{`^drift within the case: the last third of the samples is ` + percent + ` from the first$`, Drift{}},
	{`^drift within the case: the last third of the samples is ` + num + ` times the first$`,
		func(w words) Fact { return Drift{Change(w.number(1) - 1)} }},
	{`^drift within the case: the first third of the samples is ` + num + ` times the last$`,
		func(w words) Fact { return Drift{Change(1/w.number(1) - 1)} }},
	{`^two modes: ` + us + ` \(` + percent + ` of samples\) and ` + us + ` \(` + percent + `\)`, Bimodal{}},
	{`^` + num + ` samples are not finite numbers`, SamplesNotFinite{}},
	{`^a figure was infinite or not a number`, ValueNotFinite{}},
	{`^timer: one clock reading \(` + ns + `\) is ` + percent, TimerCost{}},
	{`^timer: percentiles are not claimed, the clock's step \(` + ns + `\)`, TimerResolution{}},
	{`^no common clock: `, NoCommonClock{}},
	{`^clocks: the offset between hosts is known to ` + us + `, which is ` + percent, ClockUncertainty{}},
	{`^events: one step of the device's clock \(` + ns + `\) is over ` + percent + ` of the ` + us,
		EventResolution{}},
	{`^oversubscribed: ` + num + ` ranks share ` + num +
		` cores? on (\S+?)(?: \((.*)\))?: figures say nothing about speed$`,
		func(w words) Fact { return Oversubscribed{Ranks: w.int(1), Cores: w.int(2), Host: w[3], Why: w[4]} }},
	{`^oversubscribed: so are ` + num + ` hosts more$`, OversubscribedHosts{}},
	{`^threads: a rank of Gloo has two, and (\S+) has ` + num + ` CPUs? for ` + num + ` ranks?: `, SharedThreads{}},
	// Whatever else was oversubscribed must not be judged for speed either.
	{`^(?:oversubscribed|threads): (.*)$`, func(w words) Fact { return Oversubscribed{Why: w[1]} }},
	{`^load: (\S+) had a load average of ` + num + ` before the run`, HostLoad{}},
	// Why a point had no value.
	{`^too small: ` + num + ` ranks share it in pieces of whole 16 bytes, and none is left$`, TooSmall{}},
	{`^time: its ` + num + ` operations would take about (\S+), and --time-limit leaves (\S+)$`, TakesTooLong{}},
	{`^time: left out to keep the run within --time-limit (\S+)$`, TimeOver{}},
	{`^memory: it takes ` + size + ` of buffers a rank; rank ` + num + ` on (\S+) may have ` + size +
		` of buffers: (.+) leaves ` + size + `(?: for ` + num + ` ranks)?, a tenth and ` + size +
		` a rank kept back(?:; backends that are interleaved share that by ` + num +
		`)?(?:; groups on one machine share that by ` + num + `)?$`, MemoryInsufficient{}},
	{`^memory: rank ` + num + ` on (\S+) was refused the buffers although they should fit(?:: (.*))?$`,
		MemoryRefused{}},
	{`^wrong data: ` + num + ` of ` + num + ` elements; first on rank ` + num + `(?: on (\S+))? at index ` + num +
		`(?: of (.*))?: wanted (.*), found (.*)$`,
		func(w words) Fact {
			first := WrongElement{Rank: w.int(3), Host: w[4], Index: int64(w.int(5)), Want: w[7], Got: w[8]}
			return DataWrong{int64(w.int(1)), int64(w.int(2)), w[6], first}
		}},
	{`^an average over ` + num + ` ranks is 0 in (\S+): NCCL multiplies with 1/\d+, which rounds to 0$`,
		AverageUnderflows{}},
	{`^cut off after ` + num + ` rounds?, whose figures these are$`, CutOff{}},
	{`^the source counts wrong elements$`, SourceCountsWrong{}},
	{`^the source marks the error as larger than allowed$`, SourceErrorLarge{}},
	{`^the source says (.*)$`, SourceReports{}},
	{`^busbw/algbw contradicts the number of ranks: printed (.*)/(.*) = ` + num + `, but ` + num + ` ranks give ` +
		num + `$`, RanksContradicted{}},
	// What was deduced of an import.
	{`^(the number of ranks|the collective|the placement|the size)(?: of (\w+))?, (.*)$`, deducedOf},
	{`^each operation awaited; all_reduce is torch's, in place, and of float32`, ScriptHabits{}},
	// Why a run ended.
	{`^(SIGTERM|SIGINT) to rank ` + num + ` on (\S+)$`,
		func(w words) Fact { return RunSignalled{w[1], new(w.int(2)), w[3]} }},
	{`^(SIGTERM|SIGINT)$`, RunSignalled{}},
	{`^asked to end by (SIGUSR1)$`, RunSignalled{}},
	{`(?s)^hang: (.*)$`, func(w words) Fact { return RunHung{Problem: w[1]} }},
	{`^rank ` + num + ` on (\S+) \(pid ` + num + `\) is gone: it was killed or crashed (?:during (.*) \((.*)\)` +
		`|while the run was in phase (.*)); see that host's log and kernel messages ` +
		`\(out of memory\?\)(?:; to go on without it leave (\S+) out .*)?$`,
		func(w words) Fact {
			return RankGone{PlacedRank{w.int(1), w[2]}, w.int(3), InHand{w[4], cmp.Or(w[5], w[6])}, w[7]}
		}},
	{`(?s)^rank ` + num + ` on (\S+) crashed: ([^\n]*)(?:\n(.*))?$`, RankCrashed{}},
	{`^rank ` + num + `(?: on (\S+))?: (.*)$`, RankFailed{}},
	{`^(NCCL|NCCLX|Gloo|MPI|Open MPI|MPICH) has no (\S+)$`, NotSupported{}},
}

// deducedOf is what was deduced from something; Recorded where its origin is not known.
func deducedOf(w words) Fact {
	var what DeducedWhat
	for _, deduced := range []DeducedWhat{DeducedRanks, DeducedCollective, DeducedPlacement, DeducedSize} {
		if deduced.String() == w[1] {
			what = deduced
		}
	}
	for i, d := range deducedFrom {
		if strings.HasPrefix(w[3], d.text) { // some texts were longer
			return Deduced{what, DeducedFrom(i), w[2]}
		}
	}
	return Recorded{w[0]}
}
