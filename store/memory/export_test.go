package memory

// Reopen returns a store over what a closed one held, or an empty one for nil:
// what a restart of the process is to other stores.
func Reopen(old *Store) *Store {
	s := New(Options{})
	if old != nil {
		old.mu.RLock()
		defer old.mu.RUnlock()
		s.data = old.data
	}
	return s
}
