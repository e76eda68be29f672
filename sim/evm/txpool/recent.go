package txpool

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/event"
)

// recentHashes is the number of newest pending transactions that are remembered for clients that poll.
const recentHashes = 8_192

// recent holds the hashes of the newest pending transactions.
type recent struct {
	hashes []common.Hash // a ring once it is full
	count  uint64        // of all hashes ever added
}

// remember adds transactions that became pending.
func (p *Pool) remember(fresh []*Transaction) []*Transaction {
	for _, t := range fresh {
		if len(p.recent.hashes) < recentHashes {
			p.recent.hashes = append(p.recent.hashes, t.Hash())
		} else {
			p.recent.hashes[p.recent.count%recentHashes] = t.Hash()
		}
		p.recent.count++
	}
	return append([]*Transaction{}, fresh...)
}

// Became returns the transactions that became pending after the first n, as far as they are remembered, and the total number.
func (p *Pool) Became(after uint64) (hashes []common.Hash, count uint64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	count = p.recent.count
	for n := max(after, count-min(count, recentHashes)); n < count; n++ {
		hashes = append(hashes, p.recent.hashes[n%recentHashes])
	}
	return hashes, count
}

func (p *Pool) announce(fresh []*Transaction) {
	if len(fresh) > 0 {
		p.feed.Send(fresh)
	}
}

// Subscribe delivers the transactions that become pending from now on. Sending waits for the channel, so its reader must never wait for a
// client.
func (p *Pool) Subscribe(ch chan<- []*Transaction) event.Subscription { return p.feed.Subscribe(ch) }
