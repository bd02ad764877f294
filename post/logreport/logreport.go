// Package logreport makes a document of the logs of NCCL, or of two that are compared.
package logreport

import (
	"slices"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/nccllog"
)

// Report is a log with what was found in it, and, where it is compared, the other.
type Report struct {
	log      *nccllog.Log
	findings []notice.Notice
	ignored  int          // findings that the document leaves out
	other    *nccllog.Log // nil: it is not compared
	contrast *nccllog.Contrast
}

// logData is what the JSON of post log has beside notices; docs/log.md describes the fields.
type logData struct {
	Log      *nccllog.Log      `json:"log"`
	Against  *nccllog.Log      `json:"against"` // null: nothing was compared
	Contrast *nccllog.Contrast `json:"contrast"`
}

// newReport finds what a log shows.
func newReport(log *nccllog.Log) *Report { return &Report{log: log, findings: log.Findings()} }

// Document is all of it; kept leaves notices out.
func (r *Report) Document(kept func([]notice.Notice) []notice.Notice) *document.Document {
	all := len(r.findings)
	r.findings = kept(r.findings)
	r.ignored = all - len(r.findings)
	if r.contrast != nil {
		for _, notices := range []*[]notice.Notice{&r.contrast.Headlines, &r.contrast.OnlyA, &r.contrast.OnlyB} {
			*notices = kept(*notices)
		}
	}
	d := &document.Document{
		Kind:    "log",
		Title:   r.log.Title(),
		Notices: r.findings,
		Data:    &logData{r.log, r.other, r.contrast},
	}
	if r.contrast == nil {
		d.Add(r.sections()...)
		return d
	}
	d.Title = "A against B"
	d.Notices = append(slices.Clone(r.contrast.Headlines), d.Notices...)
	for _, n := range r.contrast.OnlyB {
		who := "B"
		if n.At.Subject != "" {
			who += ", " + n.At.Subject
		}
		n.At.Subject = who
		d.Notices = append(d.Notices, n)
	}
	d.Add(r.contrastSections()...)
	return d
}
