package eth

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"sync"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"snowglobe/sim/evm/reader"
)

// Wallet holds the accounts for which the node signs: the personas', whose keys everybody knows.
type Wallet struct {
	addresses []common.Address
	keys      map[common.Address]*ecdsa.PrivateKey
}

// NewWallet holds accounts by their keys, 32 bytes each, in their order.
func NewWallet(keys [][]byte) (*Wallet, error) {
	w := &Wallet{addresses: []common.Address{}, keys: map[common.Address]*ecdsa.PrivateKey{}}
	for i, raw := range keys {
		key, err := crypto.ToECDSA(raw)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
		address := crypto.PubkeyToAddress(key.PublicKey)
		w.addresses, w.keys[address] = append(w.addresses, address), key
	}
	return w, nil
}

var errAccount = errors.New("unknown account")

// sign signs 32 bytes.
func (w *Wallet) sign(address common.Address, hash []byte) (hexutil.Bytes, error) {
	key := w.keys[address]
	if key == nil {
		return nil, errAccount
	}
	signature, err := crypto.Sign(hash, key)
	if err == nil {
		signature[crypto.RecoveryIDOffset] += 27 // as Ethereum's own signatures have it
	}
	return signature, err
}

// walletAPI has the eth methods of a node that holds accounts: internal/ethapi.TransactionAPI, and what wallets in browsers
// answer.
type walletAPI struct {
	*api
	wallet *Wallet
	send   sync.Mutex // so that two transactions of an account do not get the same nonce
}

// Accounts are the accounts for which the node signs.
func (a *walletAPI) Accounts() []common.Address { return a.wallet.addresses }

// RequestAccounts is Accounts by EIP-1102: nobody has to be asked.
func (a *walletAPI) RequestAccounts() []common.Address { return a.wallet.addresses }

// Sign signs a message as a person's (EIP-191).
func (a *walletAPI) Sign(address common.Address, message hexutil.Bytes) (hexutil.Bytes, error) {
	return a.wallet.sign(address, accounts.TextHash(message))
}

// SignTypedData_v4 signs typed data (EIP-712).
func (a *walletAPI) SignTypedData_v4(address common.Address, data apitypes.TypedData) (hexutil.Bytes, error) {
	hash, _, err := apitypes.TypedDataAndHash(data)
	if err != nil {
		return nil, err
	}
	return a.wallet.sign(address, hash)
}

// SendTransaction fills a transaction in, signs it and sends it.
func (a *walletAPI) SendTransaction(ctx context.Context, call reader.Call) (common.Hash, error) {
	a.send.Lock()
	defer a.send.Unlock()
	signed, err := a.signed(ctx, &call)
	if err != nil {
		return common.Hash{}, err
	}
	return a.submit(ctx, signed)
}

// signedResult is a transaction with its bytes.
type signedResult struct {
	Raw hexutil.Bytes      `json:"raw"`
	Tx  *types.Transaction `json:"tx"`
}

func resultOf(tx *types.Transaction) (*signedResult, error) {
	raw, err := tx.MarshalBinary()
	return &signedResult{raw, tx}, err
}

// SignTransaction signs a transaction that lacks nothing, and does not send it.
func (a *walletAPI) SignTransaction(ctx context.Context, call reader.Call) (*signedResult, error) {
	switch {
	case call.Gas == nil:
		return nil, errors.New("gas not specified")
	case call.GasPrice == nil && (call.MaxPriorityFeePerGas == nil || call.MaxFeePerGas == nil):
		return nil, errors.New("missing gasPrice or maxFeePerGas/maxPriorityFeePerGas")
	case call.Nonce == nil:
		return nil, errors.New("nonce not specified")
	}
	tx, err := a.signed(ctx, &call)
	if err == nil {
		err = checkFee(tx)
	}
	if err != nil {
		return nil, err
	}
	return resultOf(tx)
}

// FillTransaction fills a transaction in and does not sign it.
func (a *walletAPI) FillTransaction(ctx context.Context, call reader.Call) (*signedResult, error) {
	tx, err := a.fill(ctx, &call)
	if err != nil {
		return nil, err
	}
	return resultOf(tx)
}

// PendingTransactions are those that wait of the node's accounts.
func (a *walletAPI) PendingTransactions() ([]jsonText, error) {
	all := []jsonText{}
	for _, address := range a.wallet.addresses {
		pending, _ := a.miner.Pool.Of(address)
		for _, t := range pending {
			all = append(all, pooledJSON(t))
		}
	}
	return all, nil
}

func (a *walletAPI) signed(ctx context.Context, call *reader.Call) (*types.Transaction, error) {
	if call.From == nil || a.wallet.keys[*call.From] == nil {
		return nil, errAccount
	}
	tx, err := a.fill(ctx, call)
	if err != nil {
		return nil, err
	}
	return types.SignTx(tx, types.LatestSignerForChainID(a.chainID()), a.wallet.keys[*call.From])
}

// personalAPI has the method by which wallets in browsers sign messages.
type personalAPI struct{ *walletAPI }

// Sign signs a message as a person's (EIP-191). A password, which some clients send, says nothing here.
func (a *personalAPI) Sign(message hexutil.Bytes, address common.Address, _ *string) (hexutil.Bytes, error) {
	return a.walletAPI.Sign(address, message)
}
