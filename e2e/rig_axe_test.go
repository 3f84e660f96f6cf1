package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// axe is the checker of accessibility that the page's packages bring along.
var axe = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile(filepath.Join("..", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		return "", fmt.Errorf("axe is not installed (run make web-install): %w", err)
	}
	return string(b), nil
})

// wantAccessible fails the test for each rule of WCAG 2.2 AA that what is shown
// breaks.
func (b *tab) wantAccessible(what string) {
	b.t.Helper()
	b.askAxe(what, `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`)
}

// wantContrast asks only for what another colour scheme can change.
func (b *tab) wantContrast(what string) {
	b.t.Helper()
	b.askAxe(what, `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`)
}

func (b *tab) askAxe(what, rules string) {
	b.t.Helper()
	if !read[bool](b, "look for axe", `"axe" in window`) {
		// Evaluated, not loaded: the page's policy lets no other script in.
		read[bool](b, "bring axe", need(b.t, axe)+"; true")
	}
	got := read[[]string](b, "ask axe about "+what, fmt.Sprintf(`axe.run(document, {runOnly: %s, resultTypes: ["violations"], preload: false})
		.then(r => r.violations.flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ": " + n.target.join(" ") + " (" + (n.any[0] ?? n.all[0] ?? n.none[0])?.message + ")")))`, rules))
	for _, v := range got {
		b.t.Errorf("%s: %s", what, v)
	}
}

// shift is how much the layout has moved without anybody doing anything.
func (b *tab) watchShift() {
	b.t.Helper()
	read[bool](b, "watch the layout", `(window.moved = 0, new PerformanceObserver(list => {
		for (const e of list.getEntries()) if (!e.hadRecentInput) window.moved += e.value;
	}).observe({type: "layout-shift", buffered: false}), true)`)
}

func (b *tab) wantNoShift(t *testing.T) {
	t.Helper()
	if moved := read[float64](b, "ask how much moved", `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(window.moved))))`); moved > 0.001 {
		t.Errorf("the layout shifted by %.4f", moved)
	}
}
