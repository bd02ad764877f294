package nccllog

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/advice"
	"busbar/internal/units"
)

const rasSource = "NCCL documentation, RAS"

// findDisagreement tells of calls that ranks of one communicator made differently.
func findDisagreement(l *Log) (found []Finding) {
	for _, s := range l.Sequences {
		if s.Mismatch == nil {
			continue
		}
		m := s.Mismatch
		f := Finding{Kind: Disagree, Severity: Serious, Source: "NCCL documentation, Collective Operations: each rank must call the same, with the same count and type",
			Says:   fmt.Sprintf("Ranks of %s do not call the same: at call %d %s.", l.commText(s.Comm), m.Number, sidesText(m.Sides)),
			Advice: "find out why these ranks took another way: a condition that depends on the rank, data of uneven length, another version of the program"}
		if len(m.Sides) > 1 {
			f.Who = ranksText(m.Sides[len(m.Sides)-1].Ranks)
		}
		for _, side := range m.Sides {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s", ranksText(side.Ranks), side.Call))
		}
		if m.Op >= 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("opCount %d (%x as the log writes it)", m.Op, m.Op))
		}
		found = append(found, s.doubted(f))
	}
	return found
}

// doubted lowers a finding that the log may only seem to show.
func (s Sequence) doubted(f Finding) Finding {
	if s.Doubt != "" {
		f.Severity = Warning
		f.Evidence = append(f.Evidence, "in doubt: "+s.Doubt)
	}
	return f
}

func sidesText(sides []Called) string {
	const most = 3
	var parts []string
	for _, side := range sides[:min(most, len(sides))] {
		verb := "call"
		if len(side.Ranks) == 1 {
			verb = "calls"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", ranksText(side.Ranks), verb, side.Call))
	}
	if n := len(sides) - most; n > 0 {
		parts = append(parts, units.Count(n, "other way"))
	}
	return strings.Join(parts, ", ")
}

// commText names a communicator for a sentence.
func (l *Log) commText(i int) string {
	if i < 0 || i >= len(l.Communicators) {
		return "a communicator that is not named"
	}
	c := l.Communicators[i]
	if c.Ranks > 0 {
		return fmt.Sprintf("%s (%s)", c.Name, units.Count(c.Ranks, "rank"))
	}
	return c.Name
}

// findStopped tells of ranks that made fewer calls than others.
func findStopped(l *Log) (found []Finding) {
	for _, s := range l.Sequences {
		if len(s.Behind) == 0 || s.Mismatch != nil {
			continue
		}
		first := s.Behind[0]
		var ranks []int
		for _, b := range s.Behind {
			ranks = append(ranks, b.Rank)
		}
		f := Finding{Kind: Stopped, Severity: Serious, Who: ranksText(ranks), Source: "NCCL documentation, Collective Operations",
			Says: fmt.Sprintf("%s of %s stopped calling: %s behind the furthest rank.", upper(ranksText(ranks)), l.commText(s.Comm), units.Count(int(first.By), "call")),
			Advice: "look at what those ranks did last: their program's own output, or py-spy dump and gdb -p where they still run; " +
				"the others wait for them inside the collective"}
		f.Evidence = s.behindTexts()
		found = append(found, s.doubted(f))
	}
	return found
}

// behindTexts say how far ranks are behind and what they did last, those together that did the same.
func (s Sequence) behindTexts() []string {
	of := map[string][]int{}
	var order []string
	for _, b := range s.Behind {
		text := fmt.Sprintf("%s, %d fewer than the furthest", units.Count(int(b.Calls), "call"), b.By)
		if i := slices.IndexFunc(s.Ranks, func(r Reached) bool { return r.Rank == b.Rank }); i >= 0 && s.Ranks[i].Last != "" {
			text += "; the last was " + s.Ranks[i].Last
		}
		if of[text] == nil {
			order = append(order, text)
		}
		of[text] = append(of[text], b.Rank)
	}
	var texts []string
	for _, text := range order {
		texts = append(texts, ranksText(of[text])+": "+text)
	}
	return clipTexts(texts)
}

// findUnfinished tells of communicators that some ranks began to make, and did not finish.
func findUnfinished(l *Log) (found []Finding) {
	for i, c := range l.Communicators {
		var begun, done []int
		for _, m := range c.Members {
			switch {
			case m.Completed:
				done = append(done, m.Rank)
			case m.Started:
				begun = append(begun, m.Rank)
			}
		}
		if len(begun) == 0 {
			continue
		}
		f := Finding{Kind: Unfinished, Severity: Serious, Who: ranksText(begun), Source: networkDoc + ", IP network interfaces",
			Says:     fmt.Sprintf("%s began to make %s, and did not finish.", upper(ranksText(begun)), l.commText(i)),
			Evidence: []string{fmt.Sprintf("“Init START” of %s, “Init COMPLETE” of %s", units.Count(len(begun)+len(done), "rank"), count(len(done)))},
			Advice:   "no warning says why: see that the interfaces that these ranks use reach each other: " + interfaces}
		if len(l.Messages) > 0 {
			f.Advice = "look for the first warning of these ranks"
		}
		if missing := c.Ranks - len(c.Members); missing > 0 && len(done) == 0 {
			f.Severity = Warning
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s of %d did not write, so this may be a part of a log", units.Count(missing, "rank"), c.Ranks))
		}
		found = append(found, f)
	}
	return found
}

func count(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// findAborted tells of communicators that were given up. PyTorch ends those of a run that went well in the same way, so that by
// itself it is no fault where all ranks did it.
func findAborted(l *Log) (found []Finding) {
	library := func(m Message) bool { return m.Level != programLevel }
	wrong := slices.ContainsFunc(l.Messages, library) || len(findDisagreement(l)) > 0 || len(findStopped(l)) > 0
	for i, c := range l.Communicators {
		var ranks []int
		for _, m := range c.Members {
			if m.Aborted {
				ranks = append(ranks, m.Rank)
			}
		}
		if len(ranks) == 0 {
			continue
		}
		f := Finding{Kind: Aborted, Severity: Serious, Who: ranksText(ranks), Source: "NCCL documentation, ncclCommAbort",
			Says:     fmt.Sprintf("%s was aborted by %s.", upper(l.commText(i)), ranksText(ranks)),
			Evidence: []string{fmt.Sprintf("“Abort COMPLETE” of %s", units.Count(len(ranks), "rank"))},
			Advice:   "the program gave up after an error or a time-out of its own: look for the first message before it"}
		if !wrong && len(ranks) == c.Ranks {
			f.Severity, f.Source = Note, f.Source+"; github.com/pytorch/pytorch, issue 136122"
			f.Evidence = append(f.Evidence, "all ranks did, and no warning stands before it")
			f.Advice = "PyTorch ends communicators so when a run is over: a fault only where the program ended too early"
		}
		found = append(found, f)
	}
	return found
}

// findRAS passes on what NCCL's own watch over processes found.
func findRAS(l *Log) (found []Finding) {
	for _, r := range l.RAS {
		if len(r.Missing) > 0 {
			found = append(found, Finding{Kind: Answered, Severity: Serious, Source: rasSource,
				Says:     fmt.Sprintf("%s not answer NCCL's RAS: ended, stopped, or the host is down.", upper(units.Count(len(r.Missing), "process")+doesDo(len(r.Missing)))),
				Evidence: clipTexts(briefs(r.Missing)), Advice: "look at those processes, and at dmesg of their hosts"})
		}
		for _, c := range r.Comms {
			if c.Missing <= 0 && (c.Errors == "" || c.Errors == "OK") && !strings.Contains(c.Status, "MISMATCH") && !strings.Contains(c.Status, "ABORT") {
				continue
			}
			name := "a communicator"
			if c.ID != "" {
				name = "communicator " + c.ID
			}
			f := Finding{Kind: Answered, Severity: Serious, Source: rasSource, Says: fmt.Sprintf("RAS finds %s %s.", name, strings.ToLower(strings.Join(nonEmpty(c.Status, c.Errors), ", "))),
				Advice: "the ranks with fewer calls of a collective are those that the others wait for"}
			if c.Missing > 0 {
				f.Evidence = append(f.Evidence, fmt.Sprintf("%s of %d missing", units.Count(c.Missing, "rank"), c.Ranks))
			}
			for _, n := range c.Counts[:min(4, len(c.Counts))] {
				f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s by %s", n.Name, units.Count(int(n.Calls), "call"), ranksText(n.Ranks)))
			}
			for _, m := range c.States[:min(4, len(c.States))] {
				f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s", ranksText(m.Ranks), brief(m.Says)))
			}
			found = append(found, f)
		}
		if len(r.Problems) > 0 && len(r.Missing) == 0 && len(found) == 0 {
			found = append(found, Finding{Kind: Answered, Severity: Serious, Source: rasSource, Says: "NCCL's RAS reports errors.", Evidence: clipTexts(briefs(r.Problems)),
				Advice: "see what it says of each communicator and process"})
		}
	}
	return found
}

func doesDo(n int) string {
	if n == 1 {
		return " does"
	}
	return " do"
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "OK" })
}

// clipTexts keeps the first few of a list of texts.
func clipTexts(texts []string) []string {
	const most = 4
	if n := len(texts) - most; n > 0 {
		return append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", n))
	}
	return texts
}

// briefs shortens texts that are quoted.
func briefs(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, brief(t))
	}
	return out
}

// findVersions tells of ranks with different libraries.
func findVersions(l *Log) []Finding {
	if len(l.Versions) < 2 {
		return nil
	}
	f := Finding{Kind: VersionDiffer, Severity: Serious, Source: source + "src/init.cc", Advice: advice.OneLibrary}
	var texts []string
	same := true
	for _, v := range l.Versions {
		text := string(v.Library) + " " + v.Text
		same = same && v.Text == l.Versions[0].Text && v.Library == l.Versions[0].Library
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		if v.CUDA != "" {
			text += " for CUDA " + v.CUDA
		}
		if v.Git != "" {
			text += ", " + v.Git
		}
		if len(v.Processes) > 0 {
			text += ": " + l.name(v.Processes)
		}
		f.Evidence = append(f.Evidence, text)
	}
	f.Says = fmt.Sprintf("Processes run different libraries: %s; those of one communicator must not.", strings.Join(texts, ", "))
	if same {
		f.Severity, f.Says = Note, "Processes run different builds of "+texts[0]+"."
	}
	return []Finding{f}
}

// initLong is from when on making a communicator is worth a word, in seconds; and very long.
const (
	initLong     = 10
	initVeryLong = 60
)

// findInit tells where the time went that making a communicator took.
func findInit(l *Log) (found []Finding) {
	for i, c := range l.Communicators {
		var slowest *Member
		for j := range c.Members {
			if m := &c.Members[j]; m.Init != nil && (slowest == nil || m.Init.Total > slowest.Init.Total) {
				slowest = m
			}
		}
		if slowest == nil || slowest.Init.Total < initLong {
			continue
		}
		parts := slices.Clone(slowest.Init.Parts)
		slices.SortStableFunc(parts, func(a, b Part) int { return compareDown(a.Seconds, b.Seconds) })
		f := Finding{Kind: SlowInit, Severity: Note, Source: "NCCL's own timings of its init",
			Says:   fmt.Sprintf("Making %s took %.1f s on rank %d.", l.commText(i), slowest.Init.Total, slowest.Rank),
			Advice: "kernels is loading NCCL's kernels (once a process); bootstrap and allgathers are the ranks finding each other and waiting for the last; connections are the links"}
		if slowest.Init.Total >= initVeryLong {
			f.Severity = Warning
		}
		for _, p := range parts[:min(3, len(parts))] {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s %.2f s", p.Name, p.Seconds))
		}
		found = append(found, f)
	}
	return found
}

// compareDown orders the larger first.
func compareDown(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}
