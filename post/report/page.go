package report

import (
	"embed"
	"html/template"
	"io"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/atomicfile"
)

//go:embed page
var pageFiles embed.FS

// pageScripts are in the order in which they stand on the page.
var pageScripts = []string{
	"base", "scale", "chart", "draw", "curves", "table", "heat", "lanes", "timeline", "stepbars", "steplanes", "steps", "page",
}

// drawn is the part of a report that the script draws and lists.
type drawn struct {
	Axes     [][]int64 `json:"axes"`
	Families []Family  `json:"families"`
	Curves   []Curve   `json:"curves"`
	Notes    []string  `json:"notes"`
	Bases    []string  `json:"bases"`
	Regions  []region  `json:"regions"`
	Laws     [][]Law   `json:"laws"` // by curve
	Ceilings []Ceiling `json:"ceilings"`
	Heats    []Heat    `json:"heats"`
	Steps    []StepRun `json:"steps"`
	Timeline *Picture  `json:"timeline"`
}

// region is where a finding is on a curve.
type region struct {
	Number   int             `json:"number"`
	Code     notice.Code     `json:"code"`
	Severity notice.Severity `json:"severity"`
	Curve    int             `json:"curve"`
	From     int64           `json:"from"`
	To       int64           `json:"to"`
}

// Forms are both forms of the report, as files of this name.
func (r *Report) Forms(name string) []atomicfile.Named {
	return []atomicfile.Named{{Name: name + ".html", Write: r.WritePage}, {Name: name + ".md", Write: r.WriteMarkdown}}
}

// WritePage writes the report as one HTML file that loads nothing.
func (r *Report) WritePage(w io.Writer) error {
	d := form{r.whole(), pageLimits}.document()
	d.Page = document.Page{Style: pageFile("page.css"), Data: r.drawn()}
	for _, name := range pageScripts {
		d.Page.Script += pageFile(name + ".js")
	}
	return d.WriteHTML(w)
}

// pageFile is an embedded file; that it is there is tested by every page.
func pageFile(name string) string {
	text, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// chart is one that the script draws: NAME-picture into the elements of page/NAME.html.
func chart(id, title string) *document.Chart {
	name, _, _ := strings.Cut(id, "-")
	return &document.Chart{ID: id, Title: title, HTML: template.HTML(pageFile(name + ".html")), Scripted: true}
}

func (r *Report) drawn() drawn {
	data := drawn{
		Axes: r.Axes, Families: r.Families, Curves: r.Curves, Notes: r.Notes, Bases: r.Bases, Regions: []region{},
		Laws: slices.Repeat([][]Law{{}}, len(r.Curves)), Ceilings: r.Ceilings, Heats: r.Heats, Steps: []StepRun{},
	}
	for _, f := range r.Findings {
		for _, p := range f.places() {
			data.Regions = append(data.Regions, region{f.Number, f.Code(), f.Severity, p.Curve, p.From, p.To})
		}
	}
	for _, m := range r.Models {
		data.Laws[m.Curve] = m.Laws
	}
	if r.Steps != nil {
		data.Steps = r.Steps.Runs
	}
	if r.Timeline != nil {
		data.Timeline = &r.Timeline.Picture
	}
	return data
}
