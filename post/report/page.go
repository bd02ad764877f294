package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
)

//go:embed page/page.html page/*.css page/*.js
var pageFiles embed.FS

// pageScripts are in the order in which they stand on the page.
var pageScripts = []string{"base", "scale", "chart", "draw", "curves", "table", "heat", "lanes", "timeline", "sorting", "stepbars", "steplanes", "steps", "page"}

// maxListed is how many curves the table without a script lists.
const maxListed = 1000

// page is what the template is filled with. Texts are put in by html/template, the rest is read by the script as JSON.
type page struct {
	*Report
	Policy template.HTMLAttr // a whole attribute, since base64 in it is not to be escaped
	Style  template.CSS
	Script template.JS
	Data   template.JS
	Topics struct{ Environment, Method []topic }

	Steps    *stepsPage
	Timeline *timelinePage
}

// topic is facts that stand under one heading.
type topic struct {
	Name  string
	Facts []Fact
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

// region is where a finding is on a curve; its words stand in the page already.
type region struct {
	Number   int             `json:"number"`
	Code     notice.Code     `json:"code"`
	Severity notice.Severity `json:"severity"`
	Curve    int             `json:"curve"`
	From     int64           `json:"from"`
	To       int64           `json:"to"`
}

// WritePage writes the report as one HTML file that loads nothing.
func (r *Report) WritePage(w io.Writer) error {
	r.whole()
	text, err := pageFiles.ReadFile("page/page.html")
	if err != nil {
		return err
	}
	tree, err := template.New("page").Funcs(pageWords).Parse(string(text))
	if err != nil {
		return err
	}
	filled, err := r.page()
	if err != nil {
		return err
	}
	return tree.Execute(w, filled)
}

func (r *Report) page() (*page, error) {
	data := drawn{Axes: r.Axes, Families: r.Families, Curves: r.Curves, Notes: r.Notes, Bases: r.Bases, Regions: []region{}, Laws: slices.Repeat([][]Law{{}}, len(r.Curves)), Ceilings: r.Ceilings, Heats: r.Heats, Steps: []StepRun{}}
	for _, f := range r.Findings {
		for _, p := range f.places() {
			data.Regions = append(data.Regions, region{f.Number, f.Code, f.Severity, p.Curve, p.From, p.To})
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
	encoded, err := json.Marshal(data) // escapes <, > and &, so that no text ends its element
	if err != nil {
		return nil, err
	}
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return nil, err
	}
	var script strings.Builder
	for _, name := range pageScripts {
		text, err := pageFiles.ReadFile("page/" + name + ".js")
		if err != nil {
			return nil, err
		}
		script.Write(text)
	}
	p := &page{Report: r, Style: template.CSS(style), Script: template.JS(script.String()), Data: template.JS(encoded)}
	if r.Steps != nil {
		p.Steps = &stepsPage{r.Steps}
	}
	if r.Timeline != nil {
		p.Timeline = &timelinePage{r.Timeline}
	}
	p.Policy = template.HTMLAttr(fmt.Sprintf(`content="default-src 'none'; base-uri 'none'; form-action 'none'; script-src '%s'; style-src '%s'"`, hashOf(script.String()), hashOf(string(style))))
	p.Topics.Environment, p.Topics.Method = topics(r.Environment), topics(r.Method)
	return p, nil
}

// hashOf is how a policy names the one script or style that may run.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func topics(facts []Fact) (all []topic) {
	for _, f := range facts {
		if n := len(all); n == 0 || all[n-1].Name != f.Topic {
			all = append(all, topic{Name: f.Topic})
		}
		all[len(all)-1].Facts = append(all[len(all)-1].Facts, f)
	}
	return all
}

// listed is a curve in the table that needs no script.
type listed struct {
	Family, Label, Sizes, Least, Best string
}

// NoHeadline is what stands where there is no sentence.
func (p *page) NoHeadline() string { return NoHeadline }

// Listed are the curves for readers without a script.
func (p *page) Listed() (all []listed) {
	for _, c := range p.Curves[:min(len(p.Curves), maxListed)] {
		sizes := p.Axes[c.Axis]
		if len(sizes) == 0 {
			continue
		}
		one := listed{Family: p.Families[c.Family].Title, Label: c.Label, Sizes: sizeRange(sizes[0], sizes[len(sizes)-1]), Least: units.Duration(c.Time[0] / 1e6)}
		best, at := 0.0, 0
		for i, t := range c.Time {
			if bw := float64(sizes[i]) / t / 1e3 * c.Factor; bw > best && !math.IsInf(bw, 0) {
				best, at = bw, i
			}
		}
		if best > 0 {
			one.Best = fmt.Sprintf("%.3g GB/s at %s", best, coll.FormatSize(sizes[at], true))
		}
		all = append(all, one)
	}
	return all
}

// NotListed is how many curves that table lacks.
func (p *page) NotListed() int { return max(0, len(p.Curves)-maxListed) }

// modelled is a model in its table.
type modelled struct {
	Model
	Family, Label string
}

// Modelled are the models of the first curves.
func (p *page) Modelled() (all []modelled) {
	for _, m := range p.Models[:min(len(p.Models), maxListed)] {
		c := p.Curves[m.Curve]
		all = append(all, modelled{m, p.Families[c.Family].Title, c.Label})
	}
	return all
}

// ModelsSay is what models are to be read with.
func (p *page) ModelsSay() string { return modelsSay }

// Unmodelled is how many curves have no model.
func (p *page) Unmodelled() string { return p.unmodelled() }

// pageWords are what the template writes figures with.
var pageWords = template.FuncMap{
	"sizes":   sizeRange,
	"file":    func(p *page, i int) File { return p.Files[i] },
	"date":    func(t string) string { return strings.TrimSuffix(strings.Replace(t, "T", " ", 1), "Z") },
	"some":    func(n int, noun string) string { return units.Count(n, noun) },
	"ms":      ms,
	"met":     func(is *bool) string { return strings.Trim(met(is), " ()") },
	"capital": units.Capital,
	"url":     func(s string) bool { return strings.HasPrefix(s, "https://") },
}

func sizeRange(from, to int64) string {
	if from == to {
		return coll.FormatSize(from, true)
	}
	return coll.FormatSize(from, true) + " to " + coll.FormatSize(to, true)
}
