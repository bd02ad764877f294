package report

import (
	"cmp"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// modeFacts are the topics of modes, and what a time of each mode is of.
var modeFacts = map[coll.Mode][2]string{
	coll.Throughput: {
		"Throughput mode",
		"operations are issued back to back with one wait at the end; the time of one is the total divided by their " +
			"number",
	},
	coll.Latency: {
		"Latency mode",
		"a barrier, then one operation alone; the time of an iteration is the maximum over ranks, for rooted " +
			"collectives from the first rank's start to the last rank's end",
	},
}

// stopTexts explain what ended the measurement of a point.
var stopTexts = map[string]string{
	"precision": "precision: the 95 % CI reached the target",
	"settled":   "settled: the 95 % CI stopped narrowing, or the target would have taken over twice the budget",
	"budget":    "budget: the measuring time per case was used up",
	"maximum":   "maximum: the maximum number of samples was reached",
	"fixed":     "fixed: the number of iterations was given",
	"asked":     "asked: a signal ended the run",
}

// addRecord adds how a record was measured.
func (f *facts) addRecord(number int, r *result.Record) {
	t := r.Time
	if t == nil || r.Mode == 0 {
		return
	}
	mode := modeFacts[r.Mode]
	topic, what := mode[0], mode[1]
	if r.Imported != nil {
		what = "measured by another tool, possibly in another way"
	}
	f.add(number, topic, "what is timed", what).points++
	f.add(number, topic, "aggregation of times", t.Summary)
	f.add(number, topic, "synchronisation of ranks", t.Sync)
	f.add(number, topic, "measurement ended because", cmp.Or(stopTexts[t.Stop], t.Stop)).points++
	f.addRange(topic, "samples per point", t.Samples)
	f.addRange(topic, "operations per batch", t.Batch)
	interval := "none"
	if t.Lo > 0 {
		interval = "of the median within one launch, without the spread between launches"
	}
	f.add(number, topic, "95 % CI", interval).points++
	if t.Event != nil {
		f.add(number, topic, "device events", "recorded beside the clock").points++
	}
	f.add(number, topic, "verification of data", r.Check.Way)
}
