package evm

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
	"snowglobe/seed/population"
	"snowglobe/sim/evm"
)

// TxRequest is a transaction that an account wants, before it has a nonce, a price and a signature.
type TxRequest struct {
	From       *population.Account
	To         *common.Address // nil creates a contract
	Value      *big.Int        // wei, nil for none
	Data       []byte
	Gas        uint64
	AccessList types.AccessList

	role     string // of the created contract, if it has one
	artifact string // of the created contract
	done     func() // called after the execution; may be nil
}

const (
	gasTransfer = 21_000
	GasCall     = 160_000 // enough for any call of the fixture contracts without a limit of its own
	gwei        = 1e9
)

func transfer(from *population.Account, to common.Address, value *big.Int) *TxRequest {
	return &TxRequest{From: from, To: &to, Value: value, Gas: gasTransfer}
}

// Call calls the contract with a role.
func (c *Chain) Call(from *population.Account, role, artifact, method string, args ...any) (*TxRequest, error) {
	a, err := contracts.Load(artifact)
	if err != nil {
		return nil, err
	}
	address, ok := c.byRole[role]
	if !ok {
		return nil, fmt.Errorf("chain %d has no %s", c.Row.EVMID, role)
	}
	data, err := a.ABI.Pack(method, args...)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", artifact, method, err)
	}
	return &TxRequest{From: from, To: &address, Data: data, Gas: GasCall}, nil
}

// CallWith returns a call with a value or a gas limit of its own.
func (c *Chain) CallWith(from *population.Account, role, artifact, method string, value *big.Int, gas uint64, args ...any) (*TxRequest, error) {
	request, err := c.Call(from, role, artifact, method, args...)
	if err != nil {
		return nil, err
	}
	request.Value, request.Gas = value, gas
	return request, nil
}

// calling is CallWith as an action, for arguments that are known beforehand.
func (c *Chain) calling(from *population.Account, role, artifact, method string, value *big.Int, gas uint64, args ...any) action {
	return func(*rand.Rand) (*TxRequest, error) {
		return c.CallWith(from, role, artifact, method, value, gas, args...)
	}
}

// Deploy creates a contract and remembers it under a role, unless the role is empty.
func Deploy(from *population.Account, role, artifact string, args ...any) (*TxRequest, error) {
	a, err := contracts.Load(artifact)
	if err != nil {
		return nil, err
	}
	code, err := a.InitCode(args...)
	if err != nil {
		return nil, err
	}
	return &TxRequest{From: from, Data: code, Gas: gasDeploy(len(code)), role: role, artifact: artifact}, nil
}

// gasDeploy is enough to deploy init code of this length, which is paid for as data and, once, as state.
func gasDeploy(size int) uint64 { return 300_000 + 240*uint64(size) }

var topicDeployed = crypto.Keccak256Hash([]byte("Deployed(address,bool)"))

// deployed returns the contract that a transaction deployed, itself or through the factory.
func deployed(r *types.Receipt) common.Address {
	for _, log := range r.Logs {
		if len(log.Topics) == 2 && log.Topics[0] == topicDeployed {
			return addressOf(log.Topics[1])
		}
	}
	return r.ContractAddress
}

// txData chooses the transaction's type and price: most accounts use EIP-1559's, some wallets are older.
func (c *Chain) txData(nonce uint64, baseFee *big.Int, q *TxRequest, o offer, r *rand.Rand) types.TxData {
	price := new(big.Int).Add(baseFee, o.tip)
	if o.legacy && o.tip.Cmp(baseFee) > 0 {
		price = o.tip
	}
	value := q.Value
	if value == nil {
		value = new(big.Int)
	}
	switch kind := r.IntN(20); {
	case o.legacy || kind < 2:
		return &types.LegacyTx{Nonce: nonce, GasPrice: price, Gas: q.Gas, To: q.To, Value: value, Data: q.Data}
	case kind == 2:
		return &types.AccessListTx{ChainID: c.signer.ChainID(), Nonce: nonce, GasPrice: price, Gas: q.Gas + gasAccess, To: q.To,
			Value: value, Data: q.Data, AccessList: accessList(q)}
	default:
		return &types.DynamicFeeTx{ChainID: c.signer.ChainID(), Nonce: nonce, GasTipCap: o.tip, GasFeeCap: o.limit(baseFee),
			Gas: q.Gas, To: q.To, Value: value, Data: q.Data}
	}
}

// limit returns the most that a sender pays per unit of gas: wallets allow for twice the base fee.
func (o offer) limit(base *big.Int) *big.Int {
	limit := new(big.Int).Lsh(base, 1)
	return limit.Add(limit, o.tip)
}

const gasAccess = 2400 + 1900 // one address and one key

func accessList(q *TxRequest) types.AccessList {
	if q.To == nil || len(q.Data) == 0 {
		return nil
	}
	return types.AccessList{{Address: *q.To, StorageKeys: []common.Hash{{}}}}
}

// scheduledTxData prices a transaction that has to be in this very block.
func (c *Chain) scheduledTxData(p *evm.BlockExecution, q *TxRequest) types.TxData {
	h := p.Header()
	o := c.offerOf(q.From, h.Time, false, c.rng.For("scheduled", c.Row.EVMID, h.TimeMilliseconds))
	return &types.DynamicFeeTx{ChainID: c.signer.ChainID(), Nonce: p.Nonce(q.From.Address), GasTipCap: o.tip, GasFeeCap: o.limit(h.BaseFee), Gas: q.Gas, To: q.To,
		Value: new(big.Int), Data: q.Data, AccessList: q.AccessList}
}
