package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model/modeltest"
)

func TestModel(t *testing.T) {
	var s *Store
	modeltest.Run(t, 200, 1, func(now func() time.Time) gatelatch.Store {
		if s == nil {
			var err error
			if s, err = Open(t.Context(), filepath.Join(t.TempDir(), "g.db"), Options{Now: now}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
		}
		return s
	})
}
