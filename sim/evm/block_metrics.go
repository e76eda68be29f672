package evm

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

func (p *BlockExecution) blockMetrics() (*metric.Activity, error) {
	return activity(p.delta, int64(p.header.Time), new(int64(p.b.head.Time)), func(i int) (*big.Int, error) { return p.receipts[i].EffectiveGasPrice, nil })
}

// ActivityOf returns a stored block's contribution to its chain's metrics. parent is the time of the parent block.
func ActivityOf(kind Kind, d *store.Delta, parent int64) (*metric.Activity, error) {
	baseFee, err := PaidBaseFee(kind, d.Block.Header, d.Block.Execution)
	if err != nil {
		return nil, err
	}
	return activity(d, d.Block.Time, &parent, func(i int) (*big.Int, error) {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(d.Transactions[i].Raw); err != nil {
			return nil, err
		}
		return EffectiveGasPrice(tx, baseFee), nil
	})
}

// activity counts what a block's rows contain, with the gas prices that its transactions paid.
func activity(d *store.Delta, time int64, parent *int64, priceOf func(i int) (*big.Int, error)) (*metric.Activity, error) {
	a := metric.NewActivity(time, parent)
	for i := range d.Transactions {
		t := &d.Transactions[i]
		paid, err := priceOf(i)
		if err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, err)
		}
		price, overflow := uint256.FromBig(paid)
		if overflow {
			return nil, fmt.Errorf("transaction %d: its gas price does not fit 256 bits", i)
		}
		a.Transaction(t.Sender, t.Recipient, t.GasUsed, price)
		if t.Created != nil && t.Status == types.ReceiptStatusSuccessful {
			a.Creation(t.Sender)
		}
	}
	for i := range d.Logs {
		if l := &d.Logs[i]; index.IsTransfer(l) {
			from, to := index.TransferParties(l)
			a.Transfer(from, to)
		}
	}
	for i := range d.Calls {
		if c := &d.Calls[i]; (c.Type == "CREATE" || c.Type == "CREATE2") && !c.Reverted {
			a.Creation(c.Sender)
		}
	}
	a.Close()
	return a, nil
}
