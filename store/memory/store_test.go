package memory_test

import (
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
	"github.com/gatelatch/gatelatch/store/storetest"
)

// What a store holds ends with the process, so a restart is a new store over
// what the closed one held.
func TestStore(t *testing.T) {
	stores := map[string]*memory.Store{}
	storetest.Run(t, func(_ *testing.T, dir string) gatelatch.Store {
		stores[dir] = memory.Reopen(stores[dir])
		return stores[dir]
	})
}
