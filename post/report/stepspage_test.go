package report

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/steps/stepstest"
)

func TestStepsInABrowser(t *testing.T) {
	b := browser(t)
	t.Run("controls", func(t *testing.T) { stepControls(open(t, b, ofStepRuns(nil, severalSteps()...))) })
	t.Run("widths and themes", func(t *testing.T) { stepWidths(open(t, b, ofStepRuns(nil, severalSteps()...))) })
	t.Run("hostile names", func(t *testing.T) {
		hostileStepNames(t, func(name string) *tab { return open(t, b, ofStepRuns(nil, evilSteps(name))) })
	})
	t.Run("beside collectives", func(t *testing.T) {
		p := open(t, b, ofStepRuns([]*made{runOf(1, "mpi", coll.AllReduce)}, stepstest.Default()))
		p.want("both are drawn", `document.querySelectorAll("#curve-chart .line").length === 1 && document.querySelectorAll("#steps-bars .lane").length > 0`)
		p.quiet()
	})
	t.Run("nothing measured", func(t *testing.T) {
		failed := stepstest.Default()
		failed.Edit = func(f *result.StepFile) {
			for i := range f.Records {
				f.Records[i].Status, f.Records[i].Reason, f.Records[i].Figures, f.Records[i].Timeline = result.Failed, "it failed", nil, nil
			}
		}
		p := open(t, b, ofStepRuns(nil, failed))
		p.want("no picture", `byId("steps-picture").hidden && byId("steps").textContent.includes("it failed")`)
		p.quiet()
	})
	t.Run("printing", func(t *testing.T) {
		p := open(t, b, ofStepRuns(nil, severalSteps()...))
		p.run(emulation.SetEmulatedMedia().WithMedia("print"))
		p.want("pictures stand, controls do not", `document.querySelector("#steps-bars .plot").getBoundingClientRect().height > 100 && [...document.querySelectorAll(".controls")].every((e) => getComputedStyle(e).display === "none")`)
		p.picture("steps-print")
		p.quiet()
	})
	t.Run("no script", func(t *testing.T) {
		withoutScript(t, b, ofStepRuns(nil, severalSteps()...), "steps-noscript", []string{"Best bucket size in this launch", "SIMULATED: no device was measured", "25 MiB", "hidden, wall clock", "no difference"}, []string{"One step over time"})
	})
}

const (
	stepBars  = `document.querySelector("#steps-bars .plot")`
	stepTimes = `document.querySelector("#steps-lanes .plot")`
)

// stepKey presses a key on a picture.
func stepKey(picture, key string) string {
	return fmt.Sprintf(`%s.dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true })); 0`, picture, key)
}

// stepPoint moves the pointer over a picture, by shares of its width and height.
func stepPoint(picture, kind string, x, y float64) string {
	return fmt.Sprintf(`{ const p = %s, b = p.getBoundingClientRect(); p.dispatchEvent(new PointerEvent(%q, { clientX: b.left + b.width * %g, clientY: b.top + b.height * %g, bubbles: true, pointerId: 1 })); 0 }`, picture, kind, x, y)
}

func stepChoose(id, value string) string {
	return fmt.Sprintf(`{ const s = byId(%q); s.value = %q; s.dispatchEvent(new Event("change")); 0 }`, id, value)
}

// stepControls tries all that changes the pictures of steps.
func stepControls(p *tab) {
	p.width(1300)
	p.want("all groups can be chosen", `byId("steps-group").options.length === 5`)
	p.want("first the one with the fastest step that is not modelled", `byId("steps-group").selectedOptions[0].textContent.endsWith("ddp, float32, progress poll")`)
	p.want("a bar of parts for each bucket", stepBars+`.querySelectorAll(".bucket").length === 4 && `+stepBars+`.querySelectorAll(".lane.computing:not(.pale)").length === 4`)
	p.want("one after the other beside it", stepBars+`.querySelectorAll(".pale").length === 8`)
	p.want("intervals", stepBars+`.querySelectorAll(".whisker").length === 8`)
	p.want("the best is marked", `[...`+stepBars+`.querySelectorAll(".step-verdict")].map((e) => e.textContent).includes("best")`)
	p.want("no watermark on what was measured", stepBars+`.querySelector(".water") === null`)
	height := stepBars + `.querySelector(".lane.exposed:not(.pale)").getAttribute("height")`
	p.want("parts add up to the step", `(() => { const bars = [...`+stepBars+`.querySelectorAll("rect.lane:not(.pale)")].slice(0, 3), sum = bars.reduce((s, r) => s + Number(r.getAttribute("height")), 0); const whole = 309 - 0; return bars.length === 3 && sum > 100 && sum < whole; })()`)
	p.eval(stepPoint(stepBars, "pointermove", 0.35, 0.5))
	p.want("figures under the pointer", `!document.querySelector("#steps-bars .readout").hidden && ["bucket 5 MiB", "in turn", "exposed", "hidden, wall clock", "weak scaling", "24 rounds"].every((w) => document.querySelector("#steps-bars .readout").textContent.includes(w))`)
	p.eval(stepPoint(stepBars, "pointerleave", 0.35, 0.5))
	p.want("gone with it", `document.querySelector("#steps-bars .readout").hidden`)
	p.eval(stepKey(stepBars, "Home"))
	p.want("keys say figures", `document.querySelector("#steps-bars [role=status]").textContent.startsWith("bucket 1 MiB: computing ")`)
	p.eval(stepKey(stepBars, "ArrowRight"))
	p.want("the next", `document.querySelector("#steps-bars [role=status]").textContent.startsWith("bucket 5 MiB: ")`)
	p.eval(stepKey(stepBars, "Escape"))
	p.want("put away", `document.querySelector("#steps-bars .readout").hidden`)
	before := p.eval(height)
	p.click("#steps-way [data-key=modes]")
	p.want("four modes", stepBars+`.querySelectorAll(".mode").length === 16 && `+stepBars+`.querySelectorAll(".lane").length === 0 && document.querySelectorAll("#steps-bars .lane-key").length === 4`)
	p.click("#steps-way [data-key=parts]")
	if after := p.eval(height); after != before {
		p.Errorf("parts again are %v, before %v", after, before)
	}
	p.want("over time, the best bucket", `byId("steps-bucket").selectedOptions[0].textContent.endsWith("(best)")`)
	p.want("computing and operations", stepTimes+`.querySelectorAll(".work").length === 17 && `+stepTimes+`.querySelectorAll(".lane.hidden").length === 16`)
	p.eval(stepKey(stepTimes, "Home"))
	p.want("the first operation", `document.querySelector("#steps-lanes [role=status]").textContent.startsWith("bucket 1, operation 1, ")`)
	p.eval(stepKey(stepTimes, "End"))
	p.want("the last is exposed", `document.querySelector("#steps-lanes [role=status]").textContent.startsWith("bucket 16, operation 16, ") && !document.querySelector("#steps-lanes [role=status]").textContent.includes("none exposed")`)
	p.eval(stepPoint(stepTimes, "pointermove", 0.2, 0.5))
	p.want("computing under the pointer", `document.querySelector("#steps-lanes .readout b").textContent === "forward"`)
	p.eval(stepChoose("steps-bucket", "3"))
	p.want("another bucket over time", stepTimes+`.querySelectorAll(".lane.hidden").length === 1 && `+stepTimes+`.querySelectorAll(".lane.exposed").length === 1`)
	p.eval(stepChoose("steps-group", "4"))
	p.want("another group, rehearsed", `byId("steps-group").selectedOptions[0].textContent.includes("fsdp, bfloat16") && `+stepBars+`.querySelector(".water").textContent === "SIMULATED" && `+stepTimes+`.querySelector(".water").textContent === "SIMULATED"`)
	p.want("no figure is missing", `!/NaN|undefined|Infinity/.test(byId("steps").innerHTML)`)
	p.want("sentences and tables of each group", `document.querySelectorAll("#steps h4").length === 5 && document.querySelectorAll("#steps table").length === 10`)
	p.quiet()
}

func stepWidths(p *tab) {
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		for _, width := range []int64{360, 500, 800, 1300} {
			p.width(width)
			p.want(fmt.Sprintf("no sideways scroll at %d", width), `document.documentElement.scrollWidth <= innerWidth`)
			p.want("pictures as wide as their place", `[...document.querySelectorAll(".plot.steps")].every((s) => s.viewBox.baseVal.width <= innerWidth)`)
			p.picture(fmt.Sprintf("steps-%d-%s", width, theme))
		}
	}
	p.quiet()
}

func hostileStepNames(t *testing.T, show func(name string) *tab) {
	t.Helper()
	for _, name := range hostiles {
		p := show(name)
		p.want("nothing became an element", `document.querySelectorAll("img, [onerror], [onload]").length === 0 && document.scripts.length === 2`)
		p.want("shown as it is", fmt.Sprintf(`byId("steps").textContent.includes(%q)`, name))
		p.eval(stepKey(stepBars, "Home") + "; " + stepKey(stepTimes, "Home"))
		p.want("in words too", fmt.Sprintf(`document.querySelector("#steps-lanes [role=status]").textContent.includes(%q)`, name))
		p.width(500)
		p.want("no sideways scroll", `document.documentElement.scrollWidth <= innerWidth`)
		p.quiet()
	}
}
