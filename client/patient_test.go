package client

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A gateway that was met may be away for a while, and is given up when it stays
// away. How long it had been there before does not count.
func TestPatienceHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := 0
		p := &Patient{Limit: time.Minute, Back: func() { back++ }}
		p.met.Store(true)
		tries := 0
		began := time.Now()
		err := p.until(t.Context(), func() error {
			if tries++; tries == 2 {
				<-time.After(time.Hour) // it was back, and the wait went on
			}
			return ErrUnreachable
		})
		if waited := time.Since(began) - time.Hour; !errors.Is(err, ErrUnreachable) || waited < time.Minute || waited > 2*time.Minute {
			t.Errorf("gave up after %s with %v", waited, err)
		}
		tries = 0
		err = p.until(t.Context(), func() error {
			if tries++; tries < 5 {
				return ErrUnreachable
			}
			return nil
		})
		if err != nil || back != 1 {
			t.Errorf("%v, told %d times that it is back", err, back)
		}
	})
}
