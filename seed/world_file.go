package seed

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed/evm"
	"snowglobe/seed/population"
	"snowglobe/seed/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// namedAccounts holds the accounts that a profile's file can name: the personas and its own.
type namedAccounts struct {
	*Profile
	accounts  map[string]*population.Account // with a key
	addresses map[string]common.Address      // of everybody with one on EVM chains
	owners    map[string]txs.OutputOwners    // of everybody with an address on P and X
	rows      []store.Persona                // of its own accounts
}

// defaultRole acts where the file names no account.
const (
	usualOwner     = "deployer"
	usualStaker    = "staker"
	usualDelegator = "delegator"
)

func newNamedAccounts(p *Profile, personas *population.Personas) (*namedAccounts, error) {
	c := &namedAccounts{Profile: p, accounts: map[string]*population.Account{}, addresses: map[string]common.Address{}, owners: map[string]txs.OutputOwners{}}
	named, owned := map[common.Address]string{}, map[ids.ShortID]string{}
	for i, row := range personas.Rows {
		c.accounts[row.Name] = personas.Funded[i].Account
		c.addresses[row.Name] = personas.Funded[i].Account.Address
		c.owners[row.Name] = personas.Funded[i].Account.Owner()
		named[personas.Funded[i].Account.Address], owned[personas.Funded[i].Account.Primary.Address()] = row.Name, row.Name
	}
	for i := range p.Accounts {
		a, path := &p.Accounts[i], fmt.Sprintf("accounts[%d]", i)
		row := store.Persona{ID: len(personas.Rows) + i, Name: a.Name, Purpose: a.Purpose, Key: []byte{}, Address: common.HexToAddress(a.Address).Bytes()}
		if worldfile.IsPrimaryAddress(a.Address) {
			primary, err := worldfile.ParsePrimaryAddress(a.Address)
			if err != nil {
				return nil, p.places.Error(path+".address", "%w", err)
			}
			if other := owned[ids.ShortID(primary.Bytes)]; other != "" {
				return nil, p.places.Error(path, "it is the account of %s; name that one instead", other)
			}
			owned[ids.ShortID(primary.Bytes)], c.owners[a.Name] = a.Name, txs.NewOwner(ids.ShortID(primary.Bytes))
			row.ID, row.Address, row.Primary = store.FirstPrimaryPersona+i, nil, primary.Bytes
			c.rows = append(c.rows, row)
			continue
		}
		secret, err := a.Secret()
		if err == nil && secret != nil {
			var account *population.Account
			if account, err = population.NewAccount(secret); err == nil {
				c.accounts[a.Name], c.owners[a.Name], owned[account.Primary.Address()] = account, account.Owner(), a.Name
				row.Key, row.Address = secret, account.Address.Bytes()
			}
		}
		if err != nil {
			return nil, p.places.Error(path, "%w", err)
		}
		address := common.Address(row.Address)
		if other := named[address]; other != "" {
			return nil, p.places.Error(path, "it is the account of %s; name that one instead", other)
		}
		named[address], c.addresses[a.Name] = a.Name, address
		c.rows = append(c.rows, row)
	}
	return c, nil
}

// checkOwn checks the parts of the file that depend on the world.
func (p *Profile) checkOwn() error {
	if p.Empty() {
		return nil
	}
	personas, err := population.NewPersonas()
	if err != nil {
		return err
	}
	c, err := newNamedAccounts(p, personas)
	if err != nil {
		return err
	}
	specs, err := c.specs()
	if err != nil {
		return err
	}
	var wrong []error
	chain := func(path, text string) {
		if _, err := c.chain(specs, text); err != nil {
			wrong = append(wrong, p.places.Error(path, "%w", err))
		}
	}
	for i := range p.Accounts {
		for _, text := range worldfile.Sorted(p.Accounts[i].Balances) {
			chain(fmt.Sprintf("accounts[%d].balances.%s", i, text), text)
		}
	}
	for i := range p.Tokens {
		chain(fmt.Sprintf("tokens[%d].chain", i), p.Tokens[i].Chain)
	}
	for i := range p.NFTs {
		chain(fmt.Sprintf("nfts[%d].chain", i), p.NFTs[i].Chain)
	}
	for i := range p.Contracts {
		chain(fmt.Sprintf("contracts[%d].chain", i), p.Contracts[i].Chain)
	}
	for i := range p.Play {
		chain(fmt.Sprintf("play[%d].chain", i), p.Play[i].Chain)
	}
	return errors.Join(wrong...)
}

// specs returns the world's EVM chains: the profile's first, then the chains of the file's L1s.
func (c *namedAccounts) specs() ([]evm.ChainSpec, error) {
	all := slices.Clone(evm.ChainSpecs[:c.Chains])
	for i := range c.L1s {
		l, path := &c.L1s[i], fmt.Sprintf("l1s[%d]", i)
		id := uint64(l.ChainID)
		if at := slices.IndexFunc(all, func(s evm.ChainSpec) bool { return s.EVMID() == id || s.Name() == l.Name }); at >= 0 {
			return nil, c.places.Error(path, "chain %d, %s, already exists", all[at].EVMID(), all[at].Name())
		}
		if l.Genesis == "" && l.Transactions != nil && (*l.Transactions < minimumPerChain || *l.Transactions > c.Days*mostPerDay) {
			return nil, c.places.Error(path+".transactions", "%d is not from %d to %d", *l.Transactions, minimumPerChain, c.Days*mostPerDay)
		}
		symbol := cmp.Or(l.Token, strings.ToUpper(l.Name[:min(len(l.Name), 4)]))
		spec := evm.OwnChain(networkOf(l.Network), l.Name, cmp.Or(l.TokenName, l.Name), symbol, id)
		if l.Genesis != "" {
			var err error
			if spec, err = evm.ImportedChain(networkOf(l.Network), l.Name, cmp.Or(l.TokenName, l.Name), symbol, []byte(l.Genesis), []byte(l.Upgrade)); err != nil {
				return nil, c.places.Error(path+".genesis", "%w", err)
			}
		}
		if q, traded, err := l.Quote(); err != nil {
			return nil, c.places.Error(path+".price", "%w", err)
		} else if traded {
			spec.Quote = &q
		}
		all = append(all, spec)
	}
	for i := range c.Tokens {
		t, path := &c.Tokens[i], fmt.Sprintf("tokens[%d]", i)
		if t.Address == "" {
			continue
		}
		n, err := c.chain(all, t.Chain)
		if err != nil {
			return nil, c.places.Error(path+".chain", "%w", err)
		}
		all[n.evm].Tokens = append(slices.Clip(all[n.evm].Tokens), evm.GenesisToken{Role: t.Symbol, Name: t.Name, Symbol: t.Symbol, Decimals: uint8(t.Places()),
			Address: common.HexToAddress(t.Address), Owner: c.addresses[cmp.Or(t.Owner, usualOwner)]})
	}
	return all, nil
}

// place is a chain that the file names: an EVM chain by its index, or P or X of a network.
type place struct {
	evm     int // -1 for P and X
	network int
	primary int // store.PChain or XChain
}

// onPrimary returns the primary network chain; an EVM chain must be a C-Chain.
func (p place) onPrimary() txs.Chain {
	if p.evm >= 0 {
		return txs.CChain
	}
	return txs.Chain(p.primary)
}

// chain finds a chain that the file names.
func (c *namedAccounts) chain(specs []evm.ChainSpec, text string) (place, error) {
	ref, err := worldfile.ParseChain(text)
	if err != nil {
		return place{}, err
	}
	switch network := networkIndex(ref.Network); ref.Name {
	case "P":
		return place{-1, network, store.PChain}, nil
	case "X":
		return place{-1, network, store.XChain}, nil
	}
	id, _ := strconv.ParseUint(ref.Name, 10, 64)
	var ids []string
	for i := range specs {
		s := &specs[i]
		if ref.Name == "C" && s.Network == ref.Network && !s.IsL1() || id > 0 && s.EVMID() == id || s.Name() == ref.Name {
			return place{i, networkIndex(s.Network), -1}, nil
		}
		ids = append(ids, fmt.Sprintf("%d (%s)", s.EVMID(), s.Name()))
	}
	return place{}, fmt.Errorf("there is no chain %s; the EVM chains of this profile are %s", text, strings.Join(ids, ", "))
}

// allocate adds the balances of the file's accounts on the n-th EVM chain to its genesis.
func (c *namedAccounts) allocate(n int, specs []evm.ChainSpec, alloc types.GenesisAlloc) {
	for i := range c.Accounts {
		a := &c.Accounts[i]
		for _, text := range worldfile.Sorted(a.Balances) {
			at, err := c.chain(specs, text)
			wei, unitsErr := a.Balances[text].Units(weiDecimals)
			if err != nil || unitsErr != nil || at.evm != n { // both were checked
				continue
			}
			if before := alloc[c.addresses[a.Name]].Balance; before != nil {
				wei = new(big.Int).Add(wei, before)
			}
			alloc[c.addresses[a.Name]] = types.Account{Balance: wei}
		}
	}
}

// allocateInGenesis puts the file's contracts and NFTs with an address into the genesis of the n-th EVM chain, as their constructors leave them.
func (c *namedAccounts) allocateInGenesis(n int, specs []evm.ChainSpec, alloc types.GenesisAlloc) error {
	put := func(path, chain, address string, code func() ([]byte, error)) error {
		at, err := c.chain(specs, chain)
		if err != nil || address == "" || at.evm != n {
			return err
		}
		to := common.HexToAddress(address)
		if _, taken := alloc[to]; taken {
			return c.places.Error(path+".address", "something else stands at %s", address)
		}
		init, err := code()
		if err == nil {
			alloc[to], err = evm.Constructed(specs[n].EVMID(), to, init)
		}
		if err != nil {
			return c.places.Error(path, "%w", err)
		}
		return nil
	}
	for i := range c.NFTs {
		nft := &c.NFTs[i]
		if err := put(fmt.Sprintf("nfts[%d]", i), nft.Chain, nft.Address, func() ([]byte, error) {
			artifact, err := contracts.Load(collectionOf(nft))
			if err != nil {
				return nil, err
			}
			return artifact.InitCode(nft.Name, nft.Symbol, c.addresses[cmp.Or(nft.Owner, usualOwner)])
		}); err != nil {
			return err
		}
	}
	for i := range c.Contracts {
		k := &c.Contracts[i]
		if err := put(fmt.Sprintf("contracts[%d]", i), k.Chain, k.Address, func() ([]byte, error) { return initCode(k, c.inGenesis(k.Chain)) }); err != nil {
			return err
		}
	}
	return nil
}

// inGenesis returns address with the file's contracts that a chain has from its genesis on.
func (c *namedAccounts) inGenesis(chain string) worldfile.Resolve {
	return func(name string) (common.Address, error) {
		for i := range c.Contracts {
			if k := &c.Contracts[i]; k.Name == name && k.Address != "" && cmp.Or(k.Chain, "C") == cmp.Or(chain, "C") {
				return common.HexToAddress(k.Address), nil
			}
		}
		return c.address(name)
	}
}

// address returns the address of an account, or the address written out.
func (c *namedAccounts) address(name string) (common.Address, error) {
	if address, known := c.addresses[name]; known {
		return address, nil
	}
	if len(name) == 42 && common.IsHexAddress(name) {
		return common.HexToAddress(name), nil
	}
	return common.Address{}, fmt.Errorf("%q is not an account or address", name)
}

// owner returns the owner of a payment on P and X: an account, or an address written out.
func (c *namedAccounts) owner(name string) (txs.OutputOwners, error) {
	if owner, known := c.owners[name]; known {
		return owner, nil
	}
	a, err := worldfile.ParsePrimaryAddress(name)
	if err != nil {
		return txs.OutputOwners{}, err
	}
	return txs.NewOwner(ids.ShortID(a.Bytes)), nil
}

// initCode returns the init code of a contract in the file, with the constructor's arguments.
func initCode(k *worldfile.Contract, resolve worldfile.Resolve) ([]byte, error) {
	code, err := k.Code(resolve)
	if err != nil {
		return nil, err
	}
	parsed, err := worldfile.ParseABI(k.ABI)
	if err != nil {
		return nil, err
	}
	args, err := worldfile.Pack(parsed.Constructor.Inputs, k.Args, resolve)
	if err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	return append(code, args...), nil
}

// collectionOf returns the role of an NFT's contract.
func collectionOf(n *worldfile.NFT) string {
	if n.Multi() {
		return "Items"
	}
	return "Collection"
}

const (
	weiDecimals  = 18
	nanoDecimals = 9
)

// nano returns an amount of AVAX in nAVAX.
func nano(a worldfile.Amount) (uint64, error) {
	n, err := a.Units(nanoDecimals)
	if err == nil && !n.IsUint64() {
		err = fmt.Errorf("%s AVAX is more than the supply can have", a)
	}
	if err != nil {
		return 0, err
	}
	return n.Uint64(), nil
}

// prepareOwn passes the file's stakes, nodes and balances to the networks before their history begins.
func (g *generation) prepareOwn() error {
	for i := range g.profile.Accounts {
		a := &g.profile.Accounts[i]
		for _, text := range worldfile.Sorted(a.Balances) {
			path := fmt.Sprintf("accounts[%d].balances.%s", i, text)
			at, err := g.named.chain(g.specs, text)
			if err == nil && at.evm < 0 {
				err = g.grant(at, a.Name, a.Balances[text])
			}
			if err != nil {
				return g.profile.places.Error(path, "%w", err)
			}
		}
	}
	for i := range g.profile.AddValidators {
		v := &g.profile.AddValidators[i]
		n := g.networks[networkIndex(networkOf(v.Network))]
		if err := n.AddNode(v.Name, g.named.accounts[cmp.Or(v.Owner, usualStaker)]); err != nil {
			return g.profile.places.Error(fmt.Sprintf("addValidators[%d].name", i), "%w", err)
		}
	}
	stakes, err := g.stakes()
	if err != nil {
		return err
	}
	for _, s := range stakes {
		if s.Start < g.span.Until {
			g.networks[s.network].AddStake(s.Stake)
		}
	}
	return nil
}

func (g *generation) grant(at place, name string, amount worldfile.Amount) error {
	n, err := nano(amount)
	if err != nil {
		return err
	}
	grant := primary.Grant{To: g.named.owners[name], P: n}
	if at.primary == store.XChain {
		grant.P, grant.X = 0, n
	}
	g.networks[at.network].AddGrant(grant)
	return nil
}

// stake is a validator or delegator of a network, by its index.
type stake struct {
	primary.Stake
	network int
}

func (g *generation) stakes() (all []stake, err error) {
	p := g.profile
	add := func(path, network, node, owner string, amount, fee worldfile.Amount, start, end worldfile.Time, delegates bool) {
		s := stake{Stake: primary.Stake{Node: node, Delegates: delegates, Who: g.named.accounts[owner]}, network: networkIndex(networkOf(network))}
		s.Explain = func(err error) error { return p.places.Error(path, "%w", err) }
		weight, weightErr := nano(amount)
		shares, sharesErr := fee.Units(feeDecimals)
		from, startErr := start.In(g.span.Until)
		to, endErr := end.In(g.span.Until)
		bad := errors.Join(weightErr, sharesErr, startErr, endErr)
		if bad == nil && from < g.span.Start+longestOpening {
			bad = fmt.Errorf("it starts before the %d days of history, whose first %d minutes are reserved", p.Days, longestOpening/60)
		}
		if bad == nil && (!shares.IsUint64() || shares.Uint64() > 1_000_000) {
			bad = fmt.Errorf("the fee is %s percent", fee)
		}
		if bad != nil {
			err = errors.Join(err, s.Explain(bad))
			return
		}
		s.Weight, s.Start, s.End, s.Shares = weight, from, to, uint32(shares.Uint64())
		all = append(all, s)
	}
	for i := range p.AddValidators {
		v := &p.AddValidators[i]
		add(fmt.Sprintf("addValidators[%d]", i), v.Network, v.Name, cmp.Or(v.Owner, usualStaker), v.Stake, v.Fee.Or("2"), v.Start, v.End, false)
	}
	for i := range p.AddDelegators {
		d := &p.AddDelegators[i]
		add(fmt.Sprintf("addDelegators[%d]", i), d.Network, d.Validator, cmp.Or(d.Owner, usualDelegator), d.Stake, "0", d.Start, d.End, true)
	}
	return all, err
}

const (
	feeDecimals    = 4    // percent in millionths
	longestOpening = 3600 // seconds in which subnets and their chains are created
)

// declare names the validators of the n-th EVM chain, if the file's L1 lists them.
func (g *generation) declare(n int, c *chain) error {
	if n < g.profile.Chains {
		return nil
	}
	index := n - g.profile.Chains
	var all []primary.OwnValidator
	total := uint64(0)
	for i := range g.profile.L1s[index].Validators {
		v := &g.profile.L1s[index].Validators[i]
		balance, err := nano(v.Balance.Or("1"))
		if err != nil {
			return g.profile.places.Error(fmt.Sprintf("l1s[%d].validators[%d].balance", index, i), "%w", err)
		}
		all = append(all, primary.OwnValidator{Role: v.Name, Who: g.named.accounts[cmp.Or(v.Owner, usualOwner)], Weight: uint64(cmp.Or(v.Weight, 100)), Balance: balance})
		total += balance + (g.span.Until-g.span.Start)*primary.SecondPrice
	}
	if len(all) == 0 {
		return nil
	}
	c.network.AddGrant(primary.Grant{To: g.named.owners[usualOwner], P: total})
	if err := c.l1.Declare(all); err != nil {
		return g.profile.places.Error(fmt.Sprintf("l1s[%d].validators", index), "%w", err)
	}
	return nil
}
