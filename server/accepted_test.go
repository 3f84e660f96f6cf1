package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// deadlined notes the write deadline that an answer gets.
type deadlined struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (d *deadlined) SetWriteDeadline(t time.Time) error { d.at = t; return nil }

func TestAnswerAfterALongWaitHasItsOwnDeadline(t *testing.T) {
	w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	before := time.Now()
	answer(&accepted{w}, http.StatusOK, api.None{})
	if w.Code != http.StatusAccepted || w.at.Before(before.Add(writeLimit)) {
		t.Errorf("status %d, deadline %v", w.Code, w.at)
	}
}
