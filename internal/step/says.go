package step

import (
	"fmt"
	"strings"

	"busbar/internal/stats"
)

// Wording is how a place writes buckets and times; what is said of them is the same everywhere.
type Wording struct {
	Bucket func(Cap) string
	Time   func(seconds float64) string // a difference too, which may be below 0
}

// interferes is from which slowdown on interference is told: less is within what a loaded host does to any two measurements.
const interferes = 1.05

// tooFew ends a sentence whose figure has no interval.
const tooFew = "; rounds are too few to tell that from noise"

// beyond is by how much more than can be hidden may be found by noise.
const beyond = 0.05

// Percent writes a share with two digits or so.
func Percent(v float64) string {
	switch size := max(v, -v); {
	case size < 0.0005:
		return "0 %"
	case size < 0.0995:
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// HasInterval says whether a figure has an interval that is wider than nothing.
func (f Figure) HasInterval() bool { return f.Hi > f.Lo }

// Share is how much of a step is exposed communication, round by round as all ratios: what weak scaling loses. It is 0 where nothing took time.
func (f *Figures) Share() float64 {
	if f.Efficiency == nil {
		return 0
	}
	return 1 - f.Efficiency.Value
}

// times writes a time with its interval.
func (w Wording) times(f Figure) string {
	if !f.HasInterval() {
		return w.Time(f.Value)
	}
	return fmt.Sprintf("%s (95 %% interval %s to %s)", w.Time(f.Value), w.Time(f.Lo), w.Time(f.Hi))
}

// BucketSays tells which bucket of a group is the best, and how the others stand to it. points have rounds, best is the one with the least
// median and f its figures. Points that were compared with nothing have no rounds in its launch.
func (w Wording) BucketSays(points []Point, standings []Standing, best int, f *Figures) string {
	var same, slower, few, apart []string
	needed := 0
	for i, s := range standings {
		name := w.Bucket(points[i].Bucket)
		switch {
		case i == best:
		case s.Verdict == NoDifference:
			same = append(same, name)
		case s.Verdict == Slower:
			slower = append(slower, fmt.Sprintf("%s by %s (%s to %s)", name, Percent(s.Slower.Value), Percent(s.Slower.Lo), Percent(s.Slower.Hi)))
		case s.Verdict == TooFewRounds:
			few, needed = append(few, name), max(needed, s.Needed)
		default:
			apart = append(apart, name)
		}
	}
	bucket, takes := w.Bucket(points[best].Bucket), w.times(f.Overlapped.Figure)
	var says string
	switch {
	case len(points) == 1:
		says = fmt.Sprintf("One bucket was measured: %s, with which a step takes %s.", bucket, takes)
	case len(same) == len(points)-1:
		return fmt.Sprintf("No difference between the buckets can be told in this launch. The least median is that of %s: a step takes %s.", bucket, takes)
	case len(slower) == 0:
		says = fmt.Sprintf("The least median is that of %s: a step takes %s.", bucket, takes)
	default:
		says = fmt.Sprintf("Best bucket in this launch: %s, with which a step takes %s.", bucket, takes)
	}
	if len(same) > 0 {
		says += " No difference from it can be told for " + list(same) + "."
	}
	if len(slower) > 0 {
		says += " Slower: " + list(slower) + "."
	}
	if len(few) > 0 {
		says += fmt.Sprintf(" Rounds are too few to tell it from %s: there are %d, and it takes %d (a larger --budget, or -n where it was given, gives more).", list(few), f.Rounds, needed)
	}
	if len(apart) > 0 {
		says += " Not compared with it, as no launch has rounds of both: " + list(apart) + "."
	}
	return says
}

// ExposedSays tells what the steps of a point leave exposed, and what could be hidden.
func (w Wording) ExposedSays(p Point, f *Figures) string {
	switch {
	case f.Overlap == nil && f.Comm.Value < negligible*f.Overlapped.Value:
		return "Communication takes next to nothing here (less than 0.1 % of a step), so nothing can be exposed."
	case f.Overlap == nil:
		return fmt.Sprintf("Nothing goes to another rank here, so nothing can be exposed: the %s of communication are what its calls take.", w.Time(f.Comm.Value))
	}
	at, exposed := w.Bucket(p.Bucket), w.times(f.Exposed)
	var says string
	switch {
	case !f.ExposedTold():
		says = fmt.Sprintf("With %s, no exposed communication can be told: %s.", at, exposed)
	case f.Exposed.Value > f.Comm.Value && f.HasIntervals() && f.Overlap.Hi < 0:
		says = fmt.Sprintf("With %s, a step takes %s longer than its computing, %s of the step, and more than communication takes alone", at, exposed, Percent(f.Share()))
		if f.SpeedUp != nil && f.SpeedUp.Hi < 1 { // else computing and communication one after the other take as long
			says += ": overlapping costs more than it hides"
		}
		says += "."
	default:
		says = fmt.Sprintf("With %s, %s of communication are exposed, %s of the step.", at, exposed, Percent(f.Share()))
	}
	says += fmt.Sprintf(" Alone, communication takes %s, of which ", w.Time(f.Comm.Value)) + hiddenSays(p, f) + "."
	if !f.HasIntervals() {
		says += fmt.Sprintf(" Rounds are too few to tell any of that from noise, which takes %d.", stats.MinForInterval)
	}
	return says
}

// ExposedTold says whether exposed communication is told from none.
func (f *Figures) ExposedTold() bool {
	return f.Exposed.Value > 0 && (!f.Exposed.HasInterval() || f.Exposed.Lo > 0)
}

// hiddenSays tells how much of communication is hidden by both definitions, and how much could be.
func hiddenSays(p Point, f *Figures) string {
	between := ""
	if f.Overlap.HasInterval() {
		between = fmt.Sprintf(" (%s to %s)", Percent(f.Overlap.Lo), Percent(f.Overlap.Hi))
	}
	says := fmt.Sprintf("%s%s is hidden by the wall clock", Percent(f.Overlap.Value), between)
	switch {
	case f.Overlap.Value > 0 && (!f.HasIntervals() || f.Overlap.Lo > 0):
	case f.HasIntervals() && f.Overlap.Hi < 0:
		says = fmt.Sprintf("nothing is hidden by the wall clock (%s%s: a step takes longer than the two alone together)", Percent(f.Overlap.Value), between)
	default:
		says = fmt.Sprintf("nothing is told to be hidden by the wall clock (%s%s)", Percent(f.Overlap.Value), between)
	}
	if f.ByInterval != nil {
		says += fmt.Sprintf(" and %s by intervals", Percent(f.ByInterval.Value))
		if p.Progress == NoCalls {
			says += ", which take an operation for running until a call of the library sees its end"
		}
	}
	if f.Bound == nil {
		return says
	}
	says += fmt.Sprintf("; at most %s could be", Percent(f.Bound.Value))
	if f.Bound.Value < 0.995 {
		says += ", since communication takes longer than computing"
	}
	if f.Overlap.Value > f.Bound.Value+beyond {
		says += ". That is less than the wall clock says: something else disturbed the modes, and these figures are not to be trusted"
	}
	return says
}

// InterferenceSays tells of computing and communication that slow each other down by more than 5 %; "" where they do not, or where
// there is next to no communication.
func InterferenceSays(p Point, f *Figures) string {
	if f.Overlap == nil {
		return ""
	}
	apart := f.ByInterval != nil && f.ByInterval.Value < littleHidden // operations run when nothing computes, such as those of a single bucket
	var all []string
	for _, one := range []struct {
		what, beside string
		slower       *Figure
		within       string // what else is in the time where the library is called now and then
		other        string // what may be the cause where the two run apart
	}{
		{"Computing", "communication", f.SlowerComp, ", the calls that poll included", "something else disturbs it"},
		{"Communication", "computing", f.SlowerComm, ", of which some is waiting for the next call of the library", "it waits for ranks that compute longer, or something else disturbs it"},
	} {
		s := one.slower
		if s == nil || s.Value <= interferes || s.HasInterval() && s.Lo <= 1 {
			continue
		}
		if one.what == "Communication" && p.Progress == NoCalls {
			continue // it waits for the end of computing, which is no interference
		}
		beside := "beside " + one.beside
		if apart {
			beside = "in overlapped steps"
		}
		says := fmt.Sprintf("%s takes %s longer %s than alone", one.what, Percent(s.Value-1), beside)
		if s.HasInterval() {
			says += fmt.Sprintf(" (%s to %s)", Percent(s.Lo-1), Percent(s.Hi-1))
		}
		switch {
		case apart:
			says += fmt.Sprintf(", though the two hardly run beside each other: %s", one.other)
		case p.Progress == Poll:
			says += one.within
		}
		if !f.HasIntervals() {
			says += tooFew
		}
		all = append(all, says+".")
	}
	return strings.Join(all, " ")
}

// GainSays tells what overlapping is worth; "" where there is nothing to overlap.
func GainSays(f *Figures) string {
	if f.Overlap == nil || f.SpeedUp == nil || f.Efficiency == nil {
		return ""
	}
	s := f.SpeedUp
	times := fmt.Sprintf("%.2f", s.Value)
	if s.HasInterval() {
		times += fmt.Sprintf(" (%.2f to %.2f)", s.Lo, s.Hi)
	}
	says := fmt.Sprintf("Overlapped, the step is %s times as fast as computing and communication one after the other.", times)
	switch {
	case !f.HasIntervals():
		says = strings.TrimSuffix(says, ".") + tooFew + "."
	case s.HasInterval() && s.Lo <= 1 && s.Hi >= 1:
		says = fmt.Sprintf("No difference can be told between overlapping and computing and communication one after the other: %s times as fast.", times)
	}
	return says + fmt.Sprintf(" Of a rank's speed alone, %s is left (weak scaling).", Percent(f.Efficiency.Value))
}

// list joins words as a sentence does.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
