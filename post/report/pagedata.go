package report

import (
	"embed"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/post/analysis"
)

//go:embed page
var pageFiles embed.FS

// pageScripts are in the order in which they are on the page.
var pageScripts = strings.Fields("base scale chart draw curves table lanes timeline page")

// pageData is what the script of the page plots and lists. Texts in it are not markup.
type pageData struct {
	Families []family  `json:"families"`
	First    int       `json:"first"` // index of the family with the highest bandwidth, which the page plots first
	Curves   []curve   `json:"curves"`
	Notes    []string  `json:"notes"` // on points, each text once: curve.Notes has their indices
	Bases    []string  `json:"bases"` // what bounds are: curve.Bases has their indices
	Regions  []region  `json:"regions"`
	Timeline *lanePlot `json:"timeline"`
}

// MarshalJSON writes all lists, also empty ones, so that the script reads no null.
func (d pageData) MarshalJSON() ([]byte, error) {
	type plain pageData
	return json.Marshal(plain(d), jsontext.AllowInvalidUTF8(true))
}

// family is what the curves of one plot share: everything but the contender, its world, and the size.
type family struct {
	Title      string `json:"title"`
	Collective string `json:"collective"`
	Type       string `json:"type"` // "" where another tool's file does not have it; so with the placement
	Op         string `json:"op"`   // "" where nothing is reduced
	Root       int    `json:"root"` // -1: none
	Placement  string `json:"placement"`
	Mode       string `json:"mode"`
	Way        string `json:"way"` // what is unusual in how it was measured
}

// curve is the times of one contender in one world over sizes; lists are by size. It has many fields because it is one
// object of the JSON that the page's script reads.
type curve struct {
	Family    int       `json:"family"` // index in pageData.Families
	Who       string    `json:"who"`
	Backend   string    `json:"backend"`
	World     int       `json:"world"`
	Label     string    `json:"label"`  // who and world, in a legend
	Factor    float64   `json:"factor"` // busbw over algbw; algbw is the size over the time
	Sizes     []int64   `json:"sizes"`  // bytes, ascending
	Time      figures   `json:"time_us"`
	Lo        figures   `json:"lo_us"` // 0: no bounds there
	Hi        figures   `json:"hi_us"`
	Bases     []int     `json:"bases"`
	Launches  []int     `json:"launches"`
	Notes     [][]int   `json:"notes,omitempty"` // none where no point has one
	Segments  []segment `json:"segments,omitempty"`
	Peak      *peak     `json:"peak,omitempty"`
	Simulated bool      `json:"simulated,omitempty"`
	Imported  bool      `json:"imported,omitempty"`
	Crowded   bool      `json:"crowded,omitempty"` // its times do not show speed

	shape    analysis.Shape
	model    string
	peakNote string // where the peak comes from, or why none is known
}

// peak is what the hardware lets one expect.
type peak struct {
	GBps float64 `json:"gbps"` // bus bandwidth, 1e9 bytes per second
	Name string  `json:"name"`
}

// segment is a line of a model over measured sizes: the time is Figures[0] + Figures[1] per byte, in microseconds.
type segment struct {
	From    int64   `json:"from"` // bytes, both of measured sizes
	To      int64   `json:"to"`
	Figures figures `json:"us"`
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

// basisTexts are what bounds are, by stats.Basis.
var basisTexts = []string{
	stats.NoBounds: "none", stats.WithinLaunch: "95 % CI within the launch",
	stats.LaunchSpread: "minimum and maximum over launches", stats.AcrossLaunches: "95 % CI over launches",
}

// figures are numbers that are written with five digits. Values that are not numbers are null.
type figures []float64

// MarshalJSON writes a list, which is never null.
func (f figures) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+8*len(f)), '[')
	for i, x := range f {
		if i > 0 {
			b = append(b, ',')
		}
		if x = rounded(x); math.IsNaN(x) || math.IsInf(x, 0) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
	}
	return append(b, ']'), nil
}

// rounded is a number of five digits.
func rounded(x float64) float64 {
	// the only error is that the largest numbers may be rounded up to infinity
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return short
}

// WritePage writes the report as one HTML file that loads nothing.
func (r *Report) WritePage(w io.Writer) error {
	d := form{r, true}.document()
	d.Page = document.Page{Style: pageFile("page.css"), Data: r.pageData()}
	for _, name := range pageScripts {
		d.Page.Script += pageFile(name + ".js")
	}
	return d.WriteHTML(w)
}

func (r *Report) pageData() pageData {
	data := r.charts
	data.Bases = basisTexts
	if r.timeline != nil {
		data.Timeline = &r.timeline.plot
	}
	return data
}

// pageFile is an embedded file; every test of the page tests that it exists.
func pageFile(name string) string {
	text, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// chart is one that the script plots: NAME-picture into the elements of page/NAME.html.
func chart(id, title string) *document.Chart {
	name, _, _ := strings.Cut(id, "-")
	return &document.Chart{ID: id, Title: title, HTML: template.HTML(pageFile(name + ".html")), Scripted: true}
}
