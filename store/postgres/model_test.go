package postgres

import (
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model/modeltest"
)

func TestModel(t *testing.T) {
	var s gatelatch.Store
	modeltest.Run(t, 200, 1, func(now func() time.Time) gatelatch.Store {
		if s == nil {
			s = modeltest.Clocked(open(t, t.TempDir(), Options{}), now)
		}
		return s
	})
}
