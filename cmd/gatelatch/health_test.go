package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

func TestHealth(t *testing.T) {
	opt := testGateway(t)
	if out := mustRun(t, opt, "health"); out != "The gateway answers.\n" {
		t.Errorf("%q", out)
	}
	var st api.Status
	if err := json.Unmarshal([]byte(mustRun(t, opt, "health", "--json")), &st); err != nil || st.Version != version {
		t.Errorf("%+v, %v", st, err)
	}
	opt.state = statedir.Dir(filepath.Join(t.TempDir(), "none"))
	if _, err := command(t, opt, "health"); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("without a gateway: %v", err)
	}
}
