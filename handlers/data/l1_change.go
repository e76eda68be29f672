package data

import (
	"errors"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// L1Change is an L1 validator as a transaction left it.
type L1Change struct {
	ValidationID     string  `json:"validationId" format:"cb58"`
	ValidationIDHex  string  `json:"validationIdHex" format:"hash"`
	NodeID           string  `json:"nodeId" format:"nodeId"`
	SubnetID         string  `json:"subnetId" format:"cb58"`
	Weight           uint64  `json:"weight" doc:"0 when it was removed."`
	RemainingBalance uint64  `json:"remainingBalance" doc:"nAVAX"`
	BalanceChange    *int64  `json:"balanceChange,omitempty" doc:"nAVAX that the transaction put in; negative for what it returned."`
	BlsCredentials   *BlsKey `json:"blsCredentials,omitempty"`
}

// l1Deed is what a transaction does to an L1 validator.
type l1Deed struct {
	validation ids.ID
	weight     *uint64
	deposit    uint64
	close      bool // returns the balance
}

// l1Deeds are what a transaction does to L1 validators.
func l1Deeds(tx *primary.Tx) ([]l1Deed, error) {
	switch u := tx.Unsigned.(type) {
	case *primary.ConvertSubnetToL1Tx:
		deeds := make([]l1Deed, len(u.Validators))
		for i, v := range u.Validators {
			deeds[i] = l1Deed{validation: warp.ConversionValidationID(u.SubnetID, uint32(i)), weight: &v.Weight, deposit: v.Balance}
		}
		return deeds, nil
	case *primary.IncreaseL1ValidatorBalanceTx:
		return []l1Deed{{validation: u.ValidationID, deposit: u.Balance}}, nil
	case *primary.DisableL1ValidatorTx:
		return []l1Deed{{validation: u.ValidationID, close: true}}, nil
	case *primary.RegisterL1ValidatorTx:
		return messageDeed(u.Message, u.Balance)
	case *primary.SetL1ValidatorWeightTx:
		return messageDeed(u.Message, 0)
	}
	return nil, nil
}

// messageDeed is what a manager's message asks for.
func messageDeed(raw []byte, deposit uint64) ([]l1Deed, error) {
	message, err := warp.ParseMessage(raw)
	if err != nil {
		return nil, err
	}
	_, event, err := message.Event()
	if err != nil {
		return nil, err
	}
	switch e := event.(type) {
	case *warp.RegisterL1Validator:
		id, err := e.ValidationID()
		return []l1Deed{{validation: id, weight: &e.Weight, deposit: deposit}}, err
	case *warp.L1ValidatorWeight:
		return []l1Deed{{validation: e.ValidationID, weight: &e.Weight, close: e.Weight == 0}}, nil
	}
	return nil, nil
}

// l1Changes shows the L1 validators that a transaction is about.
func (b *book) l1Changes(t *settlement) ([]L1Change, error) {
	deeds, err := l1Deeds(t.Tx)
	if err != nil || len(deeds) == 0 {
		return nil, err
	}
	block, err := b.DB.PrimaryBlock(b.ctx, t.row.ID.Chain(), t.row.ID.Number())
	if err != nil {
		return nil, err
	}
	all := make([]L1Change, len(deeds))
	for i, d := range deeds {
		if all[i], err = b.l1Change(t, block, d); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// l1Change carries out what the block's transactions up to this one did to a validator.
func (b *book) l1Change(t *settlement, block *store.PrimaryBlock, deed l1Deed) (L1Change, error) {
	v, err := b.DB.L1Validator(b.ctx, deed.validation[:], block.ID.Number())
	if err != nil {
		return L1Change{}, err
	}
	shown := L1Change{ValidationID: deed.validation.String(), ValidationIDHex: hash(deed.validation[:]), NodeID: ids.NodeID(v.Node).String(),
		SubnetID: cb58(v.Subnet), BlsCredentials: &BlsKey{hexutil.Encode(v.BLS)}}
	if shown.Weight, shown.RemainingBalance, err = b.l1Before(block, deed.validation); err != nil {
		return shown, err
	}
	txs, err := b.DB.PrimaryTxsBetween(b.ctx, block.ID, t.row.ID)
	for i := range txs {
		tx, err := primary.ParseTx(primary.PChain, txs[i].Bytes)
		if err != nil {
			return shown, err
		}
		deeds, err := l1Deeds(tx)
		if err != nil {
			return shown, err
		}
		for _, d := range deeds {
			if d.validation == deed.validation {
				shown.apply(d)
			}
		}
	}
	return shown, err
}

// l1Before is an L1 validator's weight and balance when a block's time had come, before its transactions.
func (b *book) l1Before(block *store.PrimaryBlock, validation ids.ID) (weight, balance uint64, err error) {
	if block.ID.Number() == 0 {
		return 0, 0, nil
	}
	before, err := b.DB.L1Validator(b.ctx, validation[:], block.ID.Number()-1)
	if errors.Is(err, store.ErrNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	return uint64(before.Weight), before.Balance(block.Accrued), nil
}

// apply does to a validator what a transaction does, and says how its balance changed.
func (c *L1Change) apply(d l1Deed) {
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
