package sqlite

import (
	"hash/maphash"

	"github.com/gatelatch/gatelatch"
)

// names are the messages and call ids of sessions that began in this process:
// one that is not among them is new, without a look into the tables. There may
// be more than was written, never less.
type names struct {
	of    map[[2]string]map[uint64]struct{} // by agent and session
	count int
	seed  maphash.Seed
}

const mostNames = 1 << 18

func newNames() names {
	return names{of: map[[2]string]map[uint64]struct{}{}, seed: maphash.MakeSeed()}
}

// begin takes a session that has no batches yet.
func (n *names) begin(session [2]string) {
	n.count -= len(n.of[session])
	n.of[session] = map[uint64]struct{}{}
}

// isNew reports whether nobody can have used a name, and takes it.
func (n *names) isNew(b *gatelatch.Batch, kind, name string) bool {
	known := n.of[[2]string{b.Agent, b.Session}]
	if known == nil {
		return false
	}
	hash := maphash.Comparable(n.seed, [2]string{kind, name})
	if _, is := known[hash]; is {
		return false
	}
	known[hash] = struct{}{}
	if n.count++; n.count > mostNames {
		*n = newNames()
	}
	return true
}
