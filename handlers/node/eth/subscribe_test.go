package eth

import (
	"testing"

	"github.com/ethereum/go-ethereum/event"
)

// TestWhoFallsBehindIsDropped: a subscriber that reads nothing is dropped after the backlog, and delays neither the source nor another
// subscriber.
func TestWhoFallsBehindIsDropped(t *testing.T) {
	var source event.FeedOf[int]
	b := newBroadcaster(func(ch chan<- int) event.Subscription { return source.Subscribe(ch) })
	defer b.close()
	asleep, err := b.subscribe()
	if err != nil {
		t.Fatal(err)
	}
	awake, err := b.subscribe()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 * backlog {
		source.Send(n)
		if got := <-awake; got != n {
			t.Fatalf("%d, want %d", got, n)
		}
	}
	read := 0
	for range asleep {
		read++
	}
	if read != backlog {
		t.Errorf("%d events wait for who was dropped", read)
	}
	b.unsubscribe(asleep)
}
