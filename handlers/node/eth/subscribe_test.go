package eth

import (
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"

	"snowglobe/sim/evm/reader"
)

// TestWhoFallsBehindIsDropped: a subscriber that reads nothing is dropped once its backlog is full, and delays neither the source nor another
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

// TestWhatARewindLeavesToTell: after a chain went back, each waiting block that stays is announced once, and a log is removed only if it was
// announced.
func TestWhatARewindLeavesToTell(t *testing.T) {
	t.Parallel()
	block := func(number uint64) *reader.BlockEvent {
		return &reader.BlockEvent{Block: &reader.Block{Number: number}}
	}
	back := func(number uint64, removed ...uint64) *reader.BlockEvent {
		e := block(number)
		e.Rewound = true
		for _, n := range removed {
			e.Logs = append(e.Logs, &types.Log{BlockNumber: n})
		}
		return e
	}
	for _, c := range []struct {
		name    string
		waiting []*reader.BlockEvent
		to      *reader.BlockEvent
		want    string // numbers of blocks, and of those whose logs are removed
	}{
		{"all told", nil, back(3, 4, 5), "3[4 5]"},
		{"none told", []*reader.BlockEvent{block(4), block(5)}, back(3, 4, 5), "3[]"},
		{"some told", []*reader.BlockEvent{block(5), block(6)}, back(3, 4, 5, 6), "3[4]"},
		{"to one that waits", []*reader.BlockEvent{block(4), block(5), block(6)}, back(5, 6), "4[] 5[]"},
		{"twice", []*reader.BlockEvent{back(5, 6), block(6)}, back(3, 4, 5, 6), "3[6 4 5]"},
		{"twice to the same", []*reader.BlockEvent{back(5, 6), block(6)}, back(5, 6), "5[6]"},
	} {
		var got string
		for _, e := range rewind(c.waiting, c.to) {
			logs := []uint64{}
			for _, log := range e.Logs {
				logs = append(logs, log.BlockNumber)
			}
			if got != "" {
				got += " "
			}
			got += fmt.Sprintf("%d%d", e.Block.Number, logs)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
