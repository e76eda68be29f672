package ots

import (
	"context"
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

// apiLevel is the interface version that Otterscan expects.
const apiLevel = 8

// Namespaces returns the Otterscan methods of a chain.
func Namespaces(m *miner.Miner) []rpc.Namespace {
	a := &api{m.Chain, m}
	return []rpc.Namespace{{Name: "ots", Methods: a}, {Name: "erigon", Methods: &erigonAPI{a}}}
}

type api struct {
	chain *reader.Chain
	miner *miner.Miner
}

// blockRef is a block reference as the namespace eth takes it, or the JSON number that Otterscan sends.
type blockRef struct{ eth.BlockRef }

func (b *blockRef) UnmarshalJSON(data []byte) error {
	var number uint64
	if json.Unmarshal(data, &number) == nil {
		data = []byte(`"` + hexutil.EncodeUint64(number) + `"`)
	}
	return b.BlockRef.UnmarshalJSON(data)
}

// blockOf resolves a block reference; no reference means the head.
func (a *api) blockOf(ctx context.Context, ref *blockRef) (*reader.Block, error) {
	if ref == nil {
		return a.miner.LastExecuted(ctx)
	}
	return eth.ExecutedBlockOf(ctx, a.miner, &ref.BlockRef)
}

// erigonAPI implements the one erigon method that Otterscan calls.
type erigonAPI struct{ *api }

// GetHeaderByNumber returns a header, or null.
func (a *erigonAPI) GetHeaderByNumber(ctx context.Context, ref blockRef) (json.RawMessage, error) {
	b, err := a.blockOf(ctx, &ref)
	if err != nil {
		return nil, eth.OrNull(err)
	}
	return marshal.Header(a.chain.Kind, b), nil
}

// GetApiLevel returns the version of this interface.
func (a *api) GetApiLevel() int { return apiLevel }

// HasCode reports whether an account is a contract after a block.
func (a *api) HasCode(ctx context.Context, address common.Address, ref *blockRef) (bool, error) {
	b, err := a.blockOf(ctx, ref)
	if err != nil {
		return false, err
	}
	states, err := a.chain.State(ctx, b)
	if err != nil {
		return false, err
	}
	return states.GetCodeSize(address) > 0, evm.Fault(states)
}

// creation names the creator of a contract and the creating transaction.
type creation struct {
	Hash    common.Hash    `json:"hash"`
	Creator common.Address `json:"creator"`
}

// GetContractCreator returns the creator of a contract, null if no transaction created it.
func (a *api) GetContractCreator(ctx context.Context, address common.Address) (*creation, error) {
	t, creator, err := a.chain.Creation(ctx, address)
	if err != nil {
		return nil, eth.OrNull(err)
	}
	return &creation{t.Hash(), creator}, nil
}

// GetTransactionBySenderAndNonce returns the hash of a transaction, or null.
func (a *api) GetTransactionBySenderAndNonce(ctx context.Context, sender common.Address, nonce eth.Quantity) (*common.Hash, error) {
	t, err := a.chain.TransactionBySenderAndNonce(ctx, sender, uint64(nonce))
	if err != nil {
		return nil, eth.OrNull(err)
	}
	return new(t.Hash()), nil
}
