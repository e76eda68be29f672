package evm

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/store"
)

func (p *BlockExecution) receipt(tx *types.Transaction, sender common.Address, m *core.Message, result *core.ExecutionResult) *types.Receipt {
	index := len(p.txs)
	number := p.header.Number.Uint64()
	r := &types.Receipt{
		Type: tx.Type(), Status: types.ReceiptStatusSuccessful, CumulativeGasUsed: p.gas.Used(), GasUsed: result.UsedGas,
		TxHash: tx.Hash(), TransactionIndex: uint(index), BlockNumber: p.header.Number, EffectiveGasPrice: m.GasPrice.ToBig(),
		Logs: p.state.GetLogs(tx.Hash(), number, common.Hash{}, p.header.Time),
	}
	if result.Failed() {
		r.Status = types.ReceiptStatusFailed
	}
	if tx.To() == nil {
		r.ContractAddress = crypto.CreateAddress(sender, tx.Nonce())
	}
	r.Bloom = types.CreateBloom(r)
	p.txs, p.senders, p.size, p.receipts = append(p.txs, tx), append(p.senders, sender), p.size+tx.Size(), append(p.receipts, r)
	p.rows(tx, sender, r)
	return r
}

// ReceiptsOf assembles the receipts of a block from rows, as far as their hash covers them.
func ReceiptsOf(d *store.Delta) (types.Receipts, error) {
	receipts := make(types.Receipts, len(d.Transactions))
	for n := range d.Transactions {
		t := &d.Transactions[n]
		receipts[n] = &types.Receipt{Status: t.Status, CumulativeGasUsed: t.GasTotal}
		if len(t.Raw) > 0 && t.Raw[0] < 0x80 { // EIP-2718: a type comes before the list
			receipts[n].Type = t.Raw[0]
		}
	}
	for n := range d.Logs {
		l := &d.Logs[n]
		if l.Tx < 0 || l.Tx >= len(receipts) {
			return nil, fmt.Errorf("log %d: there is no transaction %d", n, l.Tx)
		}
		made := &types.Log{Address: common.BytesToAddress(l.Address), Data: l.Data}
		for topics := append(append([]byte{}, l.Topic...), l.Topics...); len(topics) >= common.HashLength; topics = topics[common.HashLength:] {
			made.Topics = append(made.Topics, common.BytesToHash(topics[:common.HashLength]))
		}
		receipts[l.Tx].Logs = append(receipts[l.Tx].Logs, made)
	}
	for _, r := range receipts {
		r.Bloom = types.CreateBloom(r)
	}
	return receipts, nil
}
