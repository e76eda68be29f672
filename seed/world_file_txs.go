package seed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/fixtures/session"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed/primary"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// player applies the part of a profile's file that happens after the history.
type player struct {
	*generation
	world   *sim.World
	byName  map[string]*actor    // the file's tokens, NFTs and contracts, and the world's on their chain
	who     sim.Participants     // contracts and markets added along the way
	staking []*primary.Residents // by network
}

// actor is a contract that the file can call.
type actor struct {
	chain   int
	address common.Address
	abi     abi.ABI
}

// step happens at a time, or right after the step before it.
type step struct {
	at   uint64
	path string
	do   func(ctx context.Context) error
}

// play deploys and distributes the file's contracts and sends its transactions. Everything is a transaction like a client's.
func (g *generation) play(ctx context.Context, w *sim.World) (sim.Participants, error) {
	p := &player{generation: g, world: w, byName: map[string]*actor{}}
	for i, n := range g.networks {
		p.staking = append(p.staking, n.Opened(w.Networks[i]))
	}
	steps, err := p.steps()
	if err != nil {
		return p.who, err
	}
	for _, s := range steps {
		if at := time.Unix(int64(s.at), 0); at.After(w.Clock.Now()) {
			err = w.Advance(ctx, at)
		}
		if err == nil {
			err = s.do(ctx)
		}
		if ctx.Err() == nil {
			err = p.explain(s.path, err)
		}
		if err != nil {
			return p.who, err
		}
	}
	return p.who, nil
}

// explain adds the guilty line to an error, unless it already has one or the disk is to blame.
func (p *player) explain(path string, err error) error {
	var mistake *worldfile.Mistake
	if err == nil || errors.As(err, &mistake) || errors.Is(err, store.ErrDisk) {
		return err
	}
	return p.profile.places.Error(path, "%w", err)
}

func (p *player) steps() (all []step, err error) {
	until := p.span.Until
	for i := range p.profile.Import {
		all = append(all, step{until, fmt.Sprintf("import[%d]", i), func(ctx context.Context) error { return p.imports(ctx, &p.profile.Import[i]) }})
	}
	for i := range p.profile.Tokens {
		path := fmt.Sprintf("tokens[%d]", i)
		all = append(all, step{until, path, func(ctx context.Context) error { return p.token(ctx, &p.profile.Tokens[i], path) }})
	}
	for i := range p.profile.NFTs {
		all = append(all, step{until, fmt.Sprintf("nfts[%d]", i), func(ctx context.Context) error { return p.nft(ctx, &p.profile.NFTs[i]) }})
	}
	for i := range p.profile.Contracts {
		path := fmt.Sprintf("contracts[%d]", i)
		all = append(all, step{until, path, func(ctx context.Context) error { return p.contract(ctx, &p.profile.Contracts[i], path) }})
	}
	stakes, err := p.stakes()
	if err != nil {
		return nil, err
	}
	for _, s := range stakes {
		if s.Start >= until {
			all = append(all, step{s.Start, "", func(ctx context.Context) error { return p.staking[s.network].Stake(ctx, s.Stake) }})
		}
	}
	last := until
	for i := range p.profile.Play {
		t, path := &p.profile.Play[i], fmt.Sprintf("play[%d]", i)
		if t.At != "" {
			if last, err = t.At.In(until); err != nil {
				return nil, p.profile.places.Error(path+".at", "%w", err)
			}
		}
		if last < until {
			return nil, p.profile.places.Error(path+".at", "it lies within the generated history, which ends at %s; give a time from then on, or let history end before with --until", time.Unix(int64(until), 0).UTC().Format(time.RFC3339))
		}
		if t.SameBlock {
			continue // it comes with the one before it
		}
		end := i + 1
		for end < len(p.profile.Play) && p.profile.Play[end].SameBlock {
			end++
		}
		all = append(all, step{last, path, func(ctx context.Context) error {
			if end > i+1 {
				return p.block(ctx, i, end)
			}
			return p.transaction(ctx, t, path)
		}})
	}
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	return all, nil
}

// imports takes over a file of another tool. The contracts that it names can be called by these names afterwards.
func (p *player) imports(ctx context.Context, m *worldfile.Import) error {
	if m.Content == nil {
		return errors.New("generating the world needs the file again: name it with file")
	}
	var chain *reader.Chain
	if m.Chain != "" {
		at, err := p.chainOf(m.Chain)
		if err != nil {
			return err
		}
		chain = p.world.Chains[at]
	}
	done, err := p.world.Import(ctx, m.Content, chain)
	if err != nil {
		return err
	}
	for _, note := range done.Notes {
		p.note(note)
	}
	for _, row := range done.Contracts {
		at := slices.IndexFunc(p.world.Chains, func(c *reader.Chain) bool { return c.Row.ID == row.Chain })
		p.byName[row.Role] = &actor{chain: at, address: common.Address(row.Address)}
	}
	return nil
}

func (p *player) chainOf(text string) (int, error) {
	at, err := p.named.chain(p.specs, text)
	return at.evm, err
}

func (p *player) address(chain int) worldfile.Resolve {
	return func(name string) (common.Address, error) {
		if address, known := p.named.addresses[name]; known {
			return address, nil
		}
		if a := p.actor(chain, name); a != nil {
			return a.address, nil
		}
		if len(name) == 42 && common.IsHexAddress(name) {
			return common.HexToAddress(name), nil
		}
		return common.Address{}, fmt.Errorf("%q is not an account, contract or address", name)
	}
}

// actor returns the contract with a name on a chain, from the file or the world.
func (p *player) actor(chain int, name string) *actor {
	if a := p.byName[name]; a != nil && a.chain == chain {
		return a
	}
	c := p.chains[chain]
	for _, row := range c.Contracts() {
		if row.Role != name {
			continue
		}
		a := &actor{chain: chain, address: common.Address(row.Address)}
		if artifact, err := contracts.Load(row.Artifact); err == nil {
			a.abi = artifact.ABI
		}
		return a
	}
	return nil
}

// add remembers a contract of the file by its name.
func (p *player) add(chain int, name, artifact, text string, address common.Address, parsed abi.ABI) error {
	if p.actor(chain, name) != nil {
		return fmt.Errorf("%s is already the role of a contract on %s; choose another name", name, p.specs[chain].Name())
	}
	for _, row := range p.chains[chain].Contracts() {
		if common.Address(row.Address) == address && row.Role != name {
			return fmt.Errorf("%s is the address of %s", address, row.Role)
		}
	}
	p.byName[name] = &actor{chain, address, parsed}
	p.who.Contracts = append(p.who.Contracts, store.Contract{Chain: p.chains[chain].Row.ID, Address: address.Bytes(), Role: name, Artifact: artifact, ABI: text})
	return nil
}

// deploy deploys one of the world's own contracts under a name of the file.
func (p *player) deploy(ctx context.Context, chain int, name, artifact, owner string, args ...any) error {
	a, err := contracts.Load(artifact)
	if err != nil {
		return err
	}
	code, err := a.InitCode(args...)
	if err != nil {
		return err
	}
	address, err := p.send(ctx, chain, owner, request{data: code})
	if err != nil {
		return err
	}
	return p.add(chain, name, artifact, "", address, a.ABI)
}

// perTransfer is the number of holders that get their tokens in one transaction.
const perTransfer = 100

func (p *player) token(ctx context.Context, t *worldfile.Token, path string) error {
	chain, err := p.chainOf(t.Chain)
	if err != nil {
		return err
	}
	owner := cmp.Or(t.Owner, usualOwner)
	supply, _, err := t.Amounts()
	if err != nil {
		return err
	}
	artifact, err := contracts.Load("Token")
	if err != nil {
		return err
	}
	if t.Address == "" {
		err = p.deploy(ctx, chain, t.Symbol, artifact.Name, owner, t.Name, t.Symbol, uint8(t.Places()), supply, p.named.addresses[owner])
	} else if supply.Sign() > 0 {
		err = p.call(ctx, chain, owner, common.HexToAddress(t.Address), artifact.ABI, "mint", p.named.addresses[owner], supply)
	}
	if err != nil {
		return err
	}
	token := p.actor(chain, t.Symbol)
	if q, traded, err := t.Quote(); err != nil {
		return err
	} else if traded {
		p.who.Markets = append(p.who.Markets, store.Market{Chain: p.chains[chain].Row.ID, Address: token.address.Bytes(), Series: t.Symbol, Price: q.Price, Amplitude: q.Swing})
	}
	var to []common.Address
	var amounts []*big.Int
	hand := func() error {
		if len(to) == 0 {
			return nil
		}
		err := p.call(ctx, chain, owner, token.address, artifact.ABI, "batchTransfer", to, amounts)
		to, amounts = nil, nil
		return err
	}
	for _, who := range worldfile.Sorted(t.Holders) {
		address, err := p.address(chain)(who)
		if err != nil {
			return p.profile.places.Error(path+".holders."+who, "%w", err)
		}
		amount, err := t.Holders[who].Units(t.Places())
		if err != nil {
			return err
		}
		if address == p.named.addresses[owner] || amount.Sign() == 0 { // already has it
			continue
		}
		if to, amounts = append(to, address), append(amounts, amount); len(to) == perTransfer {
			if err := hand(); err != nil {
				return err
			}
		}
	}
	return hand()
}

func (p *player) nft(ctx context.Context, n *worldfile.NFT) error {
	chain, err := p.chainOf(n.Chain)
	if err != nil {
		return err
	}
	owner := cmp.Or(n.Owner, usualOwner)
	artifact, err := contracts.Load(collectionOf(n))
	if err == nil && n.Address != "" {
		err = p.add(chain, n.Symbol, artifact.Name, "", common.HexToAddress(n.Address), artifact.ABI)
	} else if err == nil {
		err = p.deploy(ctx, chain, n.Symbol, artifact.Name, owner, n.Name, n.Symbol, p.named.addresses[owner])
	}
	if err != nil {
		return err
	}
	call := func(method string, args ...any) error {
		return p.call(ctx, chain, owner, p.byName[n.Symbol].address, artifact.ABI, method, args...)
	}
	for i := range n.Items {
		item := &n.Items[i]
		id, err := item.ID.Units(0)
		if err != nil {
			return err
		}
		if !n.Multi() {
			to, err := p.address(chain)(item.Holder)
			if err == nil {
				err = call("mint", to, id, item.URI)
			}
			if err != nil {
				return err
			}
			continue
		}
		for _, who := range worldfile.Sorted(item.Holders) {
			to, err := p.address(chain)(who)
			if err != nil {
				return err
			}
			amount, err := item.Holders[who].Units(0)
			if err == nil && amount.Sign() > 0 {
				err = call("mint", to, id, amount)
			}
			if err != nil {
				return err
			}
		}
		if item.URI != "" {
			if err := call("setURI", id, item.URI); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *player) contract(ctx context.Context, k *worldfile.Contract, path string) error {
	chain, err := p.chainOf(k.Chain)
	if err != nil {
		return err
	}
	parsed, err := worldfile.ParseABI(k.ABI)
	if err != nil {
		return err
	}
	if k.Address != "" {
		return p.add(chain, k.Name, "", k.ABI, common.HexToAddress(k.Address), parsed)
	}
	code, err := initCode(k, p.address(chain))
	if err != nil {
		return p.profile.places.Error(path, "%w", err)
	}
	value, err := k.Value.Or("0").Units(weiDecimals)
	if err != nil {
		return err
	}
	r := request{data: code, value: value, abi: parsed}
	salt := common.BytesToHash(common.FromHex(k.Salt))
	if k.Salt != "" {
		r.to, r.data = new(common.HexToAddress(cmp.Or(k.Deployer, fixtures.Create2Deployer.Hex()))), append(salt.Bytes(), code...)
	}
	address, err := p.send(ctx, chain, cmp.Or(k.From, usualOwner), r)
	if err != nil {
		return err
	}
	if k.Salt != "" {
		address = crypto.CreateAddress2(*r.to, salt, crypto.Keccak256(code))
	}
	return p.add(chain, k.Name, "", k.ABI, address, parsed)
}

func (p *player) transaction(ctx context.Context, t *worldfile.Transaction, path string) error {
	if s := t.Step(); s != nil && s.From == "" {
		return p.line(ctx, s)
	}
	at, err := p.named.chain(p.specs, t.Chain)
	if err != nil {
		return err
	}
	if at.evm < 0 || t.ToChain != "" {
		amount, err := nano(t.Value)
		if err != nil {
			return err
		}
		if t.ToChain != "" {
			to, err := p.named.chain(p.specs, t.ToChain)
			if err != nil {
				return err
			}
			return p.staking[at.network].Move(ctx, p.named.accounts[t.From], at.onPrimary(), to.onPrimary(), amount)
		}
		to, err := p.named.owner(t.To)
		if err != nil {
			return p.profile.places.Error(path+".to", "%w", err)
		}
		_, err = p.staking[at.network].Pay(ctx, txs.Chain(at.primary), p.named.accounts[t.From], to, amount)
		return err
	}
	r, err := p.request(at.evm, t, path)
	if err == nil {
		_, err = p.send(ctx, at.evm, t.From, r)
	}
	return err
}

// request turns a transaction of the file into a request on an EVM chain.
func (p *player) request(chain int, t *worldfile.Transaction, path string) (r request, err error) {
	r.fails = t.Fails
	if s := t.Step(); s != nil {
		r.fields = &s.Fields
	}
	if t.Gas != nil {
		r.gas = uint64(*t.Gas)
	}
	if r.value, err = t.Value.Or("0").Units(weiDecimals); err != nil {
		return r, err
	}
	if t.To != "" {
		to, err := p.address(chain)(t.To)
		if err != nil {
			return r, p.profile.places.Error(path+".to", "%w", err)
		}
		r.to = &to
	}
	if r.data = common.FromHex(t.Data); t.Method != "" {
		r.data, err = p.pack(chain, t, path)
	}
	return r, err
}

// block sends the file's transactions from one index up to another in one block, in this order: earlier ones pay a higher tip.
func (p *player) block(ctx context.Context, from, to int) error {
	at, err := p.named.chain(p.specs, p.profile.Play[from].Chain)
	if err != nil {
		return err
	}
	m := p.world.Miners[at.evm]
	m.SetAutomine(false)
	defer m.SetAutomine(true)
	each := make([]func() error, to-from) // checks that wait for the block
	for i := range each {
		t, path := &p.profile.Play[from+i], fmt.Sprintf("play[%d]", from+i)
		r, err := p.request(at.evm, t, path)
		r.tip = int64(to - from - i)
		var sent *types.Transaction
		if err == nil {
			sent, err = p.submit(ctx, at.evm, t.From, &r)
		}
		if err != nil {
			return p.explain(path, err)
		}
		each[i] = func() error { return p.explain(path, p.settled(ctx, at.evm, sent, r)) }
	}
	if err := m.Mine(ctx, 1, 0); err != nil {
		return err
	}
	for _, check := range each {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// pack encodes the call of a method, by its name or its signature.
func (p *player) pack(chain int, t *worldfile.Transaction, path string) ([]byte, error) {
	name, types, signature := strings.Cut(strings.TrimSuffix(t.Method, ")"), "(")
	var inputs abi.Arguments
	var id []byte
	if signature {
		selector, err := abi.ParseSelector(t.Method)
		if err == nil {
			err = worldfile.CheckTypes(selector.Inputs)
		}
		if err != nil {
			return nil, p.profile.places.Error(path+".method", "%w", err)
		}
		for _, in := range selector.Inputs {
			kind, err := abi.NewType(in.Type, in.InternalType, in.Components)
			if err != nil {
				return nil, p.profile.places.Error(path+".method", "%w", err)
			}
			inputs = append(inputs, abi.Argument{Name: in.Name, Type: kind})
		}
		id = crypto.Keccak256([]byte(name + "(" + types + ")"))[:4]
	} else {
		a := p.actor(chain, t.To)
		if a == nil || len(a.abi.Methods) == 0 {
			return nil, p.profile.places.Error(path+".method", "the ABI of %s is not known; write the signature, such as transfer(address,uint256)", t.To)
		}
		method, known := a.abi.Methods[t.Method]
		if !known {
			return nil, p.profile.places.Error(path+".method", "%s has no method %s; it has %s", t.To, t.Method, strings.Join(slices.Sorted(maps.Keys(a.abi.Methods)), ", "))
		}
		inputs, id = method.Inputs, method.ID
	}
	args, err := worldfile.Pack(inputs, t.Args, p.address(chain))
	if err != nil {
		return nil, p.profile.places.Error(path+".args", "%w", err)
	}
	return append(slices.Clip(id), args...), nil
}

func (p *player) call(ctx context.Context, chain int, from string, to common.Address, a abi.ABI, method string, args ...any) error {
	data, err := a.Pack(method, args...)
	if err == nil {
		_, err = p.send(ctx, chain, from, request{to: &to, data: data})
	}
	return err
}

// request is a transaction before it has a nonce, a price and a signature.
type request struct {
	to    *common.Address
	value *big.Int
	data  []byte
	gas   uint64 // 0 for an estimate
	tip   int64  // in wei; 0 for 1
	fails bool

	fields *session.Fields // of a session line; nil for none

	abi abi.ABI // of the contract that the data creates, if known
}

// send sends a transaction in a block of its own, and returns the contract it created. A failure is an error, unless the request expects
// it.
func (p *player) send(ctx context.Context, chain int, from string, r request) (common.Address, error) {
	sent, err := p.submit(ctx, chain, from, &r)
	if err == nil {
		err = p.settled(ctx, chain, sent, r)
	}
	if err != nil {
		return common.Address{}, err
	}
	return crypto.CreateAddress(p.named.accounts[from].Address, sent.Nonce()), nil
}

func (p *player) submit(ctx context.Context, chain int, from string, r *request) (sent *types.Transaction, err error) {
	c, m, who := p.world.Chains[chain], p.world.Miners[chain], p.named.accounts[from]
	if r.value == nil {
		r.value = new(big.Int)
	}
	if r.gas == 0 {
		if r.gas, err = p.estimated(ctx, chain, who.Address, r); err != nil {
			return nil, err
		}
	}
	signer, tip := types.LatestSignerForChainID(new(big.Int).SetUint64(c.Genesis.ChainID)), big.NewInt(max(r.tip, 1))
	err = m.SendPrepared(ctx, who.Address, func(next miner.Next) (tx *types.Transaction, err error) {
		limit := new(big.Int).Add(new(big.Int).Lsh(next.BaseFee, 1), tip)
		dynamic := &types.DynamicFeeTx{ChainID: signer.ChainID(), Nonce: next.Nonce, GasTipCap: tip, GasFeeCap: limit,
			Gas: r.gas, To: r.to, Value: r.value, Data: r.data}
		data, err := asWritten(dynamic, r.fields)
		if err != nil {
			return nil, err
		}
		sent, err = secp256k1.SignTx(types.NewTx(data), signer, who.Key)
		return sent, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s cannot send it: %w", from, err)
	}
	return sent, nil
}

// settled checks that a submitted transaction had the expected outcome.
func (p *player) settled(ctx context.Context, chain int, sent *types.Transaction, r request) error {
	t, err := p.world.Chains[chain].Transaction(ctx, sent.Hash())
	if errors.Is(err, store.ErrNotFound) && r.fields != nil && r.fields.Nonce != nil {
		return fmt.Errorf("it waits in the pool: %d is not the sender's next nonce, or the fee is below the block's", *r.fields.Nonce)
	}
	if errors.Is(err, store.ErrNotFound) {
		return errors.New("its block has no room for it; leave out sameBlock, or give less gas")
	}
	if err != nil {
		return err
	}
	if failed := t.Row.Status == 0; failed && !r.fails {
		return p.failure(ctx, chain, t, &r)
	} else if !failed && r.fails {
		return errors.New("it succeeded, but fails is true")
	}
	return nil
}

// estimated returns a gas limit for a transaction after the pending ones; for a failing one, enough for it to fail as expected.
func (p *player) estimated(ctx context.Context, chain int, from common.Address, r *request) (uint64, error) {
	head, err := p.world.Miners[chain].Pending(ctx)
	if err != nil {
		return 0, err
	}
	call := &reader.Call{From: &from, To: r.to, Value: (*hexutil.Big)(r.value), Input: (*hexutil.Bytes)(&r.data)}
	gas, result, err := p.world.Chains[chain].Estimate(ctx, head, call, reader.Overrides{})
	if r.fails && (err != nil || result != nil && result.Failed()) {
		return enoughToFail, nil
	}
	if err != nil {
		return 0, err
	}
	if result != nil && result.Failed() {
		return 0, p.failed(chain, r, result.Err.Error(), result.Revert())
	}
	return gas + gas/10, nil
}

const enoughToFail = 500_000
