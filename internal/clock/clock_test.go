package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch/internal/clock"
)

var begin = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

var jumps = []time.Duration{
	time.Microsecond, time.Second, time.Minute, time.Hour, 24 * time.Hour, 365 * 24 * time.Hour, 50 * 365 * 24 * time.Hour,
}

// REL-20: what is due after a minute is due after a minute at the latest,
// however the clock is set meanwhile.
func TestStepsNeverLengthenAMinute(t *testing.T) {
	for _, by := range jumps {
		for _, jump := range []time.Duration{by, -by} {
			shown := begin
			c := clock.New(func() time.Time { return shown })
			due := c.Now().Add(time.Minute)
			shown = shown.Add(jump)
			last := c.Now()
			for range 60 {
				shown = shown.Add(time.Second)
				now := c.Now()
				if now.Sub(last) < time.Second {
					t.Fatalf("a step of %v: %v became %v in a second", jump, last, now)
				}
				last = now
			}
			if last.Before(due) {
				t.Errorf("a step of %v: after a minute it is %v, want at least %v", jump, last, due)
			}
		}
	}
}

// A database's clock is followed, and this machine's runs on when it stands
// still or goes back.
func TestOtherClocksAreFollowedForwardOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.New(time.Now)
		if got := c.By(begin); !got.Equal(begin) {
			t.Fatalf("%v, want %v", got, begin)
		}
		<-time.After(time.Minute)
		if got, want := c.By(begin.AddDate(-50, 0, 0)), begin.Add(time.Minute); !got.Equal(want) {
			t.Errorf("after a step back %v, want %v", got, want)
		}
		ahead := begin.AddDate(50, 0, 0)
		if got := c.By(ahead); !got.Equal(ahead) {
			t.Errorf("after a step ahead %v, want %v", got, ahead)
		}
		<-time.After(time.Second)
		if got, want := c.By(begin), ahead.Add(time.Second); !got.Equal(want) {
			t.Errorf("a second later %v, want %v", got, want)
		}
	})
}
