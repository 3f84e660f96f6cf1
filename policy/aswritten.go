package policy

import (
	"math"

	"github.com/gatelatch/gatelatch"
)

// Unhurried returns the same rules without a limit to how long judging takes: a
// replay must not come out stricter because the machine is busy.
func (s *Set) Unhurried() *Set {
	with := *s
	with.budget = math.MaxInt64
	return &with
}

// ReadAsWritten reads the facts of a call without looking at the disk: every
// path leads where it says. It is for calls of long ago, whose links are gone.
func (s *Set) ReadAsWritten(c *gatelatch.Call, sess *gatelatch.Session) *Facts {
	return newFacts(c, sess, world{home: s.home, dirs: s.dirs, disk: writtenDisk{}})
}
