package aside

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		g := New(2, slog.New(slog.NewTextHandler(&log, nil)))
		release := make(chan struct{})
		ran := 0
		g.Go("first", func(context.Context) error { <-release; ran++; return nil })
		g.Go("second", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
		g.Go("third", func(context.Context) error { ran += 10; return nil })
		close(release)
		synctest.Wait()
		g.Go("fourth", func(context.Context) error { panic("a secret") })
		synctest.Wait()
		for range 2 { // waiting again is harmless
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			g.Wait(ctx)
		}
		g.Wait(t.Context())
		g.Go("fifth", func(context.Context) error { ran += 100; return errors.New("x") })
		synctest.Wait()
		if ran != 1 {
			t.Errorf("ran %d", ran)
		}
		for _, want := range []string{`what=third`, `what=fourth err="it panicked"`, `what=second err="context canceled"`, `what=fifth`} {
			if strings.Count(log.String(), want) != 1 {
				t.Errorf("the log lacks %s: %s", want, log.String())
			}
		}
		if strings.Contains(log.String(), "secret") {
			t.Error(log.String())
		}
	})
}

func TestIdleGroup(t *testing.T) {
	g := New(1, nil)
	g.Wait(t.Context())
	g.Wait(t.Context())
}
