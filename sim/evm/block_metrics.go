package evm

import (
	"fmt"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/metric"
)

// blockMetrics is what the block adds to the metrics of its chain, from its rows and the prices on its receipts.
func (p *Pending) blockMetrics() (*metric.Activity, error) {
	parent := int64(p.b.head.Time)
	a := metric.NewActivity(int64(p.header.Time), &parent)
	for i := range p.delta.Transactions {
		t := &p.delta.Transactions[i]
		price, overflow := uint256.FromBig(p.receipts[i].EffectiveGasPrice)
		if overflow {
			return nil, fmt.Errorf("transaction %d: its gas price does not fit 256 bits", i)
		}
		a.Transaction(t.Sender, t.Recipient, t.GasUsed, price)
		if t.Created != nil && t.Status == types.ReceiptStatusSuccessful {
			a.Creation(t.Sender)
		}
	}
	for i := range p.delta.Logs {
		if l := &p.delta.Logs[i]; index.IsTransfer(l) {
			from, to := index.TransferParties(l)
			a.Transfer(from, to)
		}
	}
	for i := range p.delta.Calls {
		if c := &p.delta.Calls[i]; (c.Type == "CREATE" || c.Type == "CREATE2") && !c.Reverted {
			a.Creation(c.Sender)
		}
	}
	a.Close()
	return a, nil
}
