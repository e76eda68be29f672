package miner

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
)

// ErrNotTogether means that no block can be made of one account's transactions alone.
var ErrNotTogether = errors.New("transactions cannot be sent together")

var errTooLarge = errors.New("the transactions are too large for one block")

// RevertedTogetherError names the transaction because of which none was sent.
type RevertedTogetherError struct{ Index int }

func (e *RevertedTogetherError) Error() string {
	return fmt.Sprintf("transaction %d would revert, so none was sent", e.Index)
}

// SendTogether puts transactions of one account into a block of their own, in their order: all of them, or none if one is not valid or reverts.
// It needs automine, because without it the block would have to leave out what waits.
func (m *Miner) SendTogether(ctx context.Context, transactions []*types.Transaction, sender common.Address) error {
	asked := m.settings.now()
	if !asked.automine {
		return fmt.Errorf("%w: automine is off", ErrNotTogether)
	}
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return err
	}
	for _, tx := range transactions {
		if err := m.Pool.Validate(tx, sender, asked.limited(head.Header)); err != nil {
			return err
		}
	}
	defer m.world.Mined(ctx)
	defer m.world.Lock(ctx)()
	if err := m.restore(ctx); err != nil {
		return err
	}
	if _, waits := m.Pool.Nonce(sender); waits {
		return fmt.Errorf("%w: other transactions of %s wait", ErrNotTogether, sender)
	}
	next := m.plan(0)
	for last := next.time + longestWait; ; next.time += capacityStep {
		p, err := m.open(&next)
		if err != nil {
			return err
		}
		switch err = applyAll(p, transactions, sender); {
		case err == nil:
			return m.seal(p, next)
		case !waits(p, err) || next.lags() || next.time >= last:
			return err
		}
	}
}

// applyAll executes transactions in a block that is thrown away if one of them fails.
func applyAll(p *evm.BlockExecution, transactions []*types.Transaction, sender common.Address) error {
	for i, tx := range transactions {
		if p.Size()+tx.Size() > maxTxsSize {
			return errTooLarge
		}
		receipt, err := p.Apply(tx, sender)
		if err != nil {
			return err
		}
		if receipt.Status == types.ReceiptStatusFailed {
			return &RevertedTogetherError{i}
		}
	}
	return nil
}
