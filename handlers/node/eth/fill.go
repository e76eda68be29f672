package eth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/reader"
)

var (
	errBothData = errors.New(`both "data" and "input" are set and not equal. Please use "input" to pass transaction call data`)
	errNoData   = errors.New("contract creation without any data provided")
	errZeroFee  = errors.New("maxFeePerGas must be non-zero")
	errZeroGas  = errors.New("gasPrice must be non-zero after london fork")
)

func (a *api) chainID() *big.Int { return new(big.Int).SetUint64(a.chain.Genesis.ChainID) }

// fill makes a transaction of a client's object and of what that leaves out: coreth's TransactionArgs.setDefaults. Nonce and
// gas are those on top of what is pending.
func (a *api) fill(ctx context.Context, call *reader.Call) (*types.Transaction, error) {
	if err := call.Check(a.chain.Genesis.ChainID); err != nil {
		return nil, err
	}
	if call.Data != nil && call.Input != nil && !bytes.Equal(*call.Data, *call.Input) {
		return nil, errBothData
	}
	if err := a.fillFees(ctx, call); err != nil {
		return nil, err
	}
	data := call.CallData()
	if call.To == nil && len(data) == 0 {
		return nil, errNoData
	}
	if call.Nonce == nil {
		from := common.Address{}
		if call.From != nil {
			from = *call.From
		}
		nonce, err := a.miner.Nonce(ctx, from)
		if err != nil {
			return nil, err
		}
		call.Nonce = (*hexutil.Uint64)(&nonce)
	}
	if call.Gas == nil {
		gas, err := a.estimate(ctx, call)
		if err != nil {
			return nil, err
		}
		call.Gas = &gas
	}
	return types.NewTx(txData(call, a.chainID(), data)), nil
}

// estimate is the gas that a transaction needs on top of what is pending.
func (a *api) estimate(ctx context.Context, call *reader.Call) (hexutil.Uint64, error) {
	b, err := a.miner.Pending(ctx)
	if err != nil {
		return 0, err
	}
	unpriced := *call
	gas, result, err := a.chain.Estimate(ctx, b, &unpriced, reader.Overrides{})
	if err == nil && result != nil {
		err = executionError(result)
	}
	return hexutil.Uint64(gas), err
}

// fillFees sets twice the base fee and the suggested tip, unless the client says what it pays.
func (a *api) fillFees(ctx context.Context, call *reader.Call) error {
	switch {
	case call.GasPrice != nil && call.GasPrice.ToInt().Sign() == 0:
		return errZeroGas
	case call.GasPrice != nil:
		return nil
	case call.MaxFeePerGas != nil && call.MaxFeePerGas.ToInt().Sign() == 0:
		return errZeroFee
	}
	if call.MaxFeePerGas == nil || call.MaxPriorityFeePerGas == nil {
		fee, tip, err := a.prices(ctx)
		if err != nil {
			return err
		}
		if call.MaxPriorityFeePerGas == nil {
			if call.MaxFeePerGas != nil && tip.Cmp(call.MaxFeePerGas.ToInt()) > 0 {
				tip = call.MaxFeePerGas.ToInt()
			}
			call.MaxPriorityFeePerGas = (*hexutil.Big)(tip)
		}
		if call.MaxFeePerGas == nil {
			most := new(big.Int).Lsh(fee, 1)
			call.MaxFeePerGas = (*hexutil.Big)(most.Add(most, call.MaxPriorityFeePerGas.ToInt()))
		}
	}
	if call.MaxFeePerGas.ToInt().Cmp(call.MaxPriorityFeePerGas.ToInt()) < 0 {
		return fmt.Errorf("maxFeePerGas (%v) < maxPriorityFeePerGas (%v)", call.MaxFeePerGas, call.MaxPriorityFeePerGas)
	}
	return nil
}

// txData is a filled object as a transaction of the oldest type that can say what it says.
func txData(call *reader.Call, chainID *big.Int, data []byte) types.TxData {
	value := new(big.Int)
	if call.Value != nil {
		value = call.Value.ToInt()
	}
	nonce, gas := uint64(*call.Nonce), uint64(*call.Gas)
	switch {
	case call.MaxFeePerGas != nil:
		tx := &types.DynamicFeeTx{ChainID: chainID, Nonce: nonce, GasTipCap: call.MaxPriorityFeePerGas.ToInt(), GasFeeCap: call.MaxFeePerGas.ToInt(),
			Gas: gas, To: call.To, Value: value, Data: data}
		if call.AccessList != nil {
			tx.AccessList = *call.AccessList
		}
		return tx
	case call.AccessList != nil:
		return &types.AccessListTx{ChainID: chainID, Nonce: nonce, GasPrice: call.GasPrice.ToInt(), Gas: gas, To: call.To, Value: value, Data: data, AccessList: *call.AccessList}
	}
	return &types.LegacyTx{Nonce: nonce, GasPrice: call.GasPrice.ToInt(), Gas: gas, To: call.To, Value: value, Data: data}
}
