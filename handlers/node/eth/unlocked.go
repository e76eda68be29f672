package eth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/secp256k1"
)

// unlockedAPI implements more methods for the accounts that the node signs for: coreth's internal/ethapi.TransactionAPI.Resend, and those of
// anvil and browser wallets.
type unlockedAPI struct {
	wallet *walletAPI
	send   *sendAPI
}

// SendTransactionSync sends a transaction as eth_sendTransaction does, and returns its receipt once a block contains it. timeout is in
// milliseconds.
func (a *unlockedAPI) SendTransactionSync(ctx context.Context, call reader.Call, timeout *Quantity) (json.RawMessage, error) {
	return a.send.await(ctx, timeout, func() (common.Hash, error) { return a.wallet.SendTransaction(ctx, call) })
}

var errNoNonce = errors.New("missing transaction nonce in transaction spec")

// Resend replaces a waiting transaction of an unlocked or impersonated account by the same one with another gas price or gas limit. The call must
// match the waiting transaction.
func (a *unlockedAPI) Resend(ctx context.Context, call reader.Call, gasPrice *hexutil.Big, gasLimit *hexutil.Uint64) (common.Hash, error) {
	w := a.wallet
	switch {
	case call.Nonce == nil:
		return common.Hash{}, errNoNonce
	case call.From == nil:
		return common.Hash{}, errAccount
	}
	from, unlocked := *call.From, w.wallet.has(*call.From)
	if !unlocked && !w.miner.Impersonation.Allows(from) {
		return common.Hash{}, keylessError{from}
	}
	w.send.Lock()
	defer w.send.Unlock()
	old, err := w.fill(ctx, &call)
	if err != nil {
		return common.Hash{}, err
	}
	signer := types.LatestSignerForChainID(w.chainID())
	if t := w.pooled(from, old.Nonce()); t == nil || signer.Hash(t.Transaction) != signer.Hash(old) {
		return common.Hash{}, fmt.Errorf("transaction %s not found", old.Hash())
	}
	if gasPrice != nil && gasPrice.ToInt().Sign() != 0 {
		call.GasPrice, call.MaxFeePerGas, call.MaxPriorityFeePerGas = gasPrice, nil, nil
	}
	if gasLimit != nil && *gasLimit != 0 {
		call.Gas = gasLimit
	}
	fresh := types.NewTx(txData(&call, w.chainID(), call.CallData()))
	if unlocked {
		if fresh, err = secp256k1.SignTx(fresh, signer, w.wallet.key(from)); err != nil {
			return common.Hash{}, err
		}
		return w.submit(ctx, fresh)
	}
	if fresh, err = evm.Impersonate(fresh, w.chainID(), from); err != nil {
		return common.Hash{}, err
	}
	return w.submitBy(fresh, func() error { return w.miner.SendFrom(ctx, fresh, from) })
}

// SignTypedData signs typed data: a list of types, names and values as MetaMask first did, without a domain, or an object as eth_signTypedData_v4
// does. It accepts the account first or second, because clients disagree.
func (a *unlockedAPI) SignTypedData(address, data json.RawMessage) (hexutil.Bytes, error) {
	var account common.Address
	if json.Unmarshal(address, &account) != nil {
		address, data = data, address
		if err := json.Unmarshal(address, &account); err != nil {
			return nil, ParamsError("neither parameter is an address")
		}
	}
	hash, err := hashTypedData(data)
	if err != nil {
		return nil, err
	}
	return a.wallet.wallet.sign(account, hash)
}

// hashTypedData returns the hash of typed data of either version.
func hashTypedData(data []byte) ([]byte, error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	if strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		var list typedList
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, ParamsError(err.Error())
		}
		return list.hash()
	}
	var object typedData
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, ParamsError(err.Error())
	}
	return object.hash()
}

// SignTypedData_v3 signs typed data without arrays (EIP-712 as MetaMask first had it).
func (a *unlockedAPI) SignTypedData_v3(address common.Address, data typedData) (hexutil.Bytes, error) {
	for _, fields := range data.Types {
		for _, f := range fields {
			if strings.HasSuffix(f.Type, "]") {
				return nil, ParamsError(fmt.Sprintf("%s is an array, which this version of typed data does not support: use eth_signTypedData_v4", f.Name))
			}
		}
	}
	return a.wallet.SignTypedData_v4(address, data)
}
