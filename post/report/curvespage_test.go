package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/analysis"
)

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
		Who: "mpi", Label: "mpi, 2 ranks", Factor: 1, Sizes: []int64{1 << 34}, Time: figures{1}, Lo: figures{0},
		Hi: figures{0}, Launches: []int{1}, Bases: []int{0},
	})
	return r
}

// onPage is a report with what to check of its page.
type onPage struct {
	report *Report
	check  func(*tab)
}

func inTabs(t *testing.T, pages map[string]onPage) {
	t.Helper()
	b := browser(t)
	for name, one := range pages {
		t.Run(name, func(t *testing.T) {
			p := open(t, b, one.report)
			p.width(1400)
			one.check(p)
			p.quiet()
		})
	}
}

func TestPageInABrowser(t *testing.T) {
	whole := drawn(sample(), sampleTimeline()) // results beside a timeline
	inTabs(t, map[string]onPage{
		"plot": {severalWorlds(), curveControls}, "zoom": {severalWorlds(), curveZoom},
		"rest": {severalWorlds(), otherControls}, "table": {severalWorlds(), tableControls},
		"hostile names": {drawn(hostileReport(), hostileGPUs()), hostileNames},
		"one point first": {onePointFirst(), func(p *tab) {
			p.checks(check{"longest curve", "", `$("#family").value === "1" && $$("#curve-chart .line").length > 0`})
		}},
		"widths and themes": {whole, widthsAndThemes},
		"printing": {whole, func(p *tab) {
			p.print(
				// Chromium leaves boxes of controls empty in heads that a second sheet repeats
				check{"heads", "", `$$("th button").every((e) => display(e) === "contents")`},
				check{"plot", "", `$("#curve-chart .plot").getBoundingClientRect().height > 100`},
				check{"lanes", "", `$$("#timeline-chart .plot .lane").length === 16`},
				check{"legend", "", `$(".lanes-legend").getBoundingClientRect().height > 5`},
			)
		}},
	})
	t.Run("many points", func(t *testing.T) {
		needs.TestAll(t)
		p := open(t, browser(t), build(variants(100), func(f *analysed) { f.Models = analysis.ModelOf }))
		manyPoints(p)
		p.quiet()
	})
	t.Run("no script", func(t *testing.T) {
		withoutScript(t, browser(t), whole, "Bandwidth is 20 % below the trend", "Data quality",
			"Curve summary", "ProfilerStep#3: 7.000 of 33.300 ms exposed, rank 3", "35.000")
	})
}

func widthsAndThemes(p *tab) {
	p.eval(`$$("details").forEach((d) => { d.open = true; }); 0`)
	p.widths(
		check{"plot", "", `$("#curve-chart .plot").viewBox.baseVal.width <= innerWidth`},
		check{"contrast", "", contrast},
		check{"lanes", "", `$(` + lanes + `).viewBox.baseVal.width <= innerWidth`},
		check{"labels inside", "", labelsInside},
		check{"labels apart", "", labelsApart},
		check{"contrast of lanes", "", laneContrast},
		check{
			"names of calls",
			`$("#timeline-look .show").click()`,
			`$$("#timeline-chart .call-name").length > 0 || innerWidth < 800`,
		},
		check{"labels apart in a step", "", labelsApart},
		check{"all again", `press(` + lanes + `, "0")`, allTime},
	)
}

// curveControls tries all that changes the plot of curves.
func curveControls(p *tab) {
	const lines = `$$("#curve-chart .line").length`
	const only = `$$("#curve-chart .legend button").find((b) => b.textContent.startsWith("mpi, 4 ranks")).click()`
	p.checks(
		check{"curves of the first operation", "", lines + " === 3"},
		check{"watermark", "", `text("#curve-chart .water") === "SIMULATED"`},
		check{"peak, with its curves", "", `text("#curve-chart .ceiling-name") === "link 9.00 GB/s (1 of 3 curves)"`},
		check{"no peak of a hidden curve", only, `$$("#curve-chart .ceiling").length === 0`},
		check{"link to the finding", only, `$("#curve-chart .badge").getAttribute("href") === "#finding-1"`},
		check{"one region of a finding on three curves", "", `$$("#curve-chart .region").length === 1`},
		check{"bands", "", `$$("#curve-chart .band").length === 3`},
		check{"no models at first", "", `$$("#curve-chart .model").length === 0`},
		check{"a model of each measured curve", `$("#models").click()`, `$$("#curve-chart .model").length === 2`},
		check{"models on their points", "", modelsOnPoints},
		check{"no bands", `$("#bands").click()`, `$$("#curve-chart .band").length === 0`},
		check{"no shades", `$("#shades").click()`, `$$("#curve-chart .region").length === 0`},
		check{"shades again", `$("#shades").click()`, `$$("#curve-chart .region").length === 1`},
		check{"a curve less", `$("#curve-chart .legend button").click()`, lines + " === 2"},
		check{"no curve", `$("#curve-chart [title='Hide all curves']").click()`, lines + " === 0"},
		check{"all curves", `$("#curve-chart [title='Show all curves']").click()`, lines + " === 3"},
	)
	for _, button := range []string{
		"#metric [data-key=algbw]", "#metric [data-key=time]", "#metric [data-key=busbw]", "#xscale [data-key=linear]",
		"#yscale [data-key=log]", "#xscale [data-key=log]", "#yscale [data-key=linear]",
	} {
		p.changes(`$("#curve-chart .line").getAttribute("d")`, fmt.Sprintf("$(%q).click()", button))
		p.checks(check{button, "", fmt.Sprintf(`$(%q).getAttribute("aria-pressed") === "true"`, button)})
	}
	p.checks(
		check{"shown finding", `$("#finding-1 .show").click()`, `document.activeElement === $("#curve-chart .plot")`},
		check{"zoomed to", "", `!$("#curve-chart [title='Show all sizes']").disabled`},
		check{"another operation", `choose("#family", "1")`, lines + " === 1"},
		check{"with the finding", "", `$("#curve-chart .badge").getAttribute("href") === "#finding-1"`},
		check{"one world", "", `$("#scaling").hidden`},
		check{
			"two worlds",
			`choose("#family", "0")`,
			`!$("#scaling").hidden && $$("#scaling-chart .line").length === 1`,
		},
		check{
			"at another size", `choose("#scaling-size", "1024")`,
			`$("#scaling-chart .plot").getAttribute("aria-label").includes("1 KiB")`,
		},
	)
}

// modelsOnPoints is whether each model ends where a curve does.
const modelsOnPoints = `(() => {
  const ends = (s) => $$(s).map((l) => Number(l.getAttribute("d").split(" ").pop()));
  const lines = ends("#curve-chart .line");
  return ends("#curve-chart .model").every((y) => lines.some((l) => Math.abs(l - y) < 4));
})()`

// otherControls tries the theme, and copying.
func otherControls(p *tab) {
	for _, theme := range []string{"light", "dark", "auto"} {
		p.checks(check{"theme", `$("#theme").click()`, fmt.Sprintf(`text("#theme") === "Theme: %s"`, theme)})
	}
	p.eval(`$("#findings summary").click(); $(".copy button").click(); 0`)
	p.run(chromedp.Poll(`document.querySelector(".copy button").textContent !== "Copy"`, nil))
}

// curveZoom looks into the plot with mouse, wheel and keys.
func curveZoom(p *tab) {
	const reset, plot = `$("#curve-chart [title='Show all sizes']")`, `"#curve-chart .plot"`
	p.checks(
		check{"all sizes at first", "", reset + ".disabled"},
		check{
			"values under the pointer",
			`point(` + plot + `, "pointermove", 0.5)`,
			`text("#curve-chart .readout").includes("95 % CI")`,
		},
		check{"gone with it", `point(` + plot + `, "pointerleave", 0.5)`, `$("#curve-chart .readout").hidden`},
	)
	for _, act := range []string{
		`$("#curve-chart [title='Zoom in']").click()`, `drag(` + plot + `, 0.3, 0.6)`, `wheel(` + plot + `)`,
		`press(` + plot + `, "+")`,
	} {
		p.checks(
			check{act, act, "!" + reset + ".disabled"},
			check{"all sizes again", reset + ".click()", reset + ".disabled"},
		)
	}
	p.eval(`$("#curve-chart [title='Zoom in']").click()`)
	p.checks(check{"out again", `$("#curve-chart [title='Zoom out']").click()`, reset + ".disabled"})
	for _, key := range [][2]string{
		{"Home", "1 KiB"}, {"ArrowRight", "4 KiB"}, {"End", "4 MiB"}, {"ArrowLeft", "1 MiB"},
	} {
		p.checks(
			check{
				key[0],
				fmt.Sprintf("press(%s, %q)", plot, key[0]),
				fmt.Sprintf(`text("#curve-chart .readout b") === %q`, key[1]),
			},
			check{"status", "", fmt.Sprintf(`text("#curve-chart [role=status]").startsWith("%s: ")`, key[1])},
		)
	}
	p.checks(check{"no values", `press(` + plot + `, "Escape")`, `$("#curve-chart .readout").hidden`})
}

// tableControls tries every filter, and the order by every column.
func tableControls(p *tab) {
	const rows = `$$("#table tbody tr").length`
	all := check{"all points", `$("#clear").click()`, rows + " === 28"}
	p.checks(all, check{"filters", "", `$$("#filters select").length === 6`})
	for i := range 6 {
		select1 := fmt.Sprintf(`{ const s = $$("#filters select")[%d]; s.selectedIndex = 1; `, i)
		act := select1 + `s.dispatchEvent(new Event("change")); }`
		same := fmt.Sprintf(`["Mode", "Placement"].includes($$("#filters select")[%d].ariaLabel)`, i)
		p.checks(check{"filtered points", act, rows + " > 0 && (" + rows + " < 28 || " + same + ")"}, all)
	}
	p.checks(
		check{"found by words", `choose("#filters input", "all_gather")`, rows + " === 7"},
		check{
			"found nothing",
			`choose("#filters input", "nowhere")`,
			rows + ` === 0 && text("#table-says").startsWith("No point")`,
		},
		all,
	)
	for i := range int(p.eval(`$$("#table th button").length`).(float64)) {
		for _, order := range []string{"ascending", "descending"} {
			act := fmt.Sprintf(`$$("#table th button")[%d].click()`, i)
			p.checks(check{order, act, fmt.Sprintf(`$$("#table th")[%d].ariaSort === %q`, i, order)})
		}
	}
	const size = `$$("#table th").findIndex((th) => th.textContent === "Size")`
	p.checks(check{
		"the smallest first", `$$("#table th button")[` + size + `].click()`,
		`$("#table tbody tr").children[` + size + `].textContent === "1 KiB"`,
	})
}

// contrast reports whether texts have enough contrast with their background.
const contrast = `["paper", "panel", "mark"].every((back) => ["ink", "muted", "link", "error", "warning"].every(
  (ink) => contrastOf(colourOfVariable(ink), colourOfVariable(back)) >= 4.5))`

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
			f.Findings = append(f.Findings, analysis.Finding{
				Number: i + 1, Notice: notice.New(notice.Recorded{Text: name}), Curve: f.Curves[0],
				From: 1024, To: 4096,
				Hints: []analysis.Hint{{Tip: "nccl-protocol", Had: &name, Variable: "X", Value: name, Sweep: name}},
			})
		}
		for _, name := range hostiles {
			f.Headlines = append(f.Headlines, notice.Recorded{Text: name})
		}
		f.Ceilings = func(*analysis.Curve) analysis.Ceiling { return peakOf9(hostiles[0], hostiles[1]) }
	})
}

func hostileNames(p *tab) {
	p.eval(`$$("details").forEach((d) => { d.open = true; }); 0`)
	const elements = `$$("img, [onerror], [onload], a[href^=javascript]").length === 0 && document.scripts.length === 2`
	p.checks(check{"no element", "", elements})
	for i, name := range hostiles {
		p.checks(
			check{"headline", "", fmt.Sprintf(`text("#short ul").includes(%q)`, name)},
			check{"legend", "", fmt.Sprintf(`text("#curve-chart .legend").includes(%q)`, name)},
		)
		if i < 4 { // GPUs
			p.checks(check{"row", "", fmt.Sprintf(`text(`+lanes+`).includes(%q)`, name)})
		}
	}
	p.eval(`press("#curve-chart .plot", "Home"); press(` + lanes + `, "Home"); press(` + lanes + `, "n"); 0`)
	p.widths()
	const policy = `$("meta[http-equiv=Content-Security-Policy]").content.startsWith("default-src 'none'")`
	p.checks(check{"policy", "", policy})
}

func manyPoints(p *tab) {
	p.checks(
		check{"all points", "", `text("#table-says").startsWith("30,000 of 30,000")`},
		check{"on one page", "", `$$("#table tbody tr").length === 50`},
		check{"the next page", `$("#pager button:nth-child(2)").click()`, `text("#pager").includes("page 2 of 600")`},
		check{"and back", `$("#pager button:nth-child(1)").click()`, `text("#pager").includes("page 1 of 600")`},
		check{"some of the curves", "", `$$("#curve-chart .line").length === 9`},
		check{"all", `$("#curve-chart [title='Show all curves']").click()`, `$$("#curve-chart .line").length === 100`},
	)
}
