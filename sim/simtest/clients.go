// Package simtest helps tests with an open world.
package simtest

import (
	"context"
	"crypto/ecdsa"
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// clients decides from a seed what some clients do with a chain.
type clients struct {
	ctx       context.Context
	random    *rand.Rand
	miner     *miner.Miner
	contracts []store.Contract
	personas  []store.Persona
	keys      []*ecdsa.PrivateKey
}

// SendRandomly sends transactions on every EVM chain of a world, chosen by a seed: payments, calls of every named contract, deployments and
// failures, with automine and without, and sometimes blocks that the network would not make, state changes and transactions without a
// signature. It leaves automine on.
func SendRandomly(ctx context.Context, w *sim.World, seed uint64, steps int) error {
	personas, err := w.DB.Personas(ctx)
	if err != nil {
		return err
	}
	for _, m := range w.Miners {
		c := &clients{ctx: ctx, random: rand.New(rand.NewPCG(seed, m.Chain.Row.EVMID)), miner: m, personas: personas[:6]}
		for i := range c.personas {
			key, err := crypto.ToECDSA(c.personas[i].Key)
			if err != nil {
				return err
			}
			c.keys = append(c.keys, key)
		}
		if c.contracts, err = w.DB.Contracts(ctx, m.Chain.Row.ID); err != nil {
			return err
		}
		c.contracts = slices.DeleteFunc(c.contracts, func(r store.Contract) bool { return r.Artifact == "" }) // their methods are unknown
		for step := range steps {
			if err := c.step(); err != nil {
				return fmt.Errorf("chain %d, step %d: %w", m.Chain.Row.EVMID, step, err)
			}
		}
		m.SetAutomine(true)
		if err := m.Mine(ctx, 1, 0); err != nil {
			return err
		}
	}
	return nil
}

func (c *clients) step() error {
	switch c.random.IntN(14) {
	case 12:
		return c.changeState()
	case 13:
		return c.impersonate()
	case 0:
		c.miner.SetAutomine(c.random.IntN(2) == 0)
		return nil
	case 1:
		return c.miner.Mine(c.ctx, 1+c.random.Uint64N(3), time.Duration(c.random.IntN(5))*time.Second)
	case 2:
		return c.unusual()
	}
	return c.send()
}

// unusual asks for a block that the network would not make.
func (c *clients) unusual() error {
	head, err := c.miner.Chain.Head(c.ctx)
	if err != nil {
		return err
	}
	switch c.random.IntN(4) {
	case 0:
		c.miner.SetNextBaseFee(new(big.Int).SetUint64(1 + c.random.Uint64N(1_000_000_000)))
	case 1:
		c.miner.SetCoinbase(common.BytesToAddress(c.personas[c.random.IntN(len(c.personas))].Address))
	case 2:
		c.miner.SetGasLimit(8_000_000 + c.random.Uint64N(10_000_000))
	default:
		return c.miner.SetNextTime(c.ctx, head.Header.TimeMilliseconds+1+c.random.Uint64N(100_000))
	}
	return nil
}

// changeState changes balances, nonces, code, and the storage of named contracts without a transaction.
func (c *clients) changeState() error {
	address := common.BytesToAddress(binary.BigEndian.AppendUint64(nil, 1+c.random.Uint64N(4)))
	named := common.BytesToAddress(c.contracts[c.random.IntN(len(c.contracts))].Address)
	number := common.BytesToHash(binary.BigEndian.AppendUint64(nil, c.random.Uint64N(6)))
	holder := common.BytesToAddress(c.personas[c.random.IntN(len(c.personas))].Address)
	switch c.random.IntN(6) {
	case 0:
		return c.miner.AddBalance(c.ctx, holder, uint256.NewInt(c.random.Uint64()))
	case 1:
		return c.miner.SetNonce(c.ctx, address, c.random.Uint64N(1000), true)
	case 2:
		states, err := c.state()
		if err != nil {
			return err
		}
		return c.miner.SetCode(c.ctx, address, states.GetCode(named))
	case 3:
		return c.miner.SetStorage(c.ctx, address, number, common.BytesToHash(holder[:]), nil)
	}
	// A slot in a Solidity mapping from addresses: a balance, if the contract has its balances there.
	slot := crypto.Keccak256Hash(common.LeftPadBytes(holder[:], 32), number[:])
	return c.miner.SetStorage(c.ctx, named, slot, common.BigToHash(new(big.Int).SetUint64(c.random.Uint64N(1000))), &holder)
}

func (c *clients) state() (*state.StateDB, error) {
	head, err := c.miner.Chain.Head(c.ctx)
	if err != nil {
		return nil, err
	}
	return c.miner.Chain.State(c.ctx, head)
}

// impersonate sends for a named contract, which it first gives the funds.
func (c *clients) impersonate() error {
	sender := common.BytesToAddress(c.contracts[c.random.IntN(len(c.contracts))].Address)
	if err := c.miner.AddBalance(c.ctx, sender, uint256.NewInt(4e18)); err != nil {
		return err
	}
	data, err := c.transaction(sender)
	if err != nil {
		return err
	}
	tx, err := evm.Impersonate(types.NewTx(data), data.ChainID, sender)
	if err != nil {
		return err
	}
	return c.miner.SendFrom(c.ctx, tx, sender)
}

func (c *clients) send() error {
	who := c.random.IntN(len(c.keys))
	data, err := c.transaction(common.BytesToAddress(c.personas[who].Address))
	if err != nil {
		return err
	}
	tx, err := types.SignNewTx(c.keys[who], types.LatestSignerForChainID(data.ChainID), data)
	if err != nil {
		return err
	}
	return c.miner.Send(c.ctx, tx)
}

func (c *clients) transaction(sender common.Address) (*types.DynamicFeeTx, error) {
	nonce, err := c.miner.Nonce(c.ctx, sender)
	if err != nil {
		return nil, err
	}
	id := new(big.Int).SetUint64(c.miner.Chain.Row.EVMID)
	data := &types.DynamicFeeTx{ChainID: id, Nonce: nonce, GasTipCap: new(big.Int).SetUint64(c.random.Uint64N(1_000_000_000)), GasFeeCap: big.NewInt(2_000_000_000_000), Gas: 1_500_000}
	return data, c.fill(data)
}

// fill chooses a transaction's content.
func (c *clients) fill(tx *types.DynamicFeeTx) error {
	other := common.BytesToAddress(c.personas[c.random.IntN(len(c.personas))].Address)
	switch c.random.IntN(4) {
	case 0:
		tx.To, tx.Value, tx.Gas = &other, new(big.Int).SetUint64(c.random.Uint64N(1000)), 21_000
		return nil
	case 1:
		artifact, err := contracts.Load("Greeter")
		if err != nil {
			return err
		}
		tx.Data = append(append([]byte{}, artifact.Bytecode...), make([]byte, 32*c.random.IntN(4))...)
		return nil
	}
	contract := c.contracts[c.random.IntN(len(c.contracts))]
	artifact, err := contracts.Load(contract.Artifact)
	if err != nil {
		return err
	}
	tx.To, tx.Data = new(common.BytesToAddress(contract.Address)), c.call(&artifact.ABI)
	tx.Data = append(tx.Data, common.LeftPadBytes(other[:], 32)...)
	tx.Data = append(tx.Data, binary.BigEndian.AppendUint64(make([]byte, 24), c.random.Uint64N(100))...)
	return nil
}

// call chooses a method of a contract, usually one that moves tokens. The arguments are an address and a small number, which suit some.
func (c *clients) call(a *abi.ABI) []byte {
	if transfer, has := a.Methods["transfer"]; has && c.random.IntN(2) == 0 {
		return slices.Clone(transfer.ID)
	}
	names := slices.Sorted(maps.Keys(a.Methods))
	if len(names) == 0 {
		return nil
	}
	return slices.Clone(a.Methods[names[c.random.IntN(len(names))]].ID)
}
