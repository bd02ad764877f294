package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"busbar/internal/bench"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/program"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/launch"
)

// tracedRanks is the maximum number of ranks with a trace file: the first ones.
const tracedRanks = 64

// trace keeps an overlapped step, and drops old ones.
func (r *stepPoint) trace(round int, start int64, spans program.Spans) {
	spans.Segments, spans.Ops = slices.Clone(spans.Segments), slices.Clone(spans.Ops)
	r.traced = append(r.traced, step.TracedStep{Number: round, Spans: spans})
	r.began = append(r.began, time.Now().Add(-time.Duration(loop.Now()-start)))
	if old := len(r.traced) - step.TracedSteps; old > 0 {
		r.traced, r.began = r.traced[old:], r.began[old:]
	}
}

// keepTrace records the last overlapped step and writes the trace files of the ranks. Collective.
func (s *stepSession) keepTrace(r *stepPoint, record *result.StepRecord) error {
	if !record.Timed() {
		return nil
	}
	s.run.Watch.Phase("gather the traces", 0)
	last := r.traced[len(r.traced)-1].Spans
	all, err := launch.GatherJSON(s.world.Group, step.IntervalsOf(last))
	if err != nil {
		return &bench.Fatal{Phase: "gather the traces", Err: err}
	}
	var text []byte
	if !s.run.Plan.Options.Step.NoTrace && s.world.Rank < tracedRanks {
		var b bytes.Buffer
		if err := s.traceOf(r).Write(&b); err != nil {
			return err
		}
		text = b.Bytes()
	}
	texts, err := s.world.Group.Gatherv(text, 0)
	if err != nil || s.world.Rank != 0 {
		return err
	}
	for rank := range min(tracedRanks, s.world.Size) {
		record.Traced = append(record.Traced, result.TracedOf(s.world.Name(rank), all[rank]))
	}
	record.Timeline = timelineOf(r.plan, last, s.world.Name(0))
	if !s.run.Plan.Options.Step.NoTrace {
		s.writeTraces(r.n, texts, record)
	}
	return nil
}

// traceOf returns this rank's trace of a point.
func (s *stepSession) traceOf(r *stepPoint) *step.Trace {
	facts := s.lib.Facts()
	t := &step.Trace{
		TraceAbout: step.TraceAbout{
			Tool:      s.run.Program.Tool,
			Run:       s.header.ID,
			Point:     r.n,
			Backend:   facts.Name,
			Library:   facts.Library,
			Computing: s.computing.String(),
			Rehearsed: backend.Simulates(s.lib),
			Rank:      s.world.Name(s.world.Rank),
			Host:      s.world.Hosts[s.world.Rank],
		},
		Plan:    r.plan,
		Process: os.Getpid(),
		Began:   r.began[0],
		Steps:   r.traced,
	}
	if l, ok := s.lib.(backend.Accelerator); ok {
		t.GPU, t.Device = l.Device(), s.facts()[s.world.Rank].LocalRank
	}
	return t
}

// writeTraces writes the traces of a point next to the results file. A failure is only a warning: the record has the
// values.
func (s *stepSession) writeTraces(n int, texts [][]byte, record *result.StepRecord) {
	folder := filepath.Join(s.sheet.TraceFolder(), fmt.Sprintf("point%d", n))
	err := os.MkdirAll(folder, 0o777)
	for rank, text := range texts {
		if err == nil && len(text) > 0 {
			err = os.WriteFile(filepath.Join(folder, fmt.Sprintf("rank%d.json", s.world.Name(rank))), text, 0o666)
		}
	}
	if err != nil {
		record.Warnings.Add(notice.TraceNotWritten{Problem: err.Error()})
		return
	}
	record.Trace = filepath.Join(filepath.Base(s.sheet.TraceFolder()), filepath.Base(folder))
}

// timelineOf returns when the parts of a step ran.
func timelineOf(p *step.Plan, spans program.Spans, rank int) *result.StepTimeline {
	first, last := spans.Segments[0].Start, spans.Segments[0].End
	for _, s := range slices.Concat(spans.Segments, spans.Ops) {
		first, last = min(first, s.Start), max(last, s.End)
	}
	from := func(s program.Span, name, work string) result.StepSpan {
		return result.StepSpan{
			Name:  name,
			Work:  work,
			Start: float64(s.Start-first) / 1e9,
			End:   float64(s.End-first) / 1e9,
		}
	}
	t := &result.StepTimeline{Rank: rank, Span: float64(last-first) / 1e9}
	for i, s := range p.Segments {
		t.Segments = append(t.Segments, from(spans.Segments[i], s.Name, string(s.Work)))
	}
	for i, o := range p.Ops {
		t.Ops = append(t.Ops, from(spans.Ops[i], o.Name, ""))
	}
	return t
}
