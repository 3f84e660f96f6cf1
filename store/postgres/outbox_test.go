package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/notify"
)

// tally is a channel that hands on which calls it told of.
type tally chan string

func (c tally) Send(_ context.Context, n notify.Notice) error { c <- n.Call; return nil }

// REL-14: gateways on one database tell of each call once, whoever took it in.
func TestMessagesAreSentOnceAcrossGateways(t *testing.T) {
	_, stores := two(t, Options{})
	const calls = 16 // fewer than a channel takes at once
	told := make(tally, 2*calls)
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	defer func() { stop(); work.Wait() }()
	for _, s := range stores {
		box := &notify.Outbox{Store: s, URL: "http://127.0.0.1:7474", Log: slog.New(slog.DiscardHandler),
			Targets: []*notify.Target{{Channel: told, Name: "phone", Type: "ntfy"}}}
		work.Go(func() { box.Run(ctx) })
	}
	must(t, stores[0].Update(ctx, func(tx gatelatch.Tx) error {
		return tx.SaveSession(&gatelatch.Session{Agent: agent.ID, ID: "s", Since: tx.Now()})
	}))
	for i := range calls {
		must(t, save(stores[i%2], pending(fmt.Sprint("m", i))))
	}
	times := map[string]int{}
	for range calls {
		times[<-told]++
	}
	stop()
	work.Wait() // what was sent is noted also by who stops
	for _, m := range view(t, stores[0], func(r gatelatch.Reader) ([]*gatelatch.Message, error) { return r.Messages(gatelatch.MessageQuery{}) }) {
		if m.State != gatelatch.MessageSent || m.Tries != 1 {
			t.Errorf("left %+v", m)
		}
	}
	if len(times) != calls || len(told) > 0 {
		t.Errorf("%d of %d calls were told of, %d once more: %v", len(times), calls, len(told), times)
	}
}
