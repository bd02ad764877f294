package result

// StepTimeline is when the parts of the last overlapped step ran on one rank: enough to draw it without its trace file.
type StepTimeline struct {
	Rank     int        `json:"rank"`
	Span     float64    `json:"span_s"`
	Segments []StepSpan `json:"segments"`
	Ops      []StepSpan `json:"ops"` // one for each of the record's ops, in their order
}

// StepSpan is a stretch of a step, in seconds from its beginning.
type StepSpan struct {
	Name  string  `json:"name"`
	Work  string  `json:"work,omitempty"` // of a segment: forward, backward, compress, optimizer
	Start float64 `json:"start_s"`
	End   float64 `json:"end_s"`
}
