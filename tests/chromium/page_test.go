// Package chromium opens a page of tercet report in a headless Chromium: make page-test.
package chromium

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// opened is the page of TERCET_PAGE in a browser, and what was wrong while it was used.
type opened struct {
	context.Context
	t      *testing.T
	mu     sync.Mutex
	faults []string
}

func open(t *testing.T) *opened {
	t.Helper()
	path := os.Getenv("TERCET_PAGE")
	if path == "" {
		t.Skip("TERCET_PAGE names no page; make page-test makes one")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU)...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	p := &opened{Context: ctx, t: t}
	chromedp.ListenTarget(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.faults = append(p.faults, "exception: "+e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			p.faults = append(p.faults, "log: "+e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, "file:") && !strings.HasPrefix(u, "data:") {
				p.faults = append(p.faults, "request: "+u)
			}
		}
	})
	p.do(network.Enable(), log.Enable(), chromedp.EmulateViewport(1440, 900), chromedp.Navigate("file://"+path), chromedp.WaitReady("body"))
	return p
}

func (p *opened) do(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// js is the value of an expression.
func js[T any](p *opened, expression string) (out T) {
	p.t.Helper()
	p.do(chromedp.Evaluate(expression, &out))
	return out
}

func (p *opened) done() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		p.t.Error(f)
	}
}

// A heading sorts its table, once up and once down.
func TestSort(t *testing.T) {
	p := open(t)
	const column = `(() => { const t = document.querySelector("main table:not(.g)"); return Array.from(t.tBodies[0].rows).map(r => r.cells[0].textContent.trim()); })()`
	button := `main table:not(.g) th button`
	p.do(chromedp.Click(button, chromedp.ByQuery))
	up := js[[]string](p, column)
	p.do(chromedp.Click(button, chromedp.ByQuery))
	down := js[[]string](p, column)
	if len(up) < 2 || up[0] >= up[1] || down[0] <= down[1] {
		t.Errorf("up %v, down %v", up, down)
	}
	if got := js[string](p, `document.querySelector("main table th").getAttribute("aria-sort")`); got != "descending" {
		t.Errorf("aria-sort is %q", got)
	}
	p.done()
}

// The mouse over a point of a map shows its image and words.
func TestHover(t *testing.T) {
	p := open(t)
	p.do(chromedp.ScrollIntoView(".map svg circle", chromedp.ByQuery))
	at := js[[]float64](p, `(() => { const b = document.querySelector(".map circle").getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`)
	p.do(input.DispatchMouseEvent(input.MouseMoved, at[0], at[1]))
	if words := js[string](p, `document.querySelector(".map .tip").hidden ? "" : document.querySelector(".map .tip span").textContent`); !strings.Contains(words, "cluster") {
		t.Errorf("the tip says %q", words)
	}
	if image := js[string](p, `getComputedStyle(document.querySelector(".map .tip i")).backgroundImage`); !strings.HasPrefix(image, `url("data:image/png`) {
		t.Errorf("the tip shows %.40s", image)
	}
	p.done()
}

// Plus zooms a chart, Escape shows all of it again.
func TestZoom(t *testing.T) {
	p := open(t)
	const drawn = `document.querySelector(".chart canvas").toDataURL()`
	settle := chromedp.Sleep(300 * time.Millisecond)
	p.do(chromedp.ScrollIntoView(".chart", chromedp.ByQuery), chromedp.Focus(".chart", chromedp.ByQuery), settle)
	whole := js[string](p, drawn)
	p.do(chromedp.KeyEvent("+"), settle)
	if js[string](p, drawn) == whole {
		t.Error("plus changes nothing")
	}
	p.do(chromedp.KeyEvent(kb.Escape), settle)
	if js[string](p, drawn) != whole {
		t.Error("Escape does not show all")
	}
	p.done()
}

// Galleries show their pictures and words.
func TestGalleries(t *testing.T) {
	p := open(t)
	n := js[int](p, `Array.from(document.querySelectorAll("table.g td i, table.g th i")).filter(i => i.offsetWidth >= 32 && getComputedStyle(i).backgroundImage.startsWith('url("data:image/png')).length`)
	all := js[int](p, `document.querySelectorAll("table.g i").length`)
	if n != all || n < 20 {
		t.Errorf("%d of %d thumbnails are shown", n, all)
	}
	if silent := js[int](p, `Array.from(document.querySelectorAll("div.t[tabindex]")).filter(d => !d.getAttribute("aria-label")).length`); silent > 0 {
		t.Errorf("%d galleries without a label", silent)
	}
	p.done()
}

// What scripts add is not printed, and the page becomes a document.
func TestPrint(t *testing.T) {
	p := open(t)
	p.do(emulation.SetEmulatedMedia().WithMedia("print"))
	if shown := js[int](p, `Array.from(document.querySelectorAll(".tools, .read, .tip")).filter(e => getComputedStyle(e).display !== "none").length`); shown > 0 {
		t.Errorf("%d tools are printed", shown)
	}
	// The first entry of a legend is the name of the x axis with its value under the mouse.
	if shown := js[int](p, `Array.from(document.querySelectorAll(".u-legend")).filter(l => l.innerText.trim().startsWith("step")).length`); shown > 0 {
		t.Errorf("%d printed legends begin with the step", shown)
	}
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		pdf, _, err := page.PrintToPDF().Do(ctx)
		if err == nil && (!bytes.HasPrefix(pdf, []byte("%PDF")) || len(pdf) < 20_000) {
			err = fmt.Errorf("a document of %d bytes", len(pdf))
		}
		return err
	}))
	p.done()
}

// On a sheet of letter paper across, the narrower of the two usual ones, nothing is cut.
func TestPrintedWidth(t *testing.T) {
	const sheet = 965 // 11 inches less two margins of 12 mm
	p := open(t)
	p.do(chromedp.EmulateViewport(sheet, 700), emulation.SetEmulatedMedia().WithMedia("print"), chromedp.Sleep(300*time.Millisecond))
	for _, cut := range js[[]string](p, `Array.from(document.querySelectorAll("table, pre, img, canvas, svg, .u-legend")).filter(e => e.getBoundingClientRect().right > innerWidth || e.tagName === "PRE" && e.scrollWidth > e.clientWidth).map(e => e.tagName + " " + e.id + " " + e.textContent.slice(0, 40))`) {
		t.Errorf("cut on paper: %s", cut)
	}
	// Chromium leaves buttons out where it repeats the headings of a table on its next page.
	if boxes := js[int](p, `Array.from(document.querySelectorAll("th button")).filter(e => getComputedStyle(e).display !== "contents").length`); boxes > 0 {
		t.Errorf("%d headings are buttons on paper", boxes)
	}
	if shown := js[int](p, `Array.from(document.querySelectorAll("details:not([open])")).filter(e => getComputedStyle(e).display !== "none").length`); shown > 0 {
		t.Errorf("%d folded pictures are printed without the picture", shown)
	}
	p.done()
}

// A page in dark colors is printed in light ones, its curves too, and keeps its zoom.
func TestPrintFromDark(t *testing.T) {
	p := open(t)
	const drawn, ink = `document.querySelector(".chart canvas").toDataURL()`, `getComputedStyle(document.body).color`
	become := func(what string, fits func(drawn, ink string) bool) (string, string) { // a loaded machine draws late
		t.Helper()
		var d, i string
		for range 100 {
			if d, i = js[string](p, drawn), js[string](p, ink); fits(d, i) {
				return d, i
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatal(what)
		return d, i
	}
	scheme := func(name string) chromedp.Action {
		return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}})
	}
	p.do(scheme("light"), chromedp.ScrollIntoView(".chart", chromedp.ByQuery), chromedp.Focus(".chart", chromedp.ByQuery))
	whole := js[string](p, drawn)
	p.do(chromedp.KeyEvent("+"))
	light, lightInk := become("plus changes nothing", func(d, _ string) bool { return d != whole })
	p.do(scheme("dark"))
	dark, darkInk := become("dark and light look the same", func(d, i string) bool { return d != light && i != lightInk })
	p.do(chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	become("what is printed is not what a light screen shows", func(d, i string) bool { return d == light && i == lightInk })
	p.do(chromedp.Evaluate(`dispatchEvent(new Event("afterprint"))`, nil))
	become("after printing the page is not as before", func(d, i string) bool { return d == dark && i == darkInk })
	p.done()
}

// Narrow and wide, light and dark, the page is no wider than the window. TERCET_SHOTS names a
// folder for screenshots.
func TestSizes(t *testing.T) {
	p := open(t)
	for _, width := range []int64{360, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			p.do(chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}), chromedp.Sleep(300*time.Millisecond))
			if got := js[int64](p, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%d pixels wide in a window of %d", got, width)
			}
			if folder := os.Getenv("TERCET_SHOTS"); folder != "" {
				var shot []byte
				p.do(chromedp.FullScreenshot(&shot, 100))
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d-%s.png", width, scheme)), shot, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	p.done()
}
