package memory_test

import (
	"os"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model/modeltest"
	"github.com/gatelatch/gatelatch/store/memory"
)

// Under the race detector a history takes four times as long; "make test" runs
// this once more without it.
func TestModel(t *testing.T) {
	if raced {
		modeltest.Run(t, 2_000, 2, open)
		return
	}
	modeltest.Run(t, 20_000, 2, open)
}

func TestSoakModel(t *testing.T) {
	if os.Getenv("GATELATCH_SOAK") == "" {
		t.Skip("for make soak")
	}
	modeltest.Run(t, 1_000_000, 2, open)
}

func open(now func() time.Time) gatelatch.Store { return memory.New(memory.Options{Now: now}) }
