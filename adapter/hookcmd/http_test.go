package hookcmd

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

// serve answers a hook over HTTP while act happens, and returns the body.
func serve(ctx, stopping context.Context, t *testing.T, g *gatelatch.Gate, raw string, act func()) string { //nolint:thelper // contexts first
	t.Helper()
	got := make(chan string, 1)
	go func() {
		got <- string(claude(g, "h1", false).Serve(ctx, stopping, []byte(raw), time.Hour))
	}()
	synctest.Wait()
	act()
	return <-got
}

// What a hook of type http gets is what the command hook prints.
func TestHooksOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		defer stop()
		ctx := t.Context()
		got := serve(ctx, ctx, t, g, preBash, func() { decide(t, g, gatelatch.Decision{State: gatelatch.Allowed}) })
		if !strings.Contains(got, `"permissionDecision":"allow"`) || !strings.Contains(got, `"updatedInput":{"command":"touch x && y"`) {
			t.Errorf("allowed: %s", got)
		}
		got = serve(ctx, ctx, t, g, bash("touch y", "toolu_2"), func() { decide(t, g, gatelatch.Decision{State: gatelatch.Denied, Note: "no"}) })
		if !strings.Contains(got, `"permissionDecision":"deny"`) || !strings.Contains(got, "no") {
			t.Errorf("denied: %s", got)
		}
		for _, raw := range []string{"", "hello", preBash[:60], strings.Replace(preBash, `"command"`, `"command":"pwd","Command"`, 1), strings.Replace(preBash, `"toolu_1"`, `""`, 1)} {
			if got := serve(ctx, ctx, t, g, raw, func() {}); !strings.Contains(got, `"permissionDecision":"deny"`) {
				t.Errorf("%q: %s", raw, got)
			}
		}
		// REL-30: before the host's own limit there is a denial.
		began := time.Now()
		got = serve(ctx, ctx, t, g, bash("touch z", "toolu_3"), func() {})
		if took := time.Since(began); !strings.Contains(got, `"permissionDecision":"deny"`) || took != 48*time.Minute {
			t.Errorf("after %s: %s", took, got)
		}
	})
}

// An agent that hangs up takes its question back.
func TestHookThatHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		defer stop()
		ctx, hangUp := context.WithCancel(t.Context())
		if got := serve(ctx, t.Context(), t, g, preBash, hangUp); strings.Contains(got, `"allow"`) {
			t.Errorf("got %s", got)
		}
		p, err := g.As(person).List(t.Context(), gatelatch.Query{})
		if err != nil || len(p.Calls) != 1 || p.Calls[0].State != gatelatch.Withdrawn {
			t.Errorf("%+v, %v", p.Calls, err)
		}
	})
}
