package bench

import (
	"errors"
	"slices"
	"unsafe"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// Verdict is the fate of a point after the ranks have compared their outcomes. The zero value means that it is
// measured.
type Verdict struct {
	Status result.Status
	Cause  notice.Fact // on rank 0 that of all ranks, elsewhere the rank's own at most
	Needed int64       // bytes, of memory that could not be allocated
}

// Over reports whether the point ends here.
func (v Verdict) Over() bool { return v.Status != "" }

// outcomes are the ends of preparing or running a point, ordered: the worst rank's counts. The empty status is that
// of a rank that only left off because another one failed.
var outcomes = []result.Status{result.OK, "", result.Unsupported, result.Failed, result.OOM}

// outcome is what preparing or running a point came to on one rank.
type outcome struct {
	status result.Status
	needed int64       // bytes, of memory that could not be allocated
	text   string      // the error
	lacks  notice.Fact // of an unsupported case
}

// Prepared compares over the ranks what came of preparing a point: nil, an *UnsupportedError, a *MemoryError, or
// another error, which makes the point a failed one. Collective.
func (w World) Prepared(err error) (Verdict, error) {
	var lacks *UnsupportedError
	var memory *MemoryError
	switch {
	case err == nil:
		return w.worst(outcome{status: result.OK})
	case errors.As(err, &lacks):
		return w.worst(outcome{status: result.Unsupported, text: err.Error(), lacks: lacks.Cause})
	case errors.As(err, &memory):
		return w.worst(outcome{status: result.OOM, text: err.Error(), needed: memory.Needed})
	}
	return w.worst(outcome{status: result.Failed, text: err.Error()})
}

// Ran compares over the ranks what came of running a point on a backend that can go on after a failure (Recoverer):
// nil, or an *OperationError. Another error comes back as it is, and the ranks are not asked. Collective.
func (w World) Ran(err error) (Verdict, error) {
	var lost *OperationError
	switch {
	case err == nil:
		return w.worst(outcome{status: result.OK})
	case errors.As(err, &lost):
		return w.worst(outcome{status: lost.Status, text: lost.Error()})
	}
	return Verdict{}, err
}

// worst compares the outcomes of all ranks.
func (w World) worst(mine outcome) (Verdict, error) {
	most := struct{ status, needed float64 }{float64(slices.Index(outcomes, mine.status)), float64(mine.needed)}
	if err := w.Max(floats(&most)); err != nil || most.status == 0 {
		return Verdict{}, err
	}
	v := Verdict{Status: outcomes[int(most.status)], Needed: int64(most.needed)}
	if mine.status != v.Status {
		mine.text = ""
	}
	rank, reason, err := w.firstText(mine.text)
	if err != nil {
		return Verdict{}, err
	}
	if w.Rank != 0 { // rank 0 has the texts of all ranks; others have their own
		rank, reason = w.Rank, mine.text
	}
	v.Cause = notice.RankFailed{Rank: w.Name(rank), Host: w.host(rank), Problem: reason}
	switch {
	case v.Status == "": // no rank gives a reason
		v.Status = result.Failed
	case v.Status == result.Unsupported && mine.lacks != nil && rank == w.Rank:
		v.Cause = mine.lacks
	case v.Status == result.Unsupported:
		v.Cause = notice.LibraryLacks{Problem: reason}
	}
	return v, nil
}

// floats are the fields of a struct of float64s, as Comm exchanges them.
func floats[T any](x *T) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(x)), unsafe.Sizeof(*x)/unsafe.Sizeof(float64(0)))
}

// gather returns every rank's struct of float64s on rank 0; nil elsewhere. Collective.
func gather[T any](w World, mine T) ([]T, error) {
	own := floats(&mine)
	all, err := w.Gather(own)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(all))), len(all)/len(own)), err
}

// host is the host of a rank; "" where it is not known.
func (w World) host(rank int) string {
	if rank < 0 || rank >= len(w.Hosts) {
		return ""
	}
	return w.Hosts[rank]
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
