package bench

import (
	"errors"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// Verdict is what becomes of a point after the ranks have compared notes. The zero value: it goes on.
type Verdict struct {
	Status result.Status
	Cause  notice.Fact // rank 0 knows that of all ranks, the others their own at most
	Needed int64       // bytes, of memory that could not be had
}

// Over says that the point ends here.
func (v Verdict) Over() bool { return v.Status != "" }

// The outcomes of preparing, ordered: the worst rank's counts.
const (
	prepared = iota
	unsupported
	noMemory
	failed
)

// Prepared compares over the ranks what came of preparing a point: nil, an *UnsupportedError, a *MemoryError, or
// another error, which makes the point a failed one. Collective.
func (w World) Prepared(err error) (Verdict, error) {
	var lacks *UnsupportedError
	var memory *MemoryError
	outcome, needed := prepared, int64(0)
	switch {
	case err == nil:
	case errors.As(err, &lacks):
		outcome = unsupported
	case errors.As(err, &memory):
		outcome, needed = noMemory, memory.Needed
	default:
		outcome = failed
	}
	worst := []float64{float64(outcome), float64(needed)}
	if err := w.Max(worst); err != nil {
		return Verdict{}, err
	}
	if worst[0] == prepared {
		return Verdict{}, nil
	}
	text := ""
	if err != nil && float64(outcome) == worst[0] {
		text = err.Error()
	}
	rank, reason, fatal := w.firstText(text)
	if fatal != nil {
		return Verdict{}, fatal
	}
	v := Verdict{Cause: w.failedOn(rank, reason), Needed: int64(worst[1])}
	v.Status = map[int]result.Status{unsupported: result.Unsupported, noMemory: result.OOM,
		failed: result.Failed}[int(worst[0])]
	if v.Status == result.Unsupported {
		v.Cause = notice.LibraryLacks{Problem: reason}
		if lacks != nil && rank == w.Rank {
			v.Cause = lacks.Cause
		}
	}
	return v, nil
}

// outcomes are the ends of running, ordered: the worst rank's counts.
var outcomes = []result.Status{result.OK, "", result.Unsupported, result.Failed, result.OOM}

// Ran compares over the ranks what came of running a point on a backend that can go on after a failure (Recoverer):
// nil, or an *OperationError. Another error comes back as it is, and the ranks are not asked. Collective.
func (w World) Ran(err error) (Verdict, error) {
	var lost *OperationError
	if err != nil && !errors.As(err, &lost) {
		return Verdict{}, err
	}
	outcome := 0
	if lost != nil {
		for i, status := range outcomes {
			if status == lost.Status {
				outcome = i
			}
		}
	}
	worst := []float64{float64(outcome)}
	if err := w.Max(worst); err != nil {
		return Verdict{}, err
	}
	if worst[0] == 0 {
		return Verdict{}, nil
	}
	text := ""
	if lost != nil && float64(outcome) == worst[0] {
		text = lost.Error()
	}
	rank, reason, err := w.firstText(text)
	if err != nil {
		return Verdict{}, err
	}
	if w.Rank != 0 { // rank 0 has the words of all; here there are this rank's, if any
		rank, reason = w.Rank, text
	}
	v := Verdict{Status: outcomes[int(worst[0])], Cause: w.failedOn(rank, reason)}
	switch v.Status {
	case "": // nobody says why
		v.Status = result.Failed
	case result.Unsupported:
		v.Cause = notice.LibraryLacks{Problem: reason}
	}
	return v, nil
}

// host is the host of a rank; "" where it is not known.
func (w World) host(rank int) string {
	if rank < 0 || rank >= len(w.Hosts) {
		return ""
	}
	return w.Hosts[rank]
}

// failedOn is that a rank reports a problem.
func (w World) failedOn(rank int, problem string) notice.Fact {
	return notice.RankFailed{Rank: w.Name(rank), Host: w.host(rank), Problem: problem}
}

// maxText is how much of a message a rank sends to rank 0.
const maxText = 240

// firstText brings to rank 0 the text of the lowest rank that has one. It is only used when something went wrong.
func (w World) firstText(text string) (rank int, first string, err error) {
	mine := make([]float64, maxText)
	for i := range min(len(text), maxText) {
		mine[i] = float64(text[i])
	}
	all, err := w.Gather(mine)
	for at := 0; at < len(all); at += maxText {
		if all[at] == 0 {
			continue
		}
		var b []byte
		for _, x := range all[at : at+maxText] {
			if x != 0 {
				b = append(b, byte(x))
			}
		}
		return at / maxText, string(b), err
	}
	return -1, "", err
}
