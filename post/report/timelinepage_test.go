package report

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	printer "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"busbar/internal/notice"
	"busbar/post/timeline"
)

func TestTimelineInABrowser(t *testing.T) {
	b := browser(t)
	t.Run("picture", func(t *testing.T) { pictureControls(open(t, b, drawnReport(sampleTimeline(), 400))) })
	t.Run("tables", func(t *testing.T) { timelineTables(open(t, b, drawnReport(sampleTimeline(), 400))) })
	t.Run("widths and themes", func(t *testing.T) { timelineWidths(open(t, b, drawnReport(sampleTimeline(), 400))) })
	t.Run("beside results", func(t *testing.T) {
		r := sample()
		r.addTimeline(sampleTimeline(), timelineOptions)
		p := open(t, b, r)
		p.want("both", `document.querySelectorAll("#curve-chart .line").length > 0 && document.querySelectorAll("#timeline-gpus tbody tr").length === 4`)
		p.want("a sentence among the first", `document.querySelector("#short ul").textContent.includes("Timeline of 4 GPUs")`)
		p.want("no picture without strips", `byId("timeline-picture").hidden`)
		p.quiet()
	})
	t.Run("hostile names", func(t *testing.T) { hostileTimeline(open(t, b, hostileGPUs())) })
	t.Run("printing", func(t *testing.T) { printedTimeline(open(t, b, drawnReport(sampleTimeline(), 400))) })
	t.Run("no script", func(t *testing.T) { timelineWithoutScript(t, b) })
	t.Run("no communication", func(t *testing.T) { silentTimeline(open(t, b, drawnReport(silent(), 100))) })
	t.Run("nothing at all", func(t *testing.T) {
		p := open(t, b, OfTimeline(&timeline.Timeline{}, timelineOptions))
		p.want("no picture", `byId("timeline-picture").hidden && byId("timeline").textContent.includes("0 GPUs in 0 files")`)
		p.quiet()
	})
}

// lanes is the picture on the page.
const lanes = `document.querySelector("#timeline-chart .plot")`

// keyed presses a key in the picture.
func keyed(key string, shift bool) string {
	return fmt.Sprintf(`%s.dispatchEvent(new KeyboardEvent("keydown", { key: %q, shiftKey: %t, bubbles: true })); 0`, lanes, key, shift)
}

// pointed is what a mouse or a finger does at a share of the picture's width, over the first row.
func pointed(kind string, x float64, more string) string {
	return fmt.Sprintf(`{ const p = %s, b = p.getBoundingClientRect(); p.setPointerCapture = () => {}; p.dispatchEvent(new PointerEvent(%q, { clientX: b.left + b.width * %g, clientY: b.top + 62, bubbles: true, pointerId: 1%s })); 0 }`, lanes, kind, x, more)
}

// pictureControls tries all that changes the picture.
func pictureControls(p *tab) {
	p.width(1400)
	ticks := lanes + `.getAttribute("aria-label")`
	changes := func(what, act string) {
		p.Helper()
		before := p.eval(ticks)
		p.eval(act)
		if p.eval(ticks) == before {
			p.Errorf("%s changes nothing: %v", what, before)
		}
	}
	reset := `document.querySelector("#timeline-chart [title='Show all of the time']")`
	p.want("a row for each GPU", lanes+`.querySelectorAll(".row-name").length === 4`)
	p.want("what computes, what is hidden, what is exposed, what copies", `["computing", "hidden", "exposed", "copying"].every((c) => `+lanes+`.querySelectorAll(".lane." + c).length === 4)`)
	p.want("who stands out", lanes+`.textContent.includes("others wait for it")`)
	p.want("names of steps", lanes+`.querySelectorAll(".step-name").length === 3`)
	p.want("all of the time at first", reset+".disabled")
	p.want("what it is a picture of", ticks+`.startsWith("GPUs over time, ")`)
	p.want("how rows stand beside each other", `byId("timeline").textContent.includes("by the ends of the collectives")`)
	p.eval(pointed("pointermove", 0.3, ""))
	p.want("what runs under the pointer", `!document.querySelector("#timeline-chart .readout").hidden && document.querySelector("#timeline-chart .readout").textContent.includes("rank 0 at ")`)
	p.want("on one row", lanes+`.querySelectorAll(".cursor").length === 1`)
	p.eval(pointed("pointerleave", 0.3, ""))
	p.want("gone with it", `document.querySelector("#timeline-chart .readout").hidden`)
	for _, way := range []struct{ what, act string }{
		{"the button", `document.querySelector("#timeline-chart [title='Zoom in']").click()`},
		{"dragging", pointed("pointerdown", 0.3, "") + pointed("pointermove", 0.6, "") + pointed("pointerup", 0.6, "")},
		{"the wheel", lanes + `.focus(); ` + lanes + `.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: 700, bubbles: true, cancelable: true })); 0`},
		{"plus", keyed("+", false)},
	} {
		changes(way.what, way.act)
		p.want(way.what+" zooms", "!"+reset+".disabled")
		changes("later, after "+way.what, keyed("ArrowLeft", true))
		changes("zero", keyed("0", false))
		p.want("all again", reset+".disabled")
	}
	p.eval(keyed("+", false))
	for _, way := range []struct{ what, act string }{
		{"the button of earlier", `document.querySelector("#timeline-chart [title='Earlier']").click()`},
		{"the button of later", `document.querySelector("#timeline-chart [title='Later']").click()`},
		{"Shift and right", keyed("ArrowRight", true)},
		{"Shift and dragging", pointed("pointerdown", 0.3, ", shiftKey: true") + pointed("pointermove", 0.5, ", shiftKey: true") + pointed("pointerup", 0.5, ", shiftKey: true")},
		{"a finger", pointed("pointerdown", 0.6, `, pointerType: "touch"`) + pointed("pointermove", 0.5, `, pointerType: "touch"`) + pointed("pointerup", 0.5, `, pointerType: "touch"`)},
		{"Shift and the wheel", lanes + `.focus(); ` + lanes + `.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, shiftKey: true, bubbles: true, cancelable: true })); 0`},
		{"minus", keyed("-", false)},
	} {
		changes(way.what, way.act)
	}
	two := func(kind string, x float64, id int) string {
		return strings.Replace(pointed(kind, x, `, pointerType: "touch"`), "pointerId: 1", fmt.Sprintf("pointerId: %d", id), 1)
	}
	p.eval(keyed("0", false))
	changes("two fingers", two("pointerdown", 0.4, 1)+two("pointerdown", 0.5, 2)+two("pointermove", 0.8, 2)+two("pointerup", 0.8, 2)+two("pointerup", 0.4, 1))
	p.want("two fingers zoom", "!"+reset+".disabled")
	changes("reset", reset+".click()")
	said := `document.querySelector("#timeline-chart [role=status]").textContent`
	p.eval(keyed("Home", false))
	p.want("the first moment", said+`.startsWith("rank 0 at ")`)
	p.eval(keyed("n", false))
	p.want("the first call, in words", said+`.includes("all_reduce 25 MiB") && `+said+`.includes("none exposed") && `+said+`.includes("hidden behind computing")`)
	p.eval(keyed("ArrowDown", false))
	p.want("the next GPU", said+`.startsWith("rank 1 at ")`)
	for range 6 {
		p.eval(keyed("n", false))
	}
	p.want("an exposed call", said+`.includes("all_reduce 7.82 MiB") && / ms exposed/.test(`+said+`)`)
	p.eval(keyed("p", false))
	p.want("the call before", said+`.includes("all_reduce 25 MiB")`)
	p.eval(keyed("Escape", false))
	p.want("put away", `document.querySelector("#timeline-chart .readout").hidden`)
	changes("a step of the list", `document.querySelector("#timeline-look .show").click()`)
	p.want("it has the focus", `document.activeElement === `+lanes)
	p.want("the step is in sight", lanes+`.querySelector(".step-name").textContent !== "ProfilerStep#1" && document.querySelector("#timeline-chart select").selectedOptions[0].textContent === "ProfilerStep#3"`)
	changes("the list of steps", `{ const s = document.querySelector("#timeline-chart select"); s.value = "0"; s.dispatchEvent(new Event("change")); 0 }`)
	changes("all of the steps", `{ const s = document.querySelector("#timeline-chart select"); s.value = ""; s.dispatchEvent(new Event("change")); 0 }`)
	p.want("all of the time", reset+".disabled")
	for range 40 {
		p.eval(`document.querySelector("#timeline-chart [title='Zoom in']").click()`)
	}
	p.want("an end of zooming", `document.querySelector("#timeline-chart [title='Zoom in']").disabled && !/NaN/.test(`+lanes+`.innerHTML)`)
	p.quiet()
}

func timelineTables(p *tab) {
	p.width(1400)
	first := `document.querySelector("#timeline-gpus tbody td").textContent`
	p.want("in the order of ranks", first+` === "rank 0"`)
	compute := `document.querySelectorAll("#timeline-gpus th button")[3].click()`
	p.eval(compute)
	p.want("the most computing first", first+` === "rank 3" && document.querySelectorAll("#timeline-gpus th")[3].getAttribute("aria-sort") === "descending"`)
	p.eval(compute)
	p.want("the least computing first", first+` === "rank 0" && document.querySelectorAll("#timeline-gpus th")[3].getAttribute("aria-sort") === "ascending"`)
	p.eval(compute)
	p.want("as it was", `document.querySelectorAll("#timeline-gpus th")[3].getAttribute("aria-sort") === "none"`)
	p.eval(`document.querySelectorAll("#timeline-gpus th button")[0].click()`)
	p.want("words ascend first", first+` === "rank 0" && document.querySelector("#timeline-gpus th").getAttribute("aria-sort") === "ascending"`)
	p.want("both overlaps", `document.querySelector("#timeline-gpus").textContent.includes("must not be mixed") && document.querySelector("#timeline-gpus tbody tr").textContent.includes("-10.50 %")`)
	p.want("bars of waiting", `document.querySelectorAll("#timeline-waiting .bars .wait").length === 4`)
	p.want("bars of steps", `document.querySelectorAll("#timeline-imbalance-by-step .bars rect").length === 3 && document.querySelectorAll("#timeline-imbalance-by-step .bars .loud").length === 1`)
	p.want("share of the benchmark", `document.querySelector("#timeline-collectives tbody").textContent.includes("61.00 %")`)
	p.want("nothing of results", `!byId("curves") && !byId("quality") && !byId("points")`)
	p.quiet()
}

func timelineWidths(p *tab) {
	p.eval(`document.querySelectorAll("details").forEach((d) => { d.open = true; }); 0`)
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		for _, width := range []int64{360, 800, 1400} {
			p.width(width)
			p.want(fmt.Sprintf("no sideways scroll at %d", width), `document.documentElement.scrollWidth <= innerWidth`)
			p.want("a picture that is as wide as its place", lanes+`.viewBox.baseVal.width <= innerWidth`)
			p.want("no label in the lanes or cut off", `(() => { const p = `+lanes+`, box = p.getBoundingClientRect(); return [...p.querySelectorAll("text")].every((t) => { const b = t.getBoundingClientRect(); return b.left >= box.left - 1 && b.right <= box.right + 1 && b.bottom <= box.bottom + 1; }); })()`)
			p.want("labels apart", labelsApart)
			p.picture(fmt.Sprintf("timeline-%d-%s", width, theme))
			p.eval(`document.querySelector("#timeline-look .show").click()`)
			p.want("a step with names of calls", lanes+`.querySelectorAll(".call-name").length > 0 || innerWidth < 800`)
			p.want("labels apart in a step", labelsApart)
			p.eval(keyed("0", false))
		}
	}
	p.want("lanes stand out", laneContrast)
	p.theme("light")
	p.want("lanes stand out in light", laneContrast)
	p.quiet()
}

// labelsApart says whether no two labels of rows, steps, calls or moments lie over each other.
const labelsApart = `(() => {
  const boxes = [...document.querySelectorAll("#timeline-chart .plot > text, #timeline-chart .row-name, #timeline-chart .row-why, #timeline-chart .step-name, #timeline-chart .call-name")].map((t) => t.getBoundingClientRect());
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const a = boxes[i], b = boxes[j];
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) return false;
  }
  return true;
})()`

// laneContrast says whether lanes stand out from the page, by WCAG's formula for graphics.
const laneContrast = `(() => {
  const light = (element) => {
    const [r, g, b] = getComputedStyle(element).fill.match(/[\d.]+/g).map((c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (() => { const probe = document.body.appendChild(document.createElement("i")); probe.style.color = "var(--paper)"; const c = getComputedStyle(probe).color; probe.remove(); const svg = document.querySelector(".lane.computing").cloneNode(); svg.style.fill = c; document.querySelector("#timeline-chart .plot").append(svg); const l = light(svg); svg.remove(); return l; })();
  return ["computing", "hidden", "exposed", "copying"].every((name) => { const a = light(document.querySelector("#timeline-chart .plot .lane." + name)); return (Math.max(a, paper) + 0.05) / (Math.min(a, paper) + 0.05) >= (name === "computing" ? 2 : 2.5); });
})()`

// hostileGPUs is a timeline whose names are ones that a page could trip over.
func hostileGPUs() *Report {
	t := sampleTimeline()
	for i := range t.Devices {
		d, name := &t.Devices[i], hostiles[i%len(hostiles)]
		d.Label, d.Host, d.GPU = name, name, name
		for j := range d.Steps {
			d.Steps[j].Name = fmt.Sprintf("%s#%d", name, j)
		}
		d.Collectives[0].Name, d.Collectives[0].Group = name, name
		d.Top[0].Name, d.Top[0].After, d.Top[0].Before, d.Top[0].Step = name, name, name, name
		d.Unknown[0].Name, d.Unknown[0].Word, d.Notes[0].Fact = name, name, notice.NCCLCallsMissing{Command: name}
		t.Files[i].Path, t.Files[i].Tool = name, name
	}
	for _, name := range hostiles {
		t.Answers = append(t.Answers, timeline.Answer{Key: name, Fact: notice.NsightWarning{Text: name}})
		t.Advice = append(t.Advice, timeline.Advice{Topic: name, Fact: notice.StepPatternUnmatched{Pattern: name}})
	}
	t.Across.Straggler.Found.Rank, t.Rule.CommPattern = hostiles[0], hostiles[2]
	r := drawnReport(t, 400)
	r.Timeline.Picture.Names = []string{hostiles[1], hostiles[4]}
	return r
}

func hostileTimeline(p *tab) {
	p.eval(`document.querySelectorAll("details").forEach((d) => { d.open = true; }); 0`)
	p.want("nothing became an element", `document.querySelectorAll("img, [onerror], [onload], a[href^=javascript]").length === 0 && document.scripts.length === 2`)
	for _, name := range hostiles {
		p.want("shown as it is", fmt.Sprintf(`byId("timeline").textContent.includes(%q)`, name))
	}
	p.eval(keyed("Home", false))
	p.eval(keyed("n", false))
	p.want("a name under the pointer", fmt.Sprintf(`document.querySelector("#timeline-chart .readout").textContent.includes(%q)`, hostiles[1]))
	for _, width := range []int64{360, 800, 1400} {
		p.width(width)
		p.want(fmt.Sprintf("no sideways scroll at %d", width), `document.documentElement.scrollWidth <= innerWidth`)
		p.picture(fmt.Sprintf("timeline-hostile-%d", width))
	}
	p.quiet()
}

func printedTimeline(p *tab) {
	p.run(emulation.SetEmulatedMedia().WithMedia("print"))
	p.eval(`dispatchEvent(new Event("beforeprint"))`)
	p.want("all is open", `document.querySelectorAll("details:not([open])").length === 0`)
	p.want("no controls", `[...document.querySelectorAll(".tools, .top, .show, .readout")].every((e) => getComputedStyle(e).display === "none")`)
	p.want("the picture stands", lanes+`.getBoundingClientRect().height > 100 && `+lanes+`.querySelectorAll(".lane").length === 16`)
	p.want("with its legend", `document.querySelector(".lanes-legend").getBoundingClientRect().height > 5`)
	var pdf []byte
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = printer.PrintToPDF().WithPrintBackground(true).Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		p.Error("no PDF")
	}
	p.picture("timeline-print")
	p.quiet()
}

func timelineWithoutScript(t *testing.T, b context.Context) {
	withoutScript(t, b, drawnReport(sampleTimeline(), 400), "timeline-noscript",
		[]string{"ProfilerStep#3: 7.000 of 33.300 ms exposed, rank 3", "35.000", "61.00 %", "Does communication overlap with computation?"},
		[]string{"Show\n", "Curves", "Plan and done"})
}

// silent is one GPU without steps and without communication.
func silent() *timeline.Timeline {
	return &timeline.Timeline{Files: []timeline.File{{Path: "one.sqlite"}}, Devices: []timeline.Device{{Label: "GPU 0", Kernels: 4, Parts: timeline.Parts{Span: 50, Compute: 40, Idle: 10}}}}
}

func silentTimeline(p *tab) {
	p.want("said so", `byId("short").textContent.includes("No communication ran") && byId("timeline").textContent.includes("1 GPU in 1 file, without steps")`)
	p.want("one row, one lane of computing", lanes+`.querySelectorAll(".row-name").length === 1`)
	p.want("no figure where there is none", `!/NaN|undefined|null/.test(document.querySelector("main").textContent)`)
	p.want("no list of steps", `document.querySelector("#timeline-chart select").hidden`)
	p.eval(keyed("n", false))
	p.want("no call to go to", `document.querySelector("#timeline-chart [role=status]").textContent.includes("no further call")`)
	p.quiet()
}
