package primary

import (
	"errors"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// L1Change is the state in which a transaction left an L1 validator.
type L1Change struct {
	ValidationID     string       `json:"validationId" format:"cb58"`
	ValidationIDHex  string       `json:"validationIdHex" format:"hash"`
	NodeID           string       `json:"nodeId" format:"nodeId"`
	SubnetID         string       `json:"subnetId" format:"cb58"`
	Weight           uint64       `json:"weight" doc:"0 if the transaction removed the validator."`
	RemainingBalance uint64       `json:"remainingBalance" doc:"nAVAX"`
	BalanceChange    *int64       `json:"balanceChange,omitempty" doc:"nAVAX that the transaction added; negative if it returned some."`
	BlsCredentials   *data.BlsKey `json:"blsCredentials,omitempty"`
}

// l1Action is the effect of a transaction on an L1 validator.
type l1Action struct {
	validation ids.ID
	weight     *uint64
	deposit    uint64
	close      bool // returns the balance
}

// l1Actions returns a transaction's effects on L1 validators.
func l1Actions(tx *txs.Tx) ([]l1Action, error) {
	switch u := tx.Unsigned.(type) {
	case *txs.ConvertSubnetToL1Tx:
		actions := make([]l1Action, len(u.Validators))
		for i, v := range u.Validators {
			actions[i] = l1Action{validation: warp.ConversionValidationID(u.SubnetID, uint32(i)), weight: &v.Weight, deposit: v.Balance}
		}
		return actions, nil
	case *txs.IncreaseL1ValidatorBalanceTx:
		return []l1Action{{validation: u.ValidationID, deposit: u.Balance}}, nil
	case *txs.DisableL1ValidatorTx:
		return []l1Action{{validation: u.ValidationID, close: true}}, nil
	case *txs.RegisterL1ValidatorTx:
		return messageAction(u.Message, u.Balance)
	case *txs.SetL1ValidatorWeightTx:
		return messageAction(u.Message, 0)
	}
	return nil, nil
}

// messageAction returns the effect that a manager's message asks for.
func messageAction(raw []byte, deposit uint64) ([]l1Action, error) {
	message, err := warp.ParseMessage(raw)
	if err != nil {
		return nil, err
	}
	_, event, err := message.L1Message()
	if err != nil {
		return nil, err
	}
	switch e := event.(type) {
	case *warp.RegisterL1Validator:
		id, err := e.ValidationID()
		return []l1Action{{validation: id, weight: &e.Weight, deposit: deposit}}, err
	case *warp.L1ValidatorWeight:
		return []l1Action{{validation: e.ValidationID, weight: &e.Weight, close: e.Weight == 0}}, nil
	}
	return nil, nil
}

// l1Changes returns the L1 validators that a transaction changes.
func (b *chainView) l1Changes(t *query.TxUTXOs) ([]L1Change, error) {
	actions, err := l1Actions(t.Tx)
	if err != nil || len(actions) == 0 {
		return nil, err
	}
	block, err := b.DB.PrimaryBlock(b.Ctx, t.Row.ID.Chain(), t.Row.ID.Number())
	if err != nil {
		return nil, err
	}
	return data.TryList(actions, func(d l1Action) (L1Change, error) { return b.l1Change(t, block, d) })
}

// l1Change replays a block's transactions up to this one on a validator.
func (b *chainView) l1Change(t *query.TxUTXOs, block *store.PrimaryBlock, action l1Action) (L1Change, error) {
	v, err := b.DB.L1Validator(b.Ctx, action.validation[:], block.ID.Number())
	if err != nil {
		return L1Change{}, err
	}
	shown := L1Change{ValidationID: action.validation.String(), ValidationIDHex: data.Hash(action.validation[:]), NodeID: ids.NodeID(v.Node).String(),
		SubnetID: data.CB58(v.Subnet), BlsCredentials: &data.BlsKey{PublicKey: hexutil.Encode(v.BLS)}}
	if shown.Weight, shown.RemainingBalance, err = b.l1Before(block, action.validation); err != nil {
		return shown, err
	}
	transactions, err := b.DB.PrimaryTxsBetween(b.Ctx, block.ID, t.Row.ID)
	for i := range transactions {
		tx, err := txs.ParseTx(txs.PChain, transactions[i].Bytes)
		if err != nil {
			return shown, err
		}
		actions, err := l1Actions(tx)
		if err != nil {
			return shown, err
		}
		for _, d := range actions {
			if d.validation == action.validation {
				shown.apply(d)
			}
		}
	}
	return shown, err
}

// l1Before returns an L1 validator's weight and balance at a block's time, before its transactions.
func (b *chainView) l1Before(block *store.PrimaryBlock, validation ids.ID) (weight, balance uint64, err error) {
	if block.ID.Number() == 0 {
		return 0, 0, nil
	}
	before, err := b.DB.L1Validator(b.Ctx, validation[:], block.ID.Number()-1)
	if errors.Is(err, store.ErrNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	return uint64(before.Weight), before.Balance(block.AccruedFees), nil
}

// apply replays a transaction's effect on a validator and returns the change of its balance.
func (c *L1Change) apply(d l1Action) {
	before := c.RemainingBalance
	if d.weight != nil {
		c.Weight = *d.weight
	}
	c.RemainingBalance += d.deposit
	if d.close {
		c.RemainingBalance = 0
	}
	c.BalanceChange = nil
	if change := int64(c.RemainingBalance) - int64(before); change != 0 {
		c.BalanceChange = &change
	}
}
