package report

import (
	"fmt"
	"testing"

	"busbar/post/timeline"
)

func TestTimelineInABrowser(t *testing.T) {
	alone := func(t *timeline.Timeline) *Report { return drawn(OfTimeline(t, timelineOptions), t) }
	inTabs(t, map[string]onPage{
		"plot": {alone(sampleTimeline()), laneValues}, "zoom": {alone(sampleTimeline()), laneZoom},
		"no communication": {alone(silent()), silentLanes},
		"nothing": {OfTimeline(&timeline.Timeline{}, timelineOptions), func(p *tab) {
			p.checks(
				check{"no plot", "", `$("#timeline-picture").hidden`},
				check{"text", "", `text("#timeline").includes("0 GPUs in 0 files")`},
			)
		}},
	})
}

// The plot on the page, and whether all of the time is in sight.
const (
	lanes   = `"#timeline-chart .plot"`
	allTime = `$("#timeline-chart [title='Show all of the time']").disabled`
)

// laneValues looks at what is in the plot, with a mouse and with keys.
func laneValues(p *tab) {
	const said = `text("#timeline-chart [role=status]")`
	p.checks(
		check{"a row for each GPU", "", `$$("#timeline-chart .row-name").length === 4`},
		check{
			"lanes",
			"",
			`["computing", "hidden", "exposed", "copying"].every((c) => $$("#timeline-chart .lane." + c).length === 5)`,
		},
		check{"reason of a row", "", `text(` + lanes + `).includes("straggler")`},
		check{"names of steps", "", `$$("#timeline-chart .step-name").length === 3`},
		check{"all of the time", "", allTime},
		check{"label", "", `$(` + lanes + `).getAttribute("aria-label").startsWith("GPUs over time, ")`},
		check{"alignment", "", `text("#timeline").includes("by the ends of the collectives")`},
		check{
			"what runs under the pointer",
			`point(` + lanes + `, "pointermove", 0.3)`,
			`text("#timeline-chart .readout").includes("rank 0 at ")`,
		},
		check{"on one row", "", `$$("#timeline-chart .cursor").length === 1`},
		check{"gone with it", `point(` + lanes + `, "pointerleave", 0.3)`, `$("#timeline-chart .readout").hidden`},
		check{"the first moment", `press(` + lanes + `, "Home")`, said + `.startsWith("rank 0 at ")`},
		check{"the first call", `press(` + lanes + `, "n")`, `/all_reduce 25 MiB.*none exposed/.test(` + said + `)`},
		check{"its state", "", said + `.includes("overlapped with computing")`},
		check{"the next GPU", `press(` + lanes + `, "ArrowDown")`, said + `.startsWith("rank 1 at ")`},
		check{
			"an exposed call",
			`for (const _ of [1, 2, 3, 4, 5, 6]) press(` + lanes + `, "n")`,
			`/all_reduce 7.82 MiB.* ms exposed/.test(` + said + `)`,
		},
		check{"the call before", `press(` + lanes + `, "p")`, said + `.includes("all_reduce 25 MiB")`},
		check{"put away", `press(` + lanes + `, "Escape")`, `$("#timeline-chart .readout").hidden`},
		check{"a step of the list", `$("#timeline-look .show").click()`, `document.activeElement === $(` + lanes + `)`},
		check{"in sight", "", `$("#timeline-chart select").selectedOptions[0].textContent === "ProfilerStep#3"`},
	)
	p.changes(
		`$(`+lanes+`).getAttribute("aria-label")`,
		`choose("#timeline-chart select", "0")`,
		`choose("#timeline-chart select", "")`,
	)
	p.checks(check{"all of the time", "", allTime})
}

// laneZoom looks into the plot with a mouse, fingers, the wheel, buttons and keys.
func laneZoom(p *tab) {
	const span, zoomIn = `$(` + lanes + `).getAttribute("aria-label")`, `$("#timeline-chart [title='Zoom in']").click()`
	press := func(key string) string { return fmt.Sprintf("press(%s, %q)", lanes, key) }
	for _, act := range []string{
		zoomIn, `drag(` + lanes + `, 0.3, 0.6)`, `wheel(` + lanes + `)`, press("+"),
		`{
		const touch = { pointerType: "touch" };
		point(` + lanes + `, "pointerdown", 0.4, touch);
		drag(` + lanes + `, 0.5, 0.8, { ...touch, pointerId: 2 });
		point(` + lanes + `, "pointerup", 0.4, touch);
		}`,
	} {
		p.changes(span, act)
		p.checks(check{act, "", "!" + allTime})
		p.changes(span, `press(`+lanes+`, "ArrowLeft", true)`, press("0"))
		p.checks(check{"all again", "", allTime})
	}
	p.eval(press("+"))
	p.changes(span, `$("#timeline-chart [title='Earlier']").click()`, `$("#timeline-chart [title='Later']").click()`,
		`press(`+lanes+`, "ArrowRight", true)`, `drag(`+lanes+`, 0.3, 0.5, { shiftKey: true })`,
		`drag(`+lanes+`, 0.6, 0.5, { pointerType: "touch" })`, `wheel(`+lanes+`, { shiftKey: true })`, press("-"))
	p.checks(check{
		"an end of zooming", `for (let i = 0; i < 40; i++) ` + zoomIn,
		`$("#timeline-chart [title='Zoom in']").disabled && !/NaN/.test($(` + lanes + `).innerHTML)`,
	})
}

// labelsInside is whether no label is cut off.
const labelsInside = `(() => {
  const p = $(` + lanes + `), box = p.getBoundingClientRect();
  return [...p.querySelectorAll("text")].every((t) => {
    const b = t.getBoundingClientRect();
    return b.left >= box.left - 1 && b.right <= box.right + 1 && b.bottom <= box.bottom + 1;
  });
})()`

// labelsApart is whether no two labels of rows, steps, calls or times overlap.
const labelsApart = `(() => {
  const labels = ["> text", ".row-name", ".row-why", ".step-name", ".call-name"].map((s) =>
    "#timeline-chart .plot " + s);
  const boxes = $$(labels.join()).map((t) => t.getBoundingClientRect());
  return boxes.every((a, i) => boxes.slice(0, i).every((b) =>
    a.left >= b.right - 1 || b.left >= a.right - 1 || a.top >= b.bottom - 3 || b.top >= a.bottom - 3));
})()`

// laneContrast reports whether lanes have enough contrast with the page.
const laneContrast = `["computing", "hidden", "exposed", "copying"].every((name) => {
  const colour = getComputedStyle($("#timeline-chart .plot .lane." + name)).fill;
  return contrastOf(colour, colourOfVariable("paper")) >= (name === "computing" ? 2 : 2.5);
})`

// hostileGPUs is a timeline whose names are ones that a page could trip over.
func hostileGPUs() *timeline.Timeline {
	t := sampleTimeline()
	for i := range t.Devices {
		d, name := &t.Devices[i], hostiles[i]
		d.Label, d.Host, d.GPU, t.Files[i].Path = name, name, name, name
		for j := range d.Steps {
			d.Steps[j].Name = fmt.Sprintf("%s#%d", name, j)
		}
	}
	return t
}

// silent is one GPU without steps and without communication.
func silent() *timeline.Timeline {
	return &timeline.Timeline{
		Files: []timeline.File{{Path: "one.sqlite"}},
		Devices: []timeline.Device{
			{Label: "GPU 0", Kernels: 4, Parts: timeline.Parts{Span: 50, Compute: 40, Idle: 10}},
		},
	}
}

func silentLanes(p *tab) {
	p.checks(
		check{
			"in short",
			"",
			`/No communication ran.*1 GPU in 1 file, without steps/s.test(text("main"))`,
		},
		check{"one row", "", `$$("#timeline-chart .row-name").length === 1`},
		check{"no invalid value", "", `!/NaN|undefined|null/.test(text("main"))`},
		check{"no list of steps", "", `$("#timeline-chart select").hidden`},
		check{
			"no call",
			`press(` + lanes + `, "n")`,
			`text("#timeline-chart [role=status]").includes("no further call")`,
		},
	)
}
