package server

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// REL-28: of a crowd of agents only so many are read at once, until each was
// heard or its request is whole. Who dawdles holds nobody up for long.
func TestAgentsAreReadInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counter := make(wicket, 1)
		came := make(chan int, 8)
		agent := func(n int) (*guest, func()) {
			here, there := net.Pipe()
			t.Cleanup(func() { _ = here.Close(); _ = there.Close() })
			g := &guest{Conn: here, lobby: &lobby{}, wicket: counter}
			g.agent.Store(true)
			return g, func() {
				go func() { _, _ = there.Write([]byte{'x'}) }()
				go func() {
					if _, err := g.Read(make([]byte, 1)); err == nil {
						came <- n
					}
				}()
				synctest.Wait()
			}
		}
		heard := func(want ...int) {
			t.Helper()
			synctest.Wait()
			for _, n := range want {
				select {
				case got := <-came:
					if got != n {
						t.Errorf("agent %d was read, not %d", got, n)
					}
				default:
					t.Errorf("agent %d was not read", n)
				}
			}
			if len(came) > 0 {
				t.Errorf("agent %d was read, too", <-came)
			}
		}
		first, ask1 := agent(1)
		second, ask2 := agent(2)
		third, ask3 := agent(3)
		ask1()
		heard(1)
		ask2()
		heard()
		first.served()
		heard(2)
		ask3()
		heard()
		_ = second.Close()
		heard(3)
		fourth, ask4 := agent(4)
		ask4()
		<-time.After(wicketWait)
		heard(4)
		third.leave()
		fourth.leave()
		if len(counter) != 0 {
			t.Errorf("%d are still at the wicket", len(counter))
		}
	})
}

// Where people come in, too, an agent stands at the wicket once it shows that
// it is one, and a person never does.
func TestAgentsAmongPeopleAreServedInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counter := make(wicket, 1)
		guests := make([]*guest, 3)
		for i := range guests {
			here, there := net.Pipe()
			t.Cleanup(func() { _ = here.Close(); _ = there.Close() })
			guests[i] = &guest{Conn: here, lobby: &lobby{}, wicket: counter, people: true}
		}
		first, second, person := guests[0], guests[1], guests[2]
		first.speaks(true)
		began := time.Now()
		go func() {
			<-time.After(wicketWait / 4)
			first.served()
		}()
		person.speaks(false)
		if took := time.Since(began); took != 0 {
			t.Errorf("a person waited for %s", took)
		}
		second.speaks(true)
		if took := time.Since(began); took != wicketWait/4 {
			t.Errorf("the second agent was served after %s", took)
		}
		second.speaks(false) // a proxy hands on for both
		if len(counter) != 0 || second.agent.Load() {
			t.Errorf("%d are still at the wicket", len(counter))
		}
	})
}
