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
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	printer "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"busbar/internal/needs"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// patience is generous: nothing here measures time.
const patience = 3 * time.Minute

// browser is one Chromium for all tests, with one tab for each page.
func browser(t *testing.T) context.Context {
	t.Helper()
	needs.Command(t, "chromium", "the page is looked at in it; make test installs it")
	path, err := exec.LookPath("chromium")
	must.NoError(t, err)
	options := append(
		chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(profile(t)), chromedp.WSURLReadTimeout(patience),
	)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // it ends by itself, where it can
	must.NoError(t, chromedp.Run(ctx))
	return ctx
}

// profile is a folder for a browser, whose processes may write a moment longer than the first of them lives.
func profile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "busbar-browser-")
	must.NoError(t, err)
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
	ctx     context.Context
	address string
	mu      sync.Mutex
	bad     []string
}

// open shows a report from a file.
func open(t *testing.T, browser context.Context, r *Report) *tab {
	t.Helper()
	p := &tab{T: t, address: written(t, r)}
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
			if e.Request.URL != p.address {
				p.bad = append(p.bad, "request for "+e.Request.URL)
			}
		case *printer.EventJavascriptDialogOpening:
			p.bad = append(p.bad, "dialog: "+e.Message)
		}
	})
	p.run(network.Enable(), chromedp.Navigate(p.address), chromedp.WaitReady("#data", chromedp.ByQuery))
	p.eval(helpers)
	return p
}

// written is the address of a report's page.
func written(t *testing.T, r *Report) string {
	t.Helper()
	var page bytes.Buffer
	file := filepath.Join(t.TempDir(), "report.html")
	err := r.WritePage(&page)
	if err = errors.Join(err, os.WriteFile(file, page.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: file}).String()
}

func (p *tab) run(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// helpers are for expressions on the page: elements, and what a keyboard, a mouse, fingers and a wheel do on them.
const helpers = `
var display = (e) => getComputedStyle(e).display;
var luminance = (rgb) => { // by WCAG
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = rgb.match(/[\d.]+/g).map((c) => linear(c / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
var contrastOf = (one, other) => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};
var colourOfVariable = (name) => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = "var(--" + name + ")";
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
};
var $ = (s) => document.querySelector(s), $$ = (s) => [...document.querySelectorAll(s)], text = (s) => $(s).textContent;
var press = (s, key, shiftKey) => $(s).dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
var point = (s, kind, x, more) => {
  const p = $(s), b = p.getBoundingClientRect(), place = { clientX: b.left + b.width * x, clientY: b.top + 62 };
  p.setPointerCapture = () => {};
  p.dispatchEvent(new PointerEvent(kind, { ...place, bubbles: true, pointerId: 1, ...more }));
};
var drag = (s, from, to, more) => {
  point(s, "pointerdown", from, more);
  point(s, "pointermove", to, more);
  point(s, "pointerup", to, more);
};
var wheel = (s, more) => {
  $(s).focus();
  $(s).dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: 700, bubbles: true, cancelable: true, ...more }));
};
var choose = (s, value) => {
  $(s).value = value;
  $(s).dispatchEvent(new Event($(s).tagName === "SELECT" ? "change" : "input"));
};
0`

// eval is the value of an expression on the page.
func (p *tab) eval(expression string) (value any) {
	p.Helper()
	if err := chromedp.Run(p.ctx, chromedp.Evaluate(expression, &value)); err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// check is something to do on a page, and an expression that is true then.
type check struct{ name, act, want string }

// checks fails where an expression on the page is not true.
func (p *tab) checks(all ...check) {
	p.Helper()
	for _, c := range all {
		p.eval(c.act + "; 0")
		if got := p.eval(c.want); got != true {
			p.Errorf("%s: %s is %v", c.name, c.want, got)
		}
	}
}

// changes fails where actions leave an expression on the page as it is.
func (p *tab) changes(of string, acts ...string) {
	p.Helper()
	for _, act := range acts {
		before := p.eval(of)
		if p.eval(act + "; 0"); p.eval(of) == before {
			p.Errorf("%s changes nothing: %v", act, before)
		}
	}
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
	const drawn = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`
	await := func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }
	p.run(emulation.SetDeviceMetricsOverride(width, 900, 1, false), chromedp.Evaluate(drawn, nil, await))
}

func (p *tab) theme(name string) {
	p.Helper()
	scheme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	p.run(emulation.SetEmulatedMedia().WithFeatures(scheme))
}

// widths fails where a page is wider than the window, or has something else to complain of at a width.
func (p *tab) widths(all ...check) {
	p.Helper()
	for _, theme := range []string{"light", "dark"} {
		p.theme(theme)
		for _, width := range []int64{360, 800, 1400} {
			p.width(width)
			p.checks(check{fmt.Sprint("page at ", width), "", `document.documentElement.scrollWidth <= innerWidth`})
			p.checks(all...)
		}
	}
}

// print shows the page as it is printed, prints it, and goes back.
func (p *tab) print(all ...check) {
	p.Helper()
	const folded = `$$("details:not([open])").length`
	before := p.eval(folded)
	p.run(emulation.SetEmulatedMedia().WithMedia("print"))
	p.checks(
		check{"unfolded", `dispatchEvent(new Event("beforeprint"))`, folded + " === 0"},
		check{
			"controls", "", `$$(".controls, .tools, .top, .pager, .show").every((e) => display(e) === "none")`,
		},
	)
	p.checks(all...)
	var pdf []byte
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = printer.PrintToPDF().WithPrintBackground(true).Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		p.Error("no PDF")
	}
	p.checks(check{"folded again", `dispatchEvent(new Event("afterprint"))`, fmt.Sprint(folded, " === ", before)})
}

// withoutScript shows a page where scripts are off.
func withoutScript(t *testing.T, b context.Context, r *Report, want ...string) {
	t.Helper()
	ctx, end := chromedp.NewContext(b)
	defer end()
	var shown string
	err := chromedp.Run(ctx, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(written(t, r)),
		chromedp.Text("main", &shown, chromedp.ByQuery))
	must.NoError(t, err)
	for _, w := range append(want, "Scripts are off") {
		test.StrContains(t, shown, w)
	}
}
