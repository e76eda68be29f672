package seed

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/seed/population"
	"snowglobe/seed/primary"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Faucet pays any account of an open world from personas' balances and rights to mint, with ordinary transactions.
type Faucet struct{ world *sim.World }

// NewFaucet returns the faucet of a world.
func NewFaucet(w *sim.World) *Faucet { return &Faucet{w} }

// DryError reports that no payer has enough for a payment and its fee.
type DryError struct{ most *big.Int }

func (e *DryError) Error() string { return fmt.Sprintf("no payer has more than %s of it", e.most) }

// Most returns the balance of the richest payer, in the smallest unit.
func (e *DryError) Most() *big.Int { return e.most }

// payers returns the accounts that pay, in order of preference, without the recipient: a payment to itself would only cost the fee. Clients rarely use
// ewoq on EVM chains, while tests count the nonces of the mnemonic's accounts. The deployer owns most tokens, and may mint an asset of the X-Chain; other
// personas hold the rest of those assets.
func payers(others bool, recipient func(*population.Account) bool) ([]*population.Account, error) {
	p, err := population.NewPersonas()
	if err != nil {
		return nil, err
	}
	all := []*population.Account{p.Ewoq, p.Whale, p.Deployer}
	for _, row := range p.Funded {
		if others && !slices.Contains(all, row.Account) {
			all = append(all, row.Account)
		}
	}
	return slices.DeleteFunc(all, recipient), nil
}

type attempts struct {
	dry   *DryError
	other error // the first error other than missing funds
}

// note records an error, and reports whether the next payer may succeed.
func (a *attempts) note(ctx context.Context, err error) bool {
	if store.Internal(err) || errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrDisk) || ctx.Err() != nil {
		return false
	}
	if dry := new(DryError); errors.As(err, &dry) {
		if a.dry == nil || dry.most.Cmp(a.dry.most) > 0 {
			a.dry = dry
		}
	} else if a.other == nil {
		a.other = err
	}
	return true
}

func (a *attempts) failure() error {
	if a.other != nil {
		return a.other
	}
	return a.dry
}

// PayEVM pays wei on an EVM chain, or the smallest unit of the ERC-20 at an address. It returns the payer and the transaction's hash. The error says
// why the chain or the token refuses the payment, or is a DryError.
func (f *Faucet) PayEVM(ctx context.Context, c *reader.Chain, token *common.Address, to common.Address, amount *big.Int) (from common.Address, hash common.Hash, err error) {
	m := f.world.MinerOf(c)
	if err := m.Writable(); err != nil {
		return from, hash, err
	}
	all, err := payers(false, func(a *population.Account) bool { return a.Address == to })
	if err != nil {
		return from, hash, err
	}
	tried := attempts{}
	for _, who := range all {
		p := &evmPayment{chain: c, miner: m, from: who, to: to, value: amount}
		if token != nil {
			p.token, p.to, p.value = true, *token, new(big.Int)
			if p.data, err = p.pack("transfer", to, amount); err != nil {
				return from, hash, err
			}
		}
		hash, err = p.send(ctx, amount)
		if err == nil || !tried.note(ctx, err) {
			return who.Address, hash, err
		}
	}
	return from, common.Hash{}, tried.failure()
}

type evmPayment struct {
	chain *reader.Chain
	miner *miner.Miner
	from  *population.Account
	token bool
	to    common.Address // the recipient, or the token
	value *big.Int
	data  []byte
}

func (p *evmPayment) pack(method string, args ...any) ([]byte, error) {
	token, err := contracts.Load("Token")
	if err != nil {
		return nil, err
	}
	return token.ABI.Pack(method, args...)
}

func (p *evmPayment) send(ctx context.Context, amount *big.Int) (common.Hash, error) {
	gas, err := p.check(ctx, amount)
	if err != nil {
		return common.Hash{}, err
	}
	var sent *types.Transaction
	signer, tip := types.LatestSignerForChainID(new(big.Int).SetUint64(p.chain.Row.EVMID)), big.NewInt(1)
	err = p.miner.SendPrepared(ctx, p.from.Address, func(next miner.Next) (tx *types.Transaction, err error) {
		limit := new(big.Int).Lsh(next.BaseFee, 1)
		sent, err = secp256k1.SignTx(types.NewTx(&types.DynamicFeeTx{ChainID: signer.ChainID(), Nonce: next.Nonce, GasTipCap: tip, GasFeeCap: limit.Add(limit, tip),
			Gas: gas, To: &p.to, Value: p.value, Data: p.data}), signer, p.from.Key)
		return sent, err
	})
	if err != nil {
		return common.Hash{}, err
	}
	return sent.Hash(), nil
}

// check tries the payment after the waiting transactions, and returns a gas limit for it.
func (p *evmPayment) check(ctx context.Context, amount *big.Int) (gas uint64, err error) {
	head, err := p.miner.Pending(ctx)
	if err != nil {
		return 0, err
	}
	balance, err := p.balance(ctx, head)
	if err != nil {
		return 0, err
	}
	if balance.Cmp(amount) <= 0 && !(p.token && balance.Cmp(amount) == 0) {
		return 0, &DryError{balance}
	}
	call := &reader.Call{From: &p.from.Address, To: &p.to, Value: (*hexutil.Big)(p.value), Input: (*hexutil.Bytes)(&p.data)}
	if p.token {
		result, err := p.chain.Call(ctx, head, call, reader.Overrides{})
		if err != nil {
			return 0, err
		}
		if returned := result.Return(); len(returned) == 32 && common.BytesToHash(returned) == (common.Hash{}) { // EIP-20: a token may return false instead of reverting
			return 0, errors.New("the token refuses the transfer: it returns false")
		}
	}
	gas, result, err := p.chain.Estimate(ctx, head, call, reader.Overrides{})
	if err != nil {
		return 0, err
	}
	if result != nil && result.Failed() {
		reason := result.Err.Error()
		if text, err := abi.UnpackRevert(result.Revert()); err == nil {
			reason += ": " + text
		}
		if p.token {
			return 0, fmt.Errorf("the token refuses the transfer: %s", reason)
		}
		return 0, fmt.Errorf("the recipient refuses the payment: %s", reason)
	}
	if p.token {
		gas += gas / 5 // later state may make it more expensive, such as a first balance
	}
	return gas, nil
}

func (p *evmPayment) balance(ctx context.Context, head *reader.Block) (*big.Int, error) {
	if !p.token {
		states, err := p.chain.State(ctx, head)
		if err != nil {
			return nil, err
		}
		balance := states.GetBalance(p.from.Address).ToBig()
		return balance, evm.Fault(states)
	}
	data, err := p.pack("balanceOf", p.from.Address)
	if err != nil {
		return nil, err
	}
	result, err := p.chain.Call(ctx, head, &reader.Call{To: &p.to, Input: (*hexutil.Bytes)(&data)}, reader.Overrides{})
	if err != nil {
		return nil, err
	}
	if result.Failed() || len(result.Return()) != 32 {
		return nil, errors.New("the token has no balanceOf(address)")
	}
	return new(big.Int).SetBytes(result.Return()), nil
}

// PayPrimary pays an asset on the P- or X-Chain, in its smallest unit. For the C-Chain it exports AVAX from the X-Chain, and the owner imports it with a
// transaction of its own. It returns the payer and the transaction's id. The error says why the network refuses the payment, or is a DryError.
func (f *Faucet) PayPrimary(ctx context.Context, n *sim.Network, chain txs.Chain, asset ids.ID, to ids.ShortID, amount uint64) (from ids.ShortID, id ids.ID, err error) {
	all, err := payers(asset != n.Rules.AVAXAssetID, func(a *population.Account) bool { return a.Primary.Address() == to })
	if err != nil {
		return from, id, err
	}
	tried := attempts{}
	for _, who := range all {
		var tx *txs.Tx
		switch payer, owner := primary.NewPayer(n), txs.NewOwner(to); {
		case asset != n.Rules.AVAXAssetID:
			tx, err = payer.PayAsset(ctx, chain, who, asset, owner, amount)
		case chain == txs.CChain:
			tx, err = payer.Export(ctx, txs.XChain, txs.CChain, who, owner, amount)
		default:
			tx, err = payer.Pay(ctx, chain, who, owner, amount)
		}
		if err == nil {
			return who.Primary.Address(), tx.ID(), nil
		}
		if funds := new(primary.FundsError); errors.As(err, &funds) {
			err = &DryError{new(big.Int).SetUint64(funds.Owns)}
		}
		if !tried.note(ctx, err) {
			return from, id, err
		}
	}
	return from, ids.Empty, tried.failure()
}
