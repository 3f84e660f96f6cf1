package policy

import (
	"bytes"

	"github.com/gatelatch/gatelatch"
)

// DefaultText returns the file that Default is read from.
func DefaultText() []byte { return bytes.Clone(defaultRules) }

// ReadAsWritten reads the facts of a call without looking at the disk: every
// path leads where it says. It is for calls of long ago, whose links are gone.
func (s *Set) ReadAsWritten(c *gatelatch.Call, sess *gatelatch.Session) *Facts {
	return newFacts(c, sess, world{home: home(), dirs: s.dirs, follow: plainly})
}
