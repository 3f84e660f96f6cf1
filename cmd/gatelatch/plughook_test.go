package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/server"
)

// REL-31: to the host any other status than 200 is no opinion, and the call
// would run. What the gateway can't read is denied.
func TestHookThatCantBeReadIsDenied(t *testing.T) {
	for name, body := range map[string]string{
		"too large": `{"hook_event_name":"PreToolUse","tool_input":{"content":"` + strings.Repeat("x", api.MaxBody) + `"}}`,
		"no JSON":   "{",
		"empty":     "",
	} {
		w := httptest.NewRecorder()
		serveHook(w, httptest.NewRequest(http.MethodPost, "/hooks/claude", strings.NewReader(body)), server.Guest{Base: t.Context(), MaxBody: api.MaxBody})
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"permissionDecision":"deny"`) {
			t.Errorf("%s: %d %.200s", name, w.Code, w.Body)
		}
	}
}
