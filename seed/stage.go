package seed

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// intent is a transaction that somebody wants.
type txRequest struct {
	from  *account
	to    *common.Address // nil creates a contract
	value *big.Int        // wei, nil for none
	data  []byte
	gas   uint64
	role  string // of the contract that it creates, if that plays a part
	made  string // name of the compiled contract that it creates
	done  func() // what follows when it has been performed; may be nil
}

// stage is one chain with everyone and everything on it, while its history is made.
type evmChain struct {
	rng            rng
	chain          store.Chain
	signer         types.Signer
	builder        *evm.Builder
	first          *store.Delta // the chain's block 0
	schedule       *precompile.Schedule
	people         map[string]*account
	accounts       []*account      // the most active first
	full           bool            // personas act in full, otherwise a tenth
	primaryNetwork *primaryNetwork // of a C-Chain: the other chains of its network
	icmEndpoint    *icmEndpoint
	l1             *l1 // of an L1: how it stands with the P-chain

	places        map[string]common.Address // contracts by role
	contracts     []store.Contract
	tokenBalances *tokenBalances
	crystals      int64 // batches minted so far, which number their tokens
}

const (
	gasPay  = 21_000
	gasCall = 160_000 // enough for any call on the fixture contracts that is not listed with its own limit
	gwei    = 1e9
)

// pay moves the chain's own token.
func pay(from *account, to common.Address, value *big.Int) *txRequest {
	return &txRequest{from: from, to: &to, value: value, gas: gasPay}
}

// call calls a contract that plays a part.
func (s *evmChain) call(from *account, role, artifact, method string, args ...any) (*txRequest, error) {
	a, err := contracts.Load(artifact)
	if err != nil {
		return nil, err
	}
	place, ok := s.places[role]
	if !ok {
		return nil, fmt.Errorf("chain %d has no %s", s.chain.EVMID, role)
	}
	data, err := a.ABI.Pack(method, args...)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", artifact, method, err)
	}
	return &txRequest{from: from, to: &place, data: data, gas: gasCall}, nil
}

// callWith is a call that sends value along, or has a gas limit of its own.
func (s *evmChain) callWith(from *account, role, artifact, method string, value *big.Int, gas uint64, args ...any) (*txRequest, error) {
	i, err := s.call(from, role, artifact, method, args...)
	if err != nil {
		return nil, err
	}
	i.value, i.gas = value, gas
	return i, nil
}

// create deploys a contract under a role.
func create(from *account, role, artifact string, args ...any) (*txRequest, error) {
	a, err := contracts.Load(artifact)
	if err != nil {
		return nil, err
	}
	code, err := a.InitCode(args...)
	if err != nil {
		return nil, err
	}
	return &txRequest{from: from, data: code, gas: gasCreate(len(code)), role: role, made: artifact}, nil
}

// gasCreate is enough to deploy init code of this length: the code is paid for as data and, once, as state.
func gasCreate(size int) uint64 { return 300_000 + 240*uint64(size) }

// perform signs an intent as its sender would and executes it in the pending block.
func (s *evmChain) perform(p *evm.Pending, i *txRequest, r *rand.Rand) error {
	tx, err := types.SignTx(types.NewTx(s.txData(p, i, r)), s.signer, i.from.key)
	if err != nil {
		return err
	}
	receipt, err := p.Apply(tx, i.from.address)
	if err != nil {
		return fmt.Errorf("chain %d, block %d: %w", s.chain.EVMID, p.Header().Number, err)
	}
	if i.role != "" {
		s.place(i.role, i.made, created(receipt))
	}
	if i.done != nil {
		i.done()
	}
	s.tokenBalances.observe(receipt)
	return nil
}

var topicDeployed = crypto.Keccak256Hash([]byte("Deployed(address,bool)"))

// created is the contract that a transaction deployed, itself or through the factory.
func created(r *types.Receipt) common.Address {
	for _, log := range r.Logs {
		if len(log.Topics) == 2 && log.Topics[0] == topicDeployed {
			return address(log.Topics[1])
		}
	}
	return r.ContractAddress
}

// place remembers a contract that plays a part.
func (s *evmChain) place(role, artifact string, address common.Address) {
	s.places[role] = address
	s.contracts = append(s.contracts, store.Contract{Chain: s.chain.ID, Address: address.Bytes(), Role: role, Artifact: artifact})
}

// envelope chooses the transaction's type and price: most people use type 2, some wallets are older.
func (s *evmChain) txData(p *evm.Pending, i *txRequest, r *rand.Rand) types.TxData {
	base, tip := p.Header().BaseFee, big.NewInt(between(r, 1, 20)*gwei/10)
	price := new(big.Int).Add(base, tip)
	nonce, value := p.Nonce(i.from.address), i.value
	if value == nil {
		value = new(big.Int)
	}
	switch kind := r.IntN(20); {
	case kind < 3:
		return &types.LegacyTx{Nonce: nonce, GasPrice: price, Gas: i.gas, To: i.to, Value: value, Data: i.data}
	case kind == 3:
		return &types.AccessListTx{ChainID: s.signer.ChainID(), Nonce: nonce, GasPrice: price, Gas: i.gas + gasAccess, To: i.to,
			Value: value, Data: i.data, AccessList: accessList(i)}
	default:
		limit := new(big.Int).Mul(base, big.NewInt(2))
		return &types.DynamicFeeTx{ChainID: s.signer.ChainID(), Nonce: nonce, GasTipCap: tip, GasFeeCap: limit.Add(limit, tip),
			Gas: i.gas, To: i.to, Value: value, Data: i.data}
	}
}

const gasAccess = 2400 + 1900 // one address and one key

func accessList(i *txRequest) types.AccessList {
	if i.to == nil || len(i.data) == 0 {
		return nil
	}
	return types.AccessList{{Address: *i.to, StorageKeys: []common.Hash{{}}}}
}
