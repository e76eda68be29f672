package relayer

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// maxAnswers bounds the messages caused by deliveries that one call delivers. The rest wait for the next call.
const maxAnswers = 32

// maxRetries bounds the undelivered messages that one call tries again, oldest first.
const maxRetries = 4

// retryInterval is the interval at which Run checks whether the disk has room again.
const retryInterval = time.Second

// Relayer delivers the messages of a world.
type Relayer struct {
	world   *sim.World
	account func() (account, error)
	failed  func(error)

	delivering sync.Mutex // held while messages are delivered, one after another

	mu        sync.Mutex
	queue     []queued // in the order of sending
	again     []queued // undelivered for lack of a quorum or funds, to be tried again
	unwritten bool     // a delivery failed because the disk was full
	within    bool     // a delivery is under way: messages sent now are answers
	rewinds   int      // how often the world was rewound
}

// account pays for deliveries.
type account struct {
	key     *ecdsa.PrivateKey
	address common.Address
}

// queued is a sent message, by the position of its log.
type queued struct {
	id     store.Position
	answer bool // a delivery caused it
	tried  bool
}

// Start gives a world a relayer, which begins with the clients' undelivered messages. It passes failed deliveries to failed.
func Start(ctx context.Context, w *sim.World, failed func(error)) error {
	r := &Relayer{world: w, failed: failed, account: sync.OnceValues(func() (account, error) { // the curve's tables take a tenth of the start-up time
		key, err := crypto.HexToECDSA(fixtures.Relayer().Key)
		if err != nil {
			return account{}, err
		}
		return account{key, crypto.PubkeyToAddress(key.PublicKey)}, nil
	})}
	// Messages that the generated history left pending were sent before its end, and stay pending.
	sent, err := w.DB.MessagesSince(ctx, w.Meta.Until)
	if err != nil {
		return fmt.Errorf("messages to deliver: %w", err)
	}
	r.Sent(sent)
	w.SetRelayer(r)
	r.Deliver(ctx)
	return nil
}

// Sent queues the messages of a block.
func (r *Relayer) Sent(messages []store.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range messages {
		r.queue = append(r.queue, queued{id: messages[i].ID, answer: r.within})
	}
}

// Rewound forgets messages whose sending was undone.
func (r *Relayer) Rewound(ctx context.Context) error {
	sent, err := r.world.DB.MessagesSince(ctx, r.world.Meta.Until)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.queue, r.again = nil, nil
	r.rewinds++
	r.mu.Unlock()
	r.Sent(sent)
	return nil
}

// Run retries deliveries that failed because the disk was briefly full, until the context ends: there may be no later block to trigger that.
func (r *Relayer) Run(ctx context.Context) {
	every := time.NewTicker(retryInterval)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			r.mu.Lock()
			unwritten := r.unwritten
			r.unwritten = false
			r.mu.Unlock()
			if unwritten {
				r.Deliver(ctx)
			}
		}
	}
}

// Deliver delivers queued messages, after every block. It retries undelivered messages in later calls unless they can never succeed, and
// waits for deliveries of other calls.
func (r *Relayer) Deliver(ctx context.Context) {
	if r.idle() {
		return
	}
	r.delivering.Lock()
	defer r.delivering.Unlock()
	ctx = context.WithoutCancel(ctx) // a client that disconnects takes no message with it
	r.retry()
	for answers := 0; ; {
		next, any := r.next(answers < maxAnswers)
		if !any {
			return
		}
		if next.answer {
			answers++
		}
		err := r.deliver(ctx, next.id)
		if err != nil && !next.tried {
			r.failed(fmt.Errorf("message of log %d of block %d on chain %d: %w", next.id.Index(), next.id.Number(), r.world.ChainAt(next.id).Row.EVMID, err))
		}
		r.done(next, err)
	}
}

func (r *Relayer) rewound() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rewinds
}

func (r *Relayer) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue)+len(r.again) == 0 && !r.within
}

// retry queues undelivered messages before the new ones, which were sent later.
func (r *Relayer) retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.again), maxRetries)
	r.queue = slices.Concat(r.again[:n], r.queue)
	r.again = slices.Delete(r.again, 0, n)
}

// next takes the first message of the queue, skipping answers once there were enough.
func (r *Relayer) next(answers bool) (queued, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.queue, func(m queued) bool { return answers || !m.answer })
	if i < 0 {
		return queued{}, false
	}
	m := r.queue[i]
	r.queue = slices.Delete(r.queue, i, i+1)
	r.within = true
	return m, true
}

func (r *Relayer) done(m queued, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.within = false
	if err != nil && !errors.Is(err, errNotAllowed) && !errors.Is(err, errGasLimit) {
		m.tried = true
		r.unwritten = r.unwritten || errors.Is(err, store.ErrDisk)
		r.again = append(r.again, m)
	}
}
