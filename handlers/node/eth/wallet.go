package eth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/secp256k1"
)

// Wallet holds the accounts for which the node signs: the personas', whose keys everybody knows.
type Wallet struct {
	derived func() derivedKeys
}

type derivedKeys struct {
	addresses []common.Address
	keys      map[common.Address]*secp256k1.Key
}

// NewWallet holds accounts by their keys, 32 bytes each, in their order. What follows from the keys is derived when it is first asked for:
// the tables of the curve, which that needs, take a tenth of what a server takes to start.
func NewWallet(keys [][]byte) (*Wallet, error) {
	for i, raw := range keys {
		if err := secp256k1.CheckSecret(raw); err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
	}
	return &Wallet{sync.OnceValue(func() derivedKeys {
		d := derivedKeys{[]common.Address{}, map[common.Address]*secp256k1.Key{}}
		for _, raw := range keys {
			key, _ := secp256k1.NewKey(raw) // it was checked
			address := key.Address()
			d.addresses, d.keys[address] = append(d.addresses, address), key
		}
		return d
	})}, nil
}

func (w *Wallet) addresses() []common.Address { return w.derived().addresses }

// key is an account's, or nil.
func (w *Wallet) key(address common.Address) *secp256k1.Key { return w.derived().keys[address] }

// has says whether it holds an account's key.
func (w *Wallet) has(address common.Address) bool { return w.key(address) != nil }

var errAccount = errors.New("unknown account")

// sign signs 32 bytes.
func (w *Wallet) sign(address common.Address, hash []byte) (hexutil.Bytes, error) {
	key := w.key(address)
	if key == nil {
		return nil, errAccount
	}
	signature, err := secp256k1.Sign(hash, key)
	if err != nil {
		return nil, err
	}
	signature[crypto.RecoveryIDOffset] += 27 // as Ethereum's own signatures have it
	return signature[:], nil
}

// walletAPI has the eth methods of a node that holds accounts: internal/ethapi.TransactionAPI, and what wallets in browsers
// answer.
type walletAPI struct {
	*api
	wallet *Wallet
	send   sync.Mutex // so that two transactions of an account do not get the same nonce
}

// Accounts are the accounts that clients can send for: those for which the node signs, and those that it impersonates.
func (a *walletAPI) Accounts() []common.Address {
	return append(slices.Clone(a.wallet.addresses()), slices.DeleteFunc(a.miner.Impersonation.Accounts(), a.wallet.has)...)
}

// RequestAccounts is Accounts by EIP-1102: nobody has to be asked.
func (a *walletAPI) RequestAccounts() []common.Address { return a.Accounts() }

// Sign signs a message as a person's (EIP-191).
func (a *walletAPI) Sign(address common.Address, message hexutil.Bytes) (hexutil.Bytes, error) {
	return a.wallet.sign(address, accounts.TextHash(message))
}

// SignTypedData_v4 signs typed data (EIP-712).
func (a *walletAPI) SignTypedData_v4(address common.Address, data typedData) (hexutil.Bytes, error) {
	hash, err := data.hash()
	if err != nil {
		return nil, err
	}
	return a.wallet.sign(address, hash)
}

// SendTransaction fills a transaction in, signs it and sends it. That of an account which is impersonated has no signature.
func (a *walletAPI) SendTransaction(ctx context.Context, call reader.Call) (common.Hash, error) {
	if from := call.From; from != nil && !a.wallet.has(*from) && a.miner.Impersonation.Allows(*from) {
		return a.SendUnsignedTransaction(ctx, call)
	}
	a.send.Lock()
	defer a.send.Unlock()
	for attempt := 1; ; attempt++ {
		filled := call
		signed, err := a.signed(ctx, &filled)
		if err != nil {
			return common.Hash{}, err
		}
		hash, err := a.submit(ctx, signed)
		if call.Nonce == nil && attempt < maxAttempts && errors.Is(err, core.ErrNonceTooLow) {
			continue // someone else used the account at the same time, such as a person who lives on
		}
		return hash, err
	}
}

// maxAttempts is how often a nonce is chosen for one transaction.
const maxAttempts = 5

// SendUnsignedTransaction fills a transaction in and sends it for whoever it names, without a signature: anvil's method.
func (a *walletAPI) SendUnsignedTransaction(ctx context.Context, call reader.Call) (common.Hash, error) {
	if call.From == nil {
		return common.Hash{}, errAccount
	}
	a.send.Lock()
	defer a.send.Unlock()
	tx, err := a.fill(ctx, &call)
	if err == nil {
		tx, err = evm.Impersonate(tx, a.chainID(), *call.From)
	}
	if err != nil {
		return common.Hash{}, err
	}
	if err = checkFee(tx); err == nil {
		err = a.miner.SendFrom(ctx, tx, *call.From)
	}
	if err != nil {
		return common.Hash{}, refused(err)
	}
	return tx.Hash(), nil
}

// SignTransaction fills a transaction in, signs it and does not send it. The answer is the bytes alone, which ethers and viem read and anvil
// gives; those of a node of the network, which has no accounts to sign for, would come in an object with the transaction.
func (a *walletAPI) SignTransaction(ctx context.Context, call reader.Call) (hexutil.Bytes, error) {
	tx, err := a.signed(ctx, &call)
	if err == nil {
		err = checkFee(tx)
	}
	if err != nil {
		return nil, err
	}
	return tx.MarshalBinary()
}

// filledResult is a transaction with its bytes.
type filledResult struct {
	Raw hexutil.Bytes      `json:"raw"`
	Tx  *types.Transaction `json:"tx"`
}

// FillTransaction fills a transaction in and does not sign it.
func (a *walletAPI) FillTransaction(ctx context.Context, call reader.Call) (*filledResult, error) {
	tx, err := a.fill(ctx, &call)
	if err != nil {
		return nil, err
	}
	raw, err := tx.MarshalBinary()
	return &filledResult{raw, tx}, err
}

// PendingTransactions are those that wait of the node's accounts.
func (a *walletAPI) PendingTransactions() ([]jsonText, error) {
	all := []jsonText{}
	for _, address := range a.Accounts() {
		pending, _ := a.miner.Pool.Of(address)
		for _, t := range pending {
			all = append(all, marshal.Pooled(t))
		}
	}
	return all, nil
}

func (a *walletAPI) signed(ctx context.Context, call *reader.Call) (*types.Transaction, error) {
	if call.From == nil || !a.wallet.has(*call.From) {
		return nil, errAccount
	}
	tx, err := a.fill(ctx, call)
	if err != nil {
		return nil, err
	}
	return secp256k1.SignTx(tx, types.LatestSignerForChainID(a.chainID()), a.wallet.key(*call.From))
}

// personalAPI has the method by which wallets in browsers sign messages.
type personalAPI struct{ *walletAPI }

// Sign signs a message as a person's (EIP-191). A password, which some clients send, says nothing here.
func (a *personalAPI) Sign(message hexutil.Bytes, address common.Address, _ *string) (hexutil.Bytes, error) {
	return a.walletAPI.Sign(address, message)
}

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

// estimate is the gas that a transaction needs on top of what is pending, in the next block: its fees are filled in for that.
func (a *api) estimate(ctx context.Context, call *reader.Call) (hexutil.Uint64, error) {
	b, err := a.miner.Pending(ctx)
	if err != nil {
		return 0, err
	}
	o := reader.Overrides{}
	if !b.Pending() {
		next, err := a.miner.NextBlock(ctx)
		if err != nil {
			return 0, err
		}
		o.Block = reader.OverridesOf(next.Header)
	}
	unpriced := *call
	gas, result, err := a.chain.Estimate(ctx, b, &unpriced, o)
	if err == nil && result != nil {
		err = executionError(result)
	}
	return hexutil.Uint64(gas), err
}

// fillFees sets twice the base fee and the suggested tip, unless the client says what it pays.
func (a *api) fillFees(ctx context.Context, call *reader.Call) error {
	if zero := call.GasPrice != nil && call.GasPrice.ToInt().Sign() == 0; zero || call.MaxFeePerGas != nil && call.MaxFeePerGas.ToInt().Sign() == 0 {
		switch next, err := a.miner.NextBlock(ctx); {
		case err != nil:
			return err
		case next.Free:
		case zero:
			return errZeroGas
		default:
			return errZeroFee
		}
	}
	if call.GasPrice != nil {
		return nil
	}
	if call.MaxFeePerGas == nil || call.MaxPriorityFeePerGas == nil {
		fee, tip, err := a.miner.Prices(ctx)
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
