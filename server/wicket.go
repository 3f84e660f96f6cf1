package server

import (
	"runtime"
	"time"
)

// wicket is where the requests of agents are read, a few at a time: those of a
// crowd lie unread meanwhile, so that whoever decides does not wait behind all
// of them for the processor.
type wicket chan struct{}

// One processor stays free for others.
func newWicket() wicket { return make(wicket, max(1, runtime.GOMAXPROCS(0)-1)) }

const (
	// wicketWait bounds it: a request is read then all the same, whoever dawdles.
	wicketWait = time.Second
	// awayPause is for those behind who is sent away: sending a crowd away must
	// not take the time in which some of it could be answered.
	awayPause = 500 * time.Microsecond
)

// sentAway keeps the place at the wicket for a moment.
func (g *guest) sentAway() {
	if g != nil && g.there.Load() {
		time.Sleep(awayPause)
	}
}

// Read implements net.Conn. A guest stands at the wicket from when it was heard
// until it is listened to again, or its whole request is there.
func (g *guest) Read(p []byte) (int, error) {
	g.leave()
	n, err := g.Conn.Read(p)
	if err == nil && g.agent.Load() && !g.busy.Load() {
		g.arrive()
	}
	return n, err
}

// speaks says whose request this is, where that shows only in the request: an
// agent stands at the wicket from then on, until a person comes the same way, as
// through a proxy.
func (g *guest) speaks(agent bool) {
	if g == nil || g.wicket == nil || !g.people || g.agent.Swap(agent) == agent {
		return
	}
	if agent {
		g.arrive()
	} else {
		g.leave()
	}
}

func (g *guest) arrive() {
	if g.wicket == nil || g.there.Load() {
		return
	}
	select {
	case g.wicket <- struct{}{}:
	default:
		t := time.NewTimer(wicketWait)
		defer t.Stop()
		select {
		case g.wicket <- struct{}{}:
		case <-t.C:
			return
		}
	}
	if !g.there.CompareAndSwap(false, true) { // two requests of one connection
		<-g.wicket
	}
}

func (g *guest) leave() {
	if g.there.CompareAndSwap(true, false) {
		<-g.wicket
	}
}
