package server

import "time"

// SetRoom bounds the connections of a server for a test.
func SetRoom(s *Server, most int) {
	s.lobby.mu.Lock()
	defer s.lobby.mu.Unlock()
	s.lobby.most = most
}

// Asking is how many connections have no whole request.
func Asking(s *Server) int {
	s.lobby.mu.Lock()
	defer s.lobby.mu.Unlock()
	return s.lobby.asking.Len()
}

// Recheck has readiness looked at anew.
func Recheck(s *Server) {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	s.ready.at = s.ready.at.Add(-readyFor)
}

// LookAnew has the whole trail looked at.
func LookAnew(s *Server) {
	s.chain.mu.Lock()
	defer s.chain.mu.Unlock()
	s.chain.begun = time.Time{}
}

// Crowd fills the wicket, until it is let go.
func Crowd(s *Server) (letGo func()) {
	for range cap(s.wicket) {
		s.wicket <- struct{}{}
	}
	return func() {
		for range cap(s.wicket) {
			<-s.wicket
		}
	}
}
