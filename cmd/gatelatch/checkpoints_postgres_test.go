package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
)

// Gateways that share a trail keep checkpoints of it each for itself.
func TestCheckpointsOfTwoGateways(t *testing.T) {
	server, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	one, two := stoppedOptions(t), stoppedOptions(t)
	one.store = asURL(server.Database(t, "shared"))
	two.store = one.store
	var trail string
	args := []string{"-"}
	session(t, one, func() {
		session(t, two, func() {
			for i := range 5 {
				ask(t, one, fmt.Sprint("m", i), "git push")
				ask(t, two, fmt.Sprint("n", i), "git push")
			}
		})
		ask(t, one, "last", "git push")
		if trail, err = command(t, one, "audit", "export"); err != nil {
			t.Fatal(err)
		}
		for _, o := range []gatewayOptions{one, two} {
			key, err := command(t, o, "audit", "key")
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, "--checkpoints", o.checkpoints, "--key", strings.TrimSpace(key))
		}
	})
	events := strings.Count(trail, "\n")
	want := fmt.Sprintf("checkpoints  4, the last at event %d; 0 events", events)
	if out, err := verify(t, one, trail, args...); err != nil || events < 22 || !strings.Contains(out, want) {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
}
