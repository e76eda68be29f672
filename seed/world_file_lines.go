package seed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/fixtures/session"
	"snowglobe/fixtures/worldfile"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// line does what a session line says; transactions of accounts are handled elsewhere.
func (p *player) line(ctx context.Context, s *session.Step) error {
	var err error
	switch s.Kind {
	case session.World:
		return nil
	case session.Clock:
		return p.clock(ctx, s)
	case session.Mine:
		err = p.mine(ctx, s)
	case session.Raw:
		err = p.raw(ctx, s)
	case session.RPC:
		err = p.state(ctx, s)
	default:
		err = p.issue(ctx, s)
	}
	switch {
	case s.Fails && err == nil:
		return errors.New("it succeeded, but the line expects it to fail")
	case s.Fails && !store.Internal(err):
		return nil
	}
	return err
}

func (p *player) clock(ctx context.Context, s *session.Step) error {
	to := p.world.Clock.Now().Add(s.Span)
	if s.Time != "" {
		var err error
		if to, err = time.Parse(time.RFC3339, s.Time); err != nil {
			return err
		}
	}
	if !to.After(p.world.Clock.Now()) {
		return nil
	}
	return p.world.Advance(ctx, to)
}

func (p *player) mine(ctx context.Context, s *session.Step) error {
	at, err := p.chainOf(s.Chain)
	switch {
	case err != nil:
		return err
	case at < 0:
		return fmt.Errorf("%s makes its blocks itself", s.Chain)
	case s.Interval:
		return p.world.Miners[at].MineAtOnce(ctx)
	}
	return p.world.Miners[at].Mine(ctx, s.Count, s.Span)
}

func (p *player) raw(ctx context.Context, s *session.Step) error {
	at, err := p.chainOf(s.Chain)
	if err == nil && at < 0 {
		err = fmt.Errorf("%s does not accept such a transaction: write issue instead of raw", s.Chain)
	}
	tx := new(types.Transaction)
	if err == nil {
		err = tx.UnmarshalBinary(common.FromHex(s.Data))
	}
	if err != nil {
		return err
	}
	return p.world.Miners[at].Send(ctx, tx)
}

// state sets an account's state, as the methods of a node do.
func (p *player) state(ctx context.Context, s *session.Step) error {
	set, err := worldfile.StateOf(s)
	if err != nil {
		return err
	}
	at, err := p.chainOf(s.Chain)
	if err != nil {
		return err
	}
	address, err := p.address(at)(set.Account)
	if err != nil {
		return err
	}
	m := p.world.Miners[at]
	switch set.Kind {
	case worldfile.SetBalance:
		return m.SetBalance(ctx, address, uint256.MustFromBig(set.Number))
	case worldfile.AddBalance:
		return m.AddBalance(ctx, address, uint256.MustFromBig(set.Number))
	case worldfile.SetNonce:
		return m.SetNonce(ctx, address, set.Number.Uint64(), !set.Raises)
	case worldfile.SetCode:
		return m.SetCode(ctx, address, set.Data)
	}
	return m.SetStorage(ctx, address, common.BigToHash(set.Number), common.BytesToHash(set.Data), nil)
}

// issue issues a signed transaction of the P- or X-Chain, or an atomic one of a C-Chain.
func (p *player) issue(ctx context.Context, s *session.Step) error {
	at, err := p.named.chain(p.specs, s.Chain)
	if err != nil {
		return err
	}
	n := p.world.Networks[at.network]
	raw, err := formatting.Decode(formatting.Hex, s.Data)
	if err != nil {
		return err
	}
	tx, err := txs.ParseTx(at.onPrimary(), raw)
	if err != nil {
		return err
	}
	switch at.onPrimary() {
	case txs.PChain:
		return n.IssueP(ctx, tx)
	case txs.XChain:
		return n.IssueX(ctx, tx)
	}
	return n.IssueC(ctx, tx)
}

// asWritten returns a transaction with the fields that a line gives.
func asWritten(tx *types.DynamicFeeTx, f *session.Fields) (types.TxData, error) {
	if f == nil {
		return tx, nil
	}
	if f.Nonce != nil {
		tx.Nonce = *f.Nonce
	}
	var err error
	if f.Fee.Number != "" {
		tx.GasFeeCap, err = worldfile.Wei(f.Fee)
	}
	if err == nil && f.Tip.Number != "" {
		tx.GasTipCap, err = worldfile.Wei(f.Tip)
	}
	if err != nil || f.Price.Number == "" {
		return tx, err
	}
	price, err := worldfile.Wei(f.Price)
	return &types.LegacyTx{Nonce: tx.Nonce, GasPrice: price, Gas: tx.Gas, To: tx.To, Value: tx.Value, Data: tx.Data}, err
}
