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
// this once more without it. GATELATCH_SOAK makes it a campaign.
func TestSoakModel(t *testing.T) {
	histories := 20_000
	switch {
	case os.Getenv("GATELATCH_SOAK") != "":
		histories = 1_000_000
	case raced:
		histories = 2_000
	}
	modeltest.Run(t, histories, 2, open)
}

func open(now func() time.Time) gatelatch.Store { return memory.New(memory.Options{Now: now}) }
