package evm

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"math/rand/v2"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
)

// Residents keeps the accounts of an open world's chain active. Their actions at a time follow from the seed, the time and the chain's
// present state.
type Residents struct {
	*activity
	chain *Chain
	miner *miner.Miner
	known *knownTokens
	peers []ids.ID // chains to which they send messages
}

// NewResidents returns the residents of a miner's chain, with the number of transactions in its history and its contracts by role.
func NewResidents(g population.RNG, m *miner.Miner, db *store.DB, size int, personas *population.Personas, accounts []*population.Account, contracts []store.Contract, peers []ids.ID) *Residents {
	row := m.Chain.Row
	known := &knownTokens{db: db, chain: m.Chain, tokens: map[common.Address]*store.Token{}}
	c := &Chain{
		Row: row, Personas: personas, rng: g, size: size, accounts: accounts, signer: types.LatestSignerForChainID(new(big.Int).SetUint64(row.EVMID)),
		byRole: map[string]common.Address{}, artifacts: map[string]string{}, balances: known,
	}
	if !c.IsL1() {
		c.listed = fixtures.ListedTokens[row.Network]
	}
	for _, k := range contracts {
		c.addContract(k.Role, k.Artifact, common.Address(k.Address))
	}
	return &Residents{activity: &activity{chain: c}, chain: c, miner: m, known: known, peers: peers}
}

const (
	greetings = 2 // percent are messages to other chains
	gasGreet  = 900_000
)

// Act lets a resident act at a time in Unix seconds, which must be the world clock's.
func (n *Residents) Act(ctx context.Context, at uint64) error {
	n.known.ctx, n.known.err = ctx, nil
	r := n.chain.rng.For("resident", n.chain.Row.EVMID, at)
	n.batches = int64(at)
	request, err := n.decide(r)
	if err := errors.Join(err, n.known.err); err != nil {
		return err
	}
	o := n.chain.offerOf(request.From, at, false, r)
	if request, err = n.payable(ctx, request, o, r); err != nil {
		return err
	}
	return n.miner.SendPrepared(ctx, request.From.Address, func(next miner.Next) (*types.Transaction, error) {
		return secp256k1.SignTx(types.NewTx(n.chain.txData(next.Nonce, next.BaseFee, request, o, r)), n.chain.signer, request.From.Key)
	})
}

// decide returns the next action. Accounts of the mnemonic never act: clients send from those, and count their nonces.
func (n *Residents) decide(r *rand.Rand) (*TxRequest, error) {
	if r.IntN(100) < greetings {
		text := []string{"still snowing", "back from the hut", "see you tomorrow"}[r.IntN(3)]
		return n.chain.CallWith(n.chain.Personas.Ewoq, "greeter", "Greeter", "greet", nil, gasGreet, n.peers[r.IntN(len(n.peers))], GreeterAddress(n.chain.Personas), text)
	}
	for range 8 { // only the deployer can do some of the actions
		request, err := n.any(r)
		if err != nil || !n.chain.ofPhrase(request.From) {
			return request, err
		}
	}
	return n.sendNative(n.chain.randomAccount(r), r)
}

// payable returns the request, or a gift to its sender if the sender cannot pay.
func (n *Residents) payable(ctx context.Context, request *TxRequest, o offer, r *rand.Rand) (*TxRequest, error) {
	head, err := n.miner.Chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	states, err := n.miner.Chain.State(ctx, head)
	if err != nil {
		return nil, err
	}
	cost := new(big.Int).Mul(o.limit(new(big.Int).Lsh(head.Header.BaseFee, 1)), new(big.Int).SetUint64(request.Gas+gasAccess))
	if request.Value != nil {
		cost.Add(cost, request.Value)
	}
	if limit, overflow := uint256.FromBig(cost); overflow || states.GetBalance(request.From.Address).Lt(limit) {
		request = n.chain.gift(n.chain.Personas.Ewoq, request.From.Address, states.GetBalance, r)
	}
	return request, evm.Fault(states)
}

// knownTokens reads token balances and approvals from the chain.
type knownTokens struct {
	db     *store.DB
	chain  *reader.Chain
	tokens map[common.Address]*store.Token // of the contracts with a role

	ctx context.Context // of the present decision
	err error           // the first one since
}

func (k *knownTokens) token(address common.Address) *store.Token {
	if t, known := k.tokens[address]; known {
		return t
	}
	t, err := k.db.TokenAt(k.ctx, k.chain.Row.ID, address[:])
	if k.failed(err) {
		return nil
	}
	k.tokens[address] = t
	return t
}

// failed reports an error other than a missing row, which is an answer.
func (k *knownTokens) failed(err error) bool {
	if err != nil && !errors.Is(err, store.ErrNotFound) && k.err == nil {
		k.err = err
	}
	return err != nil
}

func (k *knownTokens) balance(token, owner common.Address) *big.Int {
	t := k.token(token)
	if t == nil {
		return new(big.Int)
	}
	held, err := k.db.TokenBalance(k.ctx, owner[:], t.ID.Asset(nil), store.MaxNumber)
	if k.failed(err) {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(held.Amount)
}

func (k *knownTokens) items(token, owner common.Address) (numbers []uint64) {
	t := k.token(token)
	if t == nil {
		return nil
	}
	rows, err := k.db.TokenBalancesOf(k.ctx, owner[:], t.ID, store.MaxNumber)
	if k.failed(err) {
		return nil
	}
	var last store.AssetKey
	for i := range rows { // each item's newest row comes first
		if bytes.Equal(rows[i].Asset, last) {
			continue
		}
		last = rows[i].Asset
		if number := new(big.Int).SetBytes(last.Item()); number.IsUint64() && new(big.Int).SetBytes(rows[i].Amount).Sign() > 0 {
			numbers = append(numbers, number.Uint64())
		}
	}
	return numbers
}

func (k *knownTokens) allows(token, owner, spender common.Address) bool {
	a, err := contracts.Load("Token")
	if k.failed(err) {
		return false
	}
	data, err := a.ABI.Pack("allowance", owner, spender)
	if k.failed(err) {
		return false
	}
	head, err := k.chain.Head(k.ctx)
	if k.failed(err) {
		return false
	}
	result, err := k.chain.Call(k.ctx, head, &reader.Call{To: &token, Input: new(hexutil.Bytes(data))}, reader.Overrides{})
	if k.failed(err) {
		return false
	}
	return result.Err == nil && new(big.Int).SetBytes(result.ReturnData).BitLen() > 90
}

// observe does nothing: the chain knows.
func (k *knownTokens) observe(*types.Receipt) {}
