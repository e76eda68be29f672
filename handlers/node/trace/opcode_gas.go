package trace

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/node/eth"
	"snowglobe/sim/evm/reader"
)

// transactionGas lists a transaction's opcodes, how often each was executed, and the gas of all executions: of a call, without the gas that it
// passes on. reth and anvil have it.
type transactionGas struct {
	TransactionHash common.Hash     `json:"transactionHash"`
	OpcodeGas       json.RawMessage `json:"opcodeGas"`
}

type blockGas struct {
	BlockHash    common.Hash      `json:"blockHash"`
	BlockNumber  uint64           `json:"blockNumber"`
	Transactions []transactionGas `json:"transactions"`
}

func opcodeGas() *reader.TraceConfig {
	return &reader.TraceConfig{Tracer: new(reader.OpcodeGas), Newer: true}
}

// TransactionOpcodeGas returns how often a transaction executed each opcode, and the gas that it cost; null if there is no such transaction.
func (a *api) TransactionOpcodeGas(ctx context.Context, hash common.Hash) (*transactionGas, error) {
	t, err := a.transaction(ctx, hash)
	if errors.Is(err, errTransaction) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	trace, err := a.miner.Chain.TraceTransaction(ctx, t, opcodeGas())
	if err != nil {
		return nil, err
	}
	return &transactionGas{hash, trace.JSON()}, nil
}

// BlockOpcodeGas returns how often each transaction of a block executed each opcode, and the gas that it cost.
func (a *api) BlockOpcodeGas(ctx context.Context, ref eth.BlockRef) (*blockGas, error) {
	b, err := a.base(ctx, &ref)
	if err != nil {
		return nil, err
	}
	answer := &blockGas{b.Hash, b.Number, []transactionGas{}}
	err = a.eachOf(ctx, b, opcodeGas(), func(t *reader.TraceResult) error {
		answer.Transactions = append(answer.Transactions, transactionGas{t.TxHash, t.Trace.JSON()})
		return nil
	})
	return answer, err
}
