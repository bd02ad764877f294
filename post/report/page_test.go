package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	printer "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// screenshots is the variable that names a folder in which pictures of the page are kept.
const screenshots = "BUSBAR_SCREENSHOTS"

// patience is generous: nothing here measures time.
const patience = 3 * time.Minute

// browser is one Chromium for all tests, with one tab for each page.
func browser(t *testing.T) context.Context {
	t.Helper()
	needs.Command(t, "chromium", "the page is looked at in it; make test installs it")
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.UserDataDir(profile(t)),
		chromedp.WSURLReadTimeout(patience),
	)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // it ends by itself, where it can
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	return ctx
}

// profile is a folder for a browser, whose processes may write a moment longer than the first of them lives.
func profile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "busbar-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for tries := 0; os.RemoveAll(dir) != nil && tries < 100; tries++ {
			time.Sleep(50 * time.Millisecond)
		}
	})
	return dir
}

// tab is a page that is open, and what it complained of.
type tab struct {
	*testing.T
	ctx  context.Context
	file string
	mu   sync.Mutex
	bad  []string
}

// open shows a report from a file.
func open(t *testing.T, browser context.Context, r *Report) *tab {
	t.Helper()
	var text bytes.Buffer
	if err := r.WritePage(&text); err != nil {
		t.Fatal(err)
	}
	p := &tab{T: t, file: filepath.Join(t.TempDir(), "report.html")}
	if err := os.WriteFile(p.file, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	p.ctx = ctx
	chromedp.ListenTarget(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.bad = append(p.bad, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			p.bad = append(p.bad, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
		case *network.EventRequestWillBeSent:
			if e.Request.URL != p.address() {
				p.bad = append(p.bad, "request for "+e.Request.URL)
			}
		case *printer.EventJavascriptDialogOpening:
			p.bad = append(p.bad, "dialog: "+e.Message)
		}
	})
	p.run(network.Enable(), chromedp.Navigate(p.address()), chromedp.WaitReady("#data", chromedp.ByQuery))
	return p
}

func (p *tab) address() string { return (&url.URL{Scheme: "file", Path: p.file}).String() }

func (p *tab) run(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// eval is the value of an expression on the page.
func (p *tab) eval(expression string) (value any) {
	p.Helper()
	if err := chromedp.Run(p.ctx, chromedp.Evaluate(expression, &value)); err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// want fails where an expression on the page is not true.
func (p *tab) want(what, expression string) {
	p.Helper()
	if got := p.eval(expression); got != true {
		p.Errorf("%s: %s is %v", what, expression, got)
	}
}

func (p *tab) click(selector string) {
	p.Helper()
	p.eval(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// quiet fails where the page complained, or asked for anything.
func (p *tab) quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, bad := range p.bad {
		p.Error(bad)
	}
}

func (p *tab) width(width int64) {
	p.Helper()
	p.run(
		emulation.SetDeviceMetricsOverride(width, 900, 1, false),
		chromedp.Evaluate(
			`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`,
			nil,
			func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
				return e.WithAwaitPromise(true)
			},
		),
	)
}

func (p *tab) theme(name string) {
	p.Helper()
	p.run(
		emulation.SetEmulatedMedia().
			WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}),
	)
}

// picture keeps a picture of the whole page, where that was asked for.
func (p *tab) picture(name string) {
	p.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return
	}
	var png []byte
	p.run(chromedp.FullScreenshot(&png, 100))
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)); err != nil {
		p.Fatal(err)
	}
}

// severalWorlds is a report with two worlds, of which one was rehearsed, and sizes with bounds.
func severalWorlds() *Report {
	runs := []*made{runOf(1, "mpi", coll.AllReduce, coll.AllGather), runOf(2, "nccl", coll.AllReduce)}
	wide := runOf(3, "mpi", coll.AllReduce)
	wide.run.World, wide.run.RanksPerNode = 8, 4
	for _, r := range wide.records {
		r.World = 8
	}
	runs[1].run.Rehearse = true
	return build(append(runs, wide), func(f *analysed) {
		f.Findings = []analysis.Finding{
			{Number: 1, Notice: dropBy(0.2, notice.Error), Curve: f.Curves[0], From: 64 << 10, To: 256 << 10,
				Also:  alsoOn(f.Curves[1:], 16<<10, 16<<10),
				Hints: []analysis.Hint{{Tip: "nccl-protocol", Variable: "X", Value: "1"}}},
		}
		f.Ceilings = func(c *analysis.Curve) analysis.Ceiling {
			if c.Rehearsed || c.World != 4 {
				return analysis.Ceiling{Fact: notice.PeakUnknown{Reason: notice.UnknownNodes}}
			}
			return peakOf9("link", "9 GB/s")
		}
		f.Models = analysis.ModelOf
	})
}

// peakOf9 is a peak of 9 GB/s.
func peakOf9(name, text string) analysis.Ceiling {
	return analysis.Ceiling{BusBW: 9e9, Name: name, Fact: notice.PeakGiven{Text: text}, Source: text}
}

// dropBy is a drop of bandwidth.
func dropBy(share units.Share, severity notice.Severity) notice.Notice {
	return notice.Notice{
		Severity: severity,
		Fact:     notice.Drop{Outlier: notice.Outlier{Depth: share, At: notice.Value{Size: 64 << 10, Time: 1e-5}}},
	}
}

// alsoOn are the same sizes of curves.
func alsoOn(curves []*analysis.Curve, from, to int64) (places []analysis.Place) {
	for _, c := range curves {
		places = append(places, analysis.Place{Curve: c, From: from, To: to, Notice: dropBy(0.2, notice.Error)})
	}
	return places
}

// onePointFirst is a report whose first operation was measured at one size.
func onePointFirst() *Report {
	r := sample()
	to := &r.charts
	for i := range to.Curves {
		to.Curves[i].Family++
	}
	to.Families = append([]family{{Title: "sendrecv float32", Collective: "sendrecv", Type: "float32"}}, to.Families...)
	to.Curves = append(to.Curves, curve{
		Who: "mpi", Label: "mpi, 2 ranks", Factor: 1, Sizes: []int64{1 << 34}, Time: figures{1}, Lo: figures{0}, Hi: figures{0},
		Launches: []int{1}, Bases: []int{0},
	})
	return r
}

func TestPageInABrowser(t *testing.T) {
	b := browser(t)
	t.Run("controls", func(t *testing.T) { controls(open(t, b, severalWorlds())) })
	t.Run("first picture", func(t *testing.T) {
		p := open(t, b, onePointFirst())
		p.want(
			"of the longest curve",
			`byId("family").value === "1" && document.querySelectorAll("#curve-chart .line").length > 0`,
		)
	})
	t.Run("table", func(t *testing.T) { tableControls(open(t, b, severalWorlds())) })
	t.Run("widths and themes", func(t *testing.T) { widths(open(t, b, sample())) })
	t.Run("hostile names", func(t *testing.T) { hostile(open(t, b, hostileReport())) })
	t.Run("printing", func(t *testing.T) { printing(open(t, b, sample())) })
	t.Run("many points", func(t *testing.T) {
		needs.TestAll(t)
		manyPoints(open(t, b, build(variants(100), func(f *analysed) { f.Models = analysis.ModelOf })))
	})
	t.Run("no script", func(t *testing.T) { noScript(t, b) })
}

// controls tries all that changes the plots, the theme, and the map of ranks.
func controls(p *tab) {
	p.width(1400)
	const plot = `document.querySelector("#curve-chart .plot")`
	lines := func() string { return plot + `.querySelectorAll(".line").length` }
	p.want("curves of the first operation", lines()+" === 3")
	p.want("watermark", plot+`.querySelector(".water").textContent === "SIMULATED"`)
	p.want(
		"ceiling, with the curve that it is for",
		plot+`.querySelectorAll(".ceiling").length === 1 && `+plot+`.querySelector(".ceiling-name").textContent === "link 9.00 GB/s (1 of 3 curves)"`,
	)
	only := `[...document.querySelectorAll("#curve-chart .legend button")].find((b) => b.textContent.startsWith("mpi, 4 ranks")).click()`
	p.eval(only)
	p.want("no ceiling of a hidden curve", plot+`.querySelectorAll(".ceiling").length === 0`)
	p.eval(only)
	p.want("number of the finding", plot+`.querySelector(".badge").getAttribute("href") === "#finding-1"`)
	p.want("one region of a finding on three curves", plot+`.querySelectorAll(".region").length === 1`)
	p.want("bands", plot+`.querySelectorAll(".band").length === 3`)
	p.want(
		"models",
		`document.querySelectorAll("#models tbody tr").length === 3 && document.querySelector("#models tbody td:nth-child(4)").textContent.startsWith("5.0")`,
	)
	p.want("no laws at first", plot+`.querySelectorAll(".law").length === 0`)
	p.click("#laws")
	p.want("a law of each measured curve", plot+`.querySelectorAll(".law").length === 2`)
	p.want(
		"which lies on its points",
		`(() => { const ends = (c) => [...document.querySelectorAll("#curve-chart ." + c)].map((l) => Number(l.getAttribute("d").split(" ").pop())); const lines = ends("line"); return ends("law").every((y) => lines.some((l) => Math.abs(l - y) < 4)); })()`,
	)
	p.click("#laws")
	p.click("#bands")
	p.want("no bands", plot+`.querySelectorAll(".band").length === 0`)
	p.click("#shades")
	p.want("no shades", plot+`.querySelectorAll(".region").length === 0`)
	p.click("#shades")
	p.click("#curve-chart .legend button")
	p.want("a curve less", lines()+" === 2")
	p.click("#curve-chart [title='Hide all curves']")
	p.want("no curve", lines()+" === 0")
	p.click("#curve-chart [title='Show all curves']")
	p.want("all curves", lines()+" === 3")
	for _, metric := range []string{"algbw", "time", "busbw"} {
		before := p.eval(plot + `.querySelector(".line").getAttribute("d")`)
		p.click("#metric [data-key=" + metric + "]")
		if after := p.eval(plot + `.querySelector(".line").getAttribute("d")`); after == before {
			p.Errorf("%s draws what was drawn before", metric)
		}
		p.want(
			metric+" is pressed",
			`document.querySelector("#metric [aria-pressed=true]").dataset.key === "`+metric+`"`,
		)
	}
	for _, axis := range []string{"#xscale [data-key=linear]", "#yscale [data-key=log]", "#xscale [data-key=log]", "#yscale [data-key=linear]"} {
		before := p.eval(plot + `.querySelector(".line").getAttribute("d")`)
		if p.click(axis); p.eval(plot+`.querySelector(".line").getAttribute("d")`) == before {
			p.Errorf("%s changes nothing", axis)
		}
	}
	zooms(p, plot)
	p.click("#finding-1 .show")
	p.want("a finding is shown", `document.activeElement === `+plot)
	p.want("which is zoomed to", `!document.querySelector("#curve-chart [title='Show all sizes']").disabled`)
	p.eval(`{ const s = byId("family"); s.value = "1"; s.dispatchEvent(new Event("change")); 0 }`)
	p.want("another operation", lines()+" === 1")
	p.want("where the finding is too", plot+`.querySelector(".badge").getAttribute("href") === "#finding-1"`)
	p.want("which has one world", `byId("scaling").hidden`)
	p.eval(`{ const s = byId("family"); s.value = "0"; s.dispatchEvent(new Event("change")); 0 }`)
	p.want("over ranks", `!byId("scaling").hidden && document.querySelectorAll("#scaling-chart .line").length === 1`)
	p.eval(`{ const s = byId("scaling-size"); s.value = "1024"; s.dispatchEvent(new Event("change")); 0 }`)
	p.want(
		"at another size",
		`document.querySelector("#scaling-chart .plot").getAttribute("aria-label").includes("1 KiB")`,
	)
	for _, theme := range []string{"light", "dark", "auto"} {
		p.click("#theme")
		p.want(
			"theme",
			`byId("theme").textContent === "Theme: `+theme+`" && (document.documentElement.dataset.theme || "auto") === "`+theme+`"`,
		)
	}
	p.want("ranks", `document.querySelectorAll("#heat-map tbody tr").length === 4`)
	p.want("the slow rank", `document.querySelector("#heat-map tbody tr:last-child td").textContent === "+10 %"`)
	p.click("#heat-figure [data-key=late]")
	p.want("lateness", `document.querySelector("#heat-map tbody tr:last-child td").textContent === "3.00 µs"`)
	p.eval(`{ const s = byId("heat"); s.value = "1"; s.dispatchEvent(new Event("change")); 0 }`)
	p.want(
		"another curve's ranks",
		`byId("heat").value === "1" && document.querySelectorAll("#heat-map tbody tr").length === 4`,
	)
	p.click("#findings summary")
	p.click(".copy button")
	p.run(chromedp.Poll(`document.querySelector(".copy button").textContent !== "Copy"`, nil))
	p.quiet()
}

// zooms looks into the plot with mouse, wheel and keys.
func zooms(p *tab, plot string) {
	const reset = `document.querySelector("#curve-chart [title='Show all sizes']")`
	const key = `{ const k = (key) => ` + `document.querySelector("#curve-chart .plot").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); `
	mouse := func(kind string, x float64) string {
		return fmt.Sprintf(
			`{ const p = %s, b = p.getBoundingClientRect(); p.setPointerCapture = () => {}; p.dispatchEvent(new PointerEvent(%q, { clientX: b.left + b.width * %g, clientY: b.top + 100, bubbles: true, pointerId: 1 })); 0 }`,
			plot,
			kind,
			x,
		)
	}
	p.want("all sizes at first", reset+".disabled")
	p.eval(mouse("pointermove", 0.5))
	p.want(
		"values under the pointer",
		`!document.querySelector("#curve-chart .readout").hidden && document.querySelector("#curve-chart .readout").textContent.includes("95 % CI")`,
	)
	p.eval(mouse("pointerleave", 0.5))
	p.want("gone with it", `document.querySelector("#curve-chart .readout").hidden`)
	for _, way := range []struct{ what, act string }{
		{"the button", `document.querySelector("#curve-chart [title='Zoom in']").click()`},
		{"dragging", mouse("pointerdown", 0.3) + mouse("pointermove", 0.6) + mouse("pointerup", 0.6)},
		{"the wheel", plot + `.focus(); ` + plot + `.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: 700, bubbles: true, cancelable: true })); 0`},
		{"plus", key + `k("+"); 0 }`},
	} {
		p.eval(way.act)
		p.want(way.what+" zooms", "!"+reset+".disabled")
		p.eval(reset + ".click()")
		p.want("all sizes again", reset+".disabled")
	}
	p.eval(`document.querySelector("#curve-chart [title='Zoom in']").click()`)
	p.eval(`document.querySelector("#curve-chart [title='Zoom out']").click()`)
	p.want("out again", reset+".disabled")
	p.eval(key + `k("Home"); 0 }`)
	p.want("keys show values", `document.querySelector("#curve-chart .readout b").textContent === "1 KiB"`)
	p.want("and say them", `document.querySelector("#curve-chart [role=status]").textContent.startsWith("1 KiB: ")`)
	p.eval(key + `k("ArrowRight"); 0 }`)
	p.want("the next", `document.querySelector("#curve-chart .readout b").textContent === "4 KiB"`)
	p.eval(key + `k("End"); k("ArrowLeft"); 0 }`)
	p.want("the last but one", `document.querySelector("#curve-chart .readout b").textContent === "1 MiB"`)
	p.eval(key + `k("Escape"); 0 }`)
	p.want("no values", `document.querySelector("#curve-chart .readout").hidden`)
}

// tableControls tries every filter, the order by every column, and the pages.
func tableControls(p *tab) {
	const rows = `document.querySelectorAll("#table tbody tr").length`
	p.want("all points", rows+" === 28")
	filters := int(p.eval(`document.querySelectorAll("#filters select").length`).(float64))
	if filters != 6 {
		p.Errorf("%d filters", filters)
	}
	for i := range filters {
		p.eval(
			fmt.Sprintf(
				`{ const s = document.querySelectorAll("#filters select")[%d]; s.selectedIndex = 1; s.dispatchEvent(new Event("change")); 0 }`,
				i,
			),
		)
		p.want("a filter leaves some", rows+" > 0")
		if name := p.eval(fmt.Sprintf(`document.querySelectorAll("#filters select")[%d].ariaLabel`, i)); name != "Mode" &&
			name != "Placement" {
			p.want(fmt.Sprint(name, " leaves some out"), rows+" < 28")
		}
		p.click("#clear")
		p.want("all points again", rows+" === 28")
	}
	p.eval(
		`{ const s = document.querySelector("#filters input"); s.value = "all_gather"; s.dispatchEvent(new Event("input")); 0 }`,
	)
	p.want("found by words", rows+" === 7")
	p.eval(
		`{ const s = document.querySelector("#filters input"); s.value = "nowhere"; s.dispatchEvent(new Event("input")); 0 }`,
	)
	p.want("found nothing", rows+` === 0 && byId("table-says").textContent.startsWith("No point")`)
	p.click("#clear")
	columns := int(p.eval(`document.querySelectorAll("#table th button").length`).(float64))
	for i := range columns {
		p.eval(fmt.Sprintf(`document.querySelectorAll("#table th button")[%d].click()`, i))
		p.want("ascending", fmt.Sprintf(`document.querySelectorAll("#table th")[%d].ariaSort === "ascending"`, i))
		p.eval(fmt.Sprintf(`document.querySelectorAll("#table th button")[%d].click()`, i))
		p.want("descending", fmt.Sprintf(`document.querySelectorAll("#table th")[%d].ariaSort === "descending"`, i))
	}
	const size = `[...document.querySelectorAll("#table th")].findIndex((th) => th.textContent === "Size")`
	p.eval(`document.querySelectorAll("#table th button")[` + size + `].click()`)
	p.want("the smallest first", `document.querySelector("#table tbody tr").children[`+size+`].textContent === "1 KiB"`)
	p.quiet()
}

func widths(p *tab) {
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		for _, width := range []int64{360, 800, 1400} {
			p.width(width)
			p.want(fmt.Sprintf("no sideways scroll at %d", width), `document.documentElement.scrollWidth <= innerWidth`)
			p.want(
				"a plot that is as wide as its place",
				`document.querySelector("#curve-chart .plot").viewBox.baseVal.width <= innerWidth`,
			)
			p.picture(fmt.Sprintf("sample-%d-%s", width, theme))
		}
	}
	p.want("contrast of text", contrast)
	p.theme("light")
	p.want("contrast of text in light", contrast)
	p.quiet()
}

// contrast says whether the colours of texts stand out from what they are written on, by WCAG's formula.
const contrast = `(() => {
  const probe = document.body.appendChild(document.createElement("i"));
  const light = (name) => {
    probe.style.color = "var(--" + name + ")";
    const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map((c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bad = [];
  for (const back of ["paper", "panel", "mark"]) for (const ink of ["ink", "muted", "link", "error", "warning"]) {
    const a = light(ink), b = light(back), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(ink + " on " + back + " " + ratio.toFixed(2));
  }
  probe.remove();
  return bad.length === 0 || bad.join();
})()`

// hostiles are names that a page could trip over.
var hostiles = []string{
	`<img src=x onerror=alert(1)>`,
	`</script><script>alert(2)</script>`,
	`"'` + "`" + `><svg onload=alert(3)>`,
	"مضيف-١",
	strings.Repeat("long", 60),
	`{{.}}<!--`,
}

func hostileReport() *Report {
	var runs []*made
	for i, name := range hostiles {
		m := runOf(i+1, "mpi", coll.AllReduce)
		m.run.Variant, m.run.Sweep.Name, m.run.Environment = name, name, map[string]string{"X": name}
		m.run.Warnings = notice.Of(notice.FromText(name))
		for j := range m.ranks {
			m.ranks[j].Host = name
		}
		runs = append(runs, m)
	}
	return build(runs, func(f *analysed) {
		for i, name := range hostiles {
			f.Findings = append(
				f.Findings,
				analysis.Finding{
					Number: i + 1,
					Notice: notice.New(notice.Recorded{Text: name}),
					Curve:  f.Curves[0],
					From:   1024,
					To:     4096,
					Hints: []analysis.Hint{
						{Tip: "nccl-protocol", Had: &name, Variable: "X", Value: name, Sweep: name},
					},
				},
			)
		}
		for _, name := range hostiles {
			f.Headlines = append(f.Headlines, notice.Recorded{Text: name})
		}
		f.Ceilings = func(*analysis.Curve) analysis.Ceiling { return peakOf9(hostiles[0], hostiles[1]) }
	})
}

func hostile(p *tab) {
	p.want(
		"nothing became an element",
		`document.querySelectorAll("img, [onerror], [onload]").length === 0 && document.scripts.length === 2`,
	)
	for _, name := range hostiles {
		p.want("shown as it is", fmt.Sprintf(`document.querySelector("#short ul").textContent.includes(%q)`, name))
		p.want(
			"in the legend too",
			fmt.Sprintf(`document.querySelector("#curve-chart .legend").textContent.includes(%q)`, name),
		)
	}
	p.eval(
		`{ const b = document.querySelector("#curve-chart .plot"); b.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" })); 0 }`,
	)
	for _, width := range []int64{360, 800, 1400} {
		p.width(width)
		p.want(fmt.Sprintf("no sideways scroll at %d", width), `document.documentElement.scrollWidth <= innerWidth`)
		p.picture(fmt.Sprintf("hostile-%d", width))
	}
	p.eval(`fetch("https://example.invalid/").catch(() => 0) && 0`)
	p.want(
		"a policy",
		`document.querySelector("meta[http-equiv=Content-Security-Policy]").content.startsWith("default-src 'none'")`,
	)
	p.mu.Lock()
	for _, bad := range p.bad {
		if !strings.Contains(bad, "example.invalid") {
			p.Error(bad)
		}
	}
	p.mu.Unlock()
}

func printing(p *tab) {
	p.run(emulation.SetEmulatedMedia().WithMedia("print"))
	p.eval(`dispatchEvent(new Event("beforeprint"))`)
	p.want("all is open", `document.querySelectorAll("details:not([open])").length === 0`)
	p.want(
		"no controls",
		`[...document.querySelectorAll(".controls, .tools, .top, .pager")].every((e) => getComputedStyle(e).display === "none")`,
	)
	p.want(
		"heads that a second sheet repeats",
		`[...document.querySelectorAll("th button")].every((e) => getComputedStyle(e).display === "contents")`,
	) // Chromium leaves boxes of controls empty there
	p.want("plots stand", `document.querySelector("#curve-chart .plot").getBoundingClientRect().height > 100`)
	p.picture("print")
	var pdf []byte
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = printer.PrintToPDF().Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		p.Error("no PDF")
	}
	p.eval(`dispatchEvent(new Event("afterprint"))`)
	p.want("folded again", `document.querySelectorAll("details:not([open])").length > 0`)
	p.quiet()
}

func manyPoints(p *tab) {
	p.want("all are there", `byId("table-says").textContent.startsWith("27,000 of 27,000")`)
	p.want("on one page", `document.querySelectorAll("#table tbody tr").length === 50`)
	p.click("#pager button:nth-child(2)")
	p.want("the next page", `byId("pager").textContent.includes("page 2 of 540")`)
	p.click("#pager button:nth-child(1)")
	p.want("and back", `byId("pager").textContent.includes("page 1 of 540")`)
	p.want("some of the curves", `document.querySelectorAll("#curve-chart .line").length === 9`)
	p.click("#curve-chart [title='Show all curves']")
	p.want("all of the curves", `document.querySelectorAll("#curve-chart .line").length === 100`)
	p.width(1400)
	p.picture("many")
	p.quiet()
}

// withoutScript shows a page where scripts are off, wants these words, and none of those.
func withoutScript(t *testing.T, b context.Context, r *Report, picture string, want, never []string) {
	t.Helper()
	ctx, end := chromedp.NewContext(b)
	defer end()
	var text bytes.Buffer
	if err := r.WritePage(&text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	var shown string
	if err := chromedp.Run(ctx, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()), chromedp.Text("main", &shown, chromedp.ByQuery)); err != nil {
		t.Fatal(err)
	}
	for _, w := range append([]string{"Scripts are off"}, want...) {
		if !strings.Contains(shown, w) {
			t.Errorf("without a script there is no %q in:\n%s", w, shown)
		}
	}
	for _, n := range never {
		if strings.Contains(shown, n) {
			t.Errorf("without a script there is %q", n)
		}
	}
	p := &tab{T: t, ctx: ctx}
	p.picture(picture)
}

func noScript(t *testing.T, b context.Context) {
	withoutScript(
		t,
		b,
		severalWorlds(),
		"noscript",
		[]string{
			"bandwidth is 20 % below the trend",
			"Data quality",
			"4 on 2 nodes",
			"Each curve in one row",
			"all_gather float32",
		},
		nil,
	)
}
