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

// Wallet holds the accounts that the node signs for: the personas', whose keys are public.
type Wallet struct {
	derived func() derivedKeys
}

type derivedKeys struct {
	addresses []common.Address
	keys      map[common.Address]*secp256k1.Key
}

// NewWallet makes a wallet from 32-byte keys, in order. It derives addresses on first use, because the curve's tables take a tenth of the
// server's start time.
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

// key returns an account's key, or nil.
func (w *Wallet) key(address common.Address) *secp256k1.Key { return w.derived().keys[address] }

// has reports whether the wallet holds an account's key.
func (w *Wallet) has(address common.Address) bool { return w.key(address) != nil }

var errAccount = errors.New("unknown account")

// keylessError refuses a transaction of an account that the node holds no key of.
type keylessError struct{ from common.Address }

func (e keylessError) Error() string { return errAccount.Error() }
func (e keylessError) Unwrap() error { return errAccount }
func (e keylessError) Advice() string {
	return fmt.Sprintf("the node holds no key of %s; let it send with anvil_impersonateAccount, or send a signed transaction", e.from)
}

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
	signature[crypto.RecoveryIDOffset] += 27 // as in Ethereum's own signatures
	return signature[:], nil
}

// walletAPI implements the eth methods of a node with accounts: internal/ethapi.TransactionAPI, and methods of browser wallets.
type walletAPI struct {
	*api
	sender *sendAPI
	wallet *Wallet
	send   sync.Mutex // keeps two transactions of an account from getting the same nonce
}

// Accounts lists the accounts that clients can send from: unlocked and impersonated ones.
func (a *walletAPI) Accounts() []common.Address {
	return append(slices.Clone(a.wallet.addresses()), slices.DeleteFunc(a.miner.Impersonation.Accounts(), a.wallet.has)...)
}

// RequestAccounts is EIP-1102's form of Accounts. No user has to give permission.
func (a *walletAPI) RequestAccounts() []common.Address { return a.Accounts() }

// Sign signs a message with an account's key (EIP-191).
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

// SendTransaction fills in a transaction, signs it and sends it. An impersonated account's transaction has no signature.
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
		hash, err := a.sender.sendSigned(ctx, signed)
		if call.Nonce == nil && attempt < maxAttempts && errors.Is(err, core.ErrNonceTooLow) {
			continue // another sender used the account at the same time, such as a person of a live world
		}
		return hash, err
	}
}

// maxAttempts bounds the nonces tried for one transaction.
const maxAttempts = 5

// SendUnsignedTransaction fills in a transaction and sends it from the account that it names, without a signature: anvil's method.
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
	return a.submitBy(tx, func() error { return a.miner.SendFrom(ctx, tx, *call.From) })
}

// SignTransaction fills in and signs a transaction without sending it. It returns only the bytes, as anvil does and as ethers and viem
// expect; a node of the network, which has no accounts to sign for, would return an object with the transaction.
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

// FillTransaction fills in a transaction without signing it.
func (a *walletAPI) FillTransaction(ctx context.Context, call reader.Call) (*filledResult, error) {
	tx, err := a.fill(ctx, &call)
	if err != nil {
		return nil, err
	}
	raw, err := tx.MarshalBinary()
	return &filledResult{raw, tx}, err
}

// PendingTransactions lists the pool's transactions that the node's accounts sent.
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
	if call.From == nil {
		return nil, errAccount
	}
	if !a.wallet.has(*call.From) {
		return nil, keylessError{*call.From}
	}
	tx, err := a.fill(ctx, call)
	if err != nil {
		return nil, err
	}
	return secp256k1.SignTx(tx, types.LatestSignerForChainID(a.chainID()), a.wallet.key(*call.From))
}

// personalAPI implements the methods with which browser wallets sign messages and tell who signed.
type personalAPI struct{ *walletAPI }

// Sign signs a message with an account's key (EIP-191). It ignores the password that some clients send.
func (a *personalAPI) Sign(message hexutil.Bytes, address common.Address, _ *string) (hexutil.Bytes, error) {
	return a.walletAPI.Sign(address, message)
}

var errRecoveryID = errors.New("invalid Ethereum signature (V is not 27 or 28)")

// EcRecover returns the account that signed a message (coreth internal/ethapi.PersonalAccountAPI.EcRecover).
func (a *personalAPI) EcRecover(message, signature hexutil.Bytes) (common.Address, error) {
	if len(signature) != crypto.SignatureLength {
		return common.Address{}, fmt.Errorf("signature must be %d bytes long", crypto.SignatureLength)
	}
	if v := signature[crypto.RecoveryIDOffset]; v != 27 && v != 28 {
		return common.Address{}, errRecoveryID
	}
	signature[crypto.RecoveryIDOffset] -= 27
	key, err := crypto.SigToPub(accounts.TextHash(message), signature)
	if err != nil {
		return common.Address{}, err
	}
	return crypto.PubkeyToAddress(*key), nil
}

var (
	errBothData = errors.New(`both "data" and "input" are set and not equal. Please use "input" to pass transaction call data`)
	errNoData   = errors.New("contract creation without any data provided")
	errZeroFee  = errors.New("maxFeePerGas must be non-zero")
	errZeroGas  = errors.New("gasPrice must be non-zero after london fork")
)

func (a *api) chainID() *big.Int { return new(big.Int).SetUint64(a.chain.Genesis.ChainID) }

// fill completes a transaction from a client's object (coreth internal/ethapi.TransactionArgs.setDefaults). Nonce and gas follow the pending
// state.
func (a *api) fill(ctx context.Context, call *reader.Call) (*types.Transaction, error) {
	if err := a.fillUnlimited(ctx, call); err != nil {
		return nil, err
	}
	if call.Gas == nil {
		gas, err := a.estimate(ctx, call)
		if err != nil {
			return nil, err
		}
		call.Gas = &gas
	}
	if err := call.CheckChain(a.chain.Genesis.ChainID); err != nil {
		return nil, err
	}
	return types.NewTx(txData(call, a.chainID(), call.CallData())), nil
}

// fillUnlimited completes all but the gas limit.
func (a *api) fillUnlimited(ctx context.Context, call *reader.Call) error {
	if err := call.Check(); err != nil {
		return err
	}
	if err := a.fillFees(ctx, call); err != nil {
		return err
	}
	if call.Nonce == nil {
		from := common.Address{}
		if call.From != nil {
			from = *call.From
		}
		nonce, err := a.miner.Nonce(ctx, from)
		if err != nil {
			return err
		}
		call.Nonce = (*hexutil.Uint64)(&nonce)
	}
	if call.Data != nil && call.Input != nil && !bytes.Equal(*call.Data, *call.Input) {
		return errBothData
	}
	if call.To == nil && len(call.CallData()) == 0 {
		return errNoData
	}
	return nil
}

// estimate returns the gas that a transaction needs in the next block, on top of the pending state.
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

// fillFees sets twice the base fee plus the suggested tip, unless the client sets fees.
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

// txData converts a filled object to the oldest transaction type that can express it.
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
