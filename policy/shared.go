package policy

import (
	"io/fs"
	"sync/atomic"

	"github.com/gatelatch/gatelatch"
)

// Shared is a File whose user's rules are revisions in a store: those of all
// its gateways. Before there is one, the default rules hold.
type Shared struct {
	*File
	rev atomic.Pointer[gatelatch.Revision]
}

var _ gatelatch.Shared = (*Shared)(nil)

// revisionName stands for a revision in messages.
const revisionName = "policy.yaml"

// OpenShared returns the policy of a store. The machine's file counts beside it.
func OpenShared(machine string) *Shared {
	s := &Shared{}
	user := &source{
		name: revisionName, tier: layerUser, instead: Default().layers[0],
		stat: func() (stamp, error) { st, err := s.stamp(); return st, err },
		read: func() ([]byte, stamp, error) {
			st, err := s.stamp()
			if err != nil {
				return nil, st, err
			}
			return []byte(s.rev.Load().Text), st, nil
		},
	}
	s.File = openSources(Paths{Machine: machine}, user, true)
	return s
}

func (s *Shared) stamp() (stamp, error) {
	if rev := s.rev.Load(); rev != nil {
		return stamp{inode: uint64(rev.Number)}, nil
	}
	return stamp{}, fs.ErrNotExist
}

// Revision implements gatelatch.Shared.
func (s *Shared) Revision() int64 {
	if rev := s.rev.Load(); rev != nil {
		return rev.Number
	}
	return 0
}

// Use implements gatelatch.Shared. No older rules stay in force behind one that
// can't be read.
func (s *Shared) Use(rev *gatelatch.Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.rev.Load(); old != nil && old.Number >= rev.Number {
		return
	}
	s.rev.Store(rev)
	s.user.good = false
	_ = s.user.reload() // the error is kept in problem
	s.compose()
}

// Check implements gatelatch.Shared.
func (s *Shared) Check(text string) error {
	_, err := Parse(revisionName, []byte(text))
	return err
}

// Text returns the user's rules in force, as they are written.
func (f *File) Text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	if f.user.layer == nil {
		return ""
	}
	return f.user.layer.text
}
