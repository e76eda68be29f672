package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/warp"
)

// ScheduledTx is a transaction at a time known before its chain's history is made, because another chain depends on it: it sends or
// delivers an ICM message, or prepares for that. A chain executes its scheduled transactions in order.
type ScheduledTx struct {
	At      uint64
	Early   bool                             // needs none of the contracts that the deployer creates
	Exact   bool                             // must be in a block of that very second, from which its content counts
	Ready   <-chan struct{}                  // closed once Request can be called; nil for at once
	Request func(*Chain) (*TxRequest, error) // with its gas and its access list
	Message func() *warp.UnsignedMessage     // that it must send; nil for none
}

// GasDeliver is enough to deliver a message to the messenger.
const GasDeliver = 1_600_000

// GreeterAddress returns the address, on every chain, of the contract that sends and receives greetings: the first that the deployer creates.
func GreeterAddress(p *population.Personas) common.Address {
	return crypto.CreateAddress(p.Deployer.Address, 0)
}

var (
	errContractMoved  = errors.New("the greeter is not where it is expected")
	errMessageNotSent = errors.New("a scheduled transaction did not send its ICM message")
)

// scheduledTxs holds a chain's scheduled transactions; some of the first are already sent.
type scheduledTxs struct {
	chain *Chain
	txs   []ScheduledTx
}

// next returns when the next transaction asks for a block, perhaps only to prepare for it. earliest returns the time of the next possible
// block, depending on whether the chain has its contracts.
func (s *scheduledTxs) next(deployed bool, earliest func(deployed bool) uint64) (at uint64, due bool) {
	if len(s.txs) == 0 {
		return 0, false
	}
	return max(1000*s.txs[0].At, earliest(deployed || s.txs[0].Early)), true
}

// nextExact returns the time of the next transaction that needs an exact second.
func (s *scheduledTxs) nextExact() (at uint64, due bool) {
	for i := range s.txs {
		if s.txs[i].Exact {
			return s.txs[i].At, true
		}
	}
	return 0, false
}

// waits reports whether a due transaction needs contracts that the chain does not have yet.
func (s *scheduledTxs) waits(at, earliest uint64) bool {
	return len(s.txs) > 0 && !s.txs[0].Early && max(1000*s.txs[0].At, earliest) <= at
}

// send sends the transactions due by the time of a block under construction, and returns their number. Most of them wait for the chain to
// have its contracts.
func (s *scheduledTxs) send(ctx context.Context, p *evm.BlockExecution, deployed bool) (done int, err error) {
	for ; len(s.txs) > 0 && s.txs[0].At <= p.Header().Time; s.txs = s.txs[1:] {
		tx := &s.txs[0]
		if p.GasLeft() < GasDeliver || !deployed && !tx.Early {
			return done, nil
		}
		if err := s.wait(ctx, tx); err != nil {
			return done, err
		}
		if err := s.execute(p, tx); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

// wait returns when the transaction can be made.
func (s *scheduledTxs) wait(ctx context.Context, tx *ScheduledTx) error {
	c := s.chain
	if !tx.Early && c.byRole["greeter"] != GreeterAddress(c.Personas) {
		return errContractMoved
	}
	if tx.Ready == nil {
		return nil
	}
	select {
	case <-tx.Ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// execute executes a transaction, which must go as planned: later messages depend on it.
func (s *scheduledTxs) execute(p *evm.BlockExecution, tx *ScheduledTx) error {
	request, err := tx.Request(s.chain)
	if err != nil {
		return err
	}
	receipt, err := s.chain.execute(p, request, s.chain.scheduledTxData(p, request))
	if err == nil {
		err = tx.check(receipt)
	}
	if err != nil {
		return fmt.Errorf("chain %d, block %d: %w", s.chain.Row.EVMID, p.Header().Number, err)
	}
	return nil
}

// check finds the message in a receipt.
func (tx *ScheduledTx) check(receipt *types.Receipt) error {
	if receipt.Status != types.ReceiptStatusSuccessful {
		return errMessageNotSent
	}
	if tx.Message == nil {
		return nil
	}
	id, err := tx.Message().ID()
	if err != nil {
		return err
	}
	sent := func(l *types.Log) bool { return len(l.Topics) == 3 && l.Topics[2] == common.Hash(id) }
	if !slices.ContainsFunc(receipt.Logs, sent) {
		return fmt.Errorf("%w: %x", errMessageNotSent, bytes.TrimRight(id[:], "\x00"))
	}
	return nil
}
