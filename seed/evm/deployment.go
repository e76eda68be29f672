package evm

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/seed/population"
)

// tokens lists a chain's ERC-20s by role; the deployer creates the first ones directly, the last six through the factory.
var tokens = []struct {
	role, name, symbol string
	decimals           uint8
	millions           int64 // initial supply
}{
	{"usdx", "USD Flake", "USDX", 6, 4_000},
	{"btcx", "Bitcoin Flake", "BTCX", 8, 21},
	{"snow", "Snow", "SNOW", 18, 1_000},
	{"points", "{name} Summit Points", "POINTS", 0, 50},
	{"floeckchen", "Schneeflöckchen ❄", "FLÖCK❄", 18, 300},
	{"hail", "{name} Hail", "HAIL", 18, 100},
	{"frost", "{name} Frost Governance", "FROST", 18, 10},
	{"eurx", "Euro Flake", "EURX", 6, 2_000},
	{"ridge", "{name} Ridge", "RIDGE", 18, 88},
	{"moraine", "{name} Moraine", "MOR", 9, 7},
	{"firn", "{name} Firn", "FIRN", 18, 640},
}

const factoryTokens = 6 // of the tokens above

// erc20s lists the roles of a chain's honest ERC-20s.
func (c *Chain) erc20s() []string {
	roles := []string{fixtures.WrappedRole, "mkx"}
	for _, t := range tokens {
		roles = append(roles, t.role)
	}
	for _, t := range c.listed {
		if t.Role != fixtures.WrappedRole {
			roles = append(roles, t.Role)
		}
	}
	return roles
}

// deployment lists the deployer's actions before anyone else's: it deploys every contract, directly and through the factory, hands out
// tokens, opens the exchange and mints NFTs.
type deployment struct{ chain *Chain }

func (d *deployment) actions() []action {
	actions := d.deployments()
	actions = append(actions, d.factoryDeployments()...)
	actions = append(actions, d.distribution()...)
	actions = append(actions, d.mintNFTs()...)
	return append(actions, d.openRushes()...)
}

func (d *deployment) deployments() []action {
	deployer, spammer := d.chain.Personas.Deployer, d.chain.spammer()
	direct := func(role, artifact string, args func() []any) action {
		return func(*rand.Rand) (*TxRequest, error) { return Deploy(deployer, role, artifact, args()...) }
	}
	with := func(args ...any) func() []any { return func() []any { return args } }
	actions := []action{
		direct("greeter", "Greeter", with(fixtures.TeleporterMessenger)), // first: the same nonce gives it the same address on every chain
		direct("factory", "Factory", with()),
		direct("mkx", "Bytes32Token", with(word("Maker Flake"), word("MKX"), population.Units(1_000_000, 18), deployer.Address)),
	}
	if d.chain.IsL1() {
		actions = append(actions, direct(fixtures.WrappedRole, "WrappedNative", with("Wrapped "+d.chain.Row.TokenName, "W"+d.chain.Row.TokenSymbol, uint8(18))))
	}
	for _, t := range tokens[:len(tokens)-factoryTokens] {
		actions = append(actions, direct(t.role, "Token", with(d.nameOf(t.role, t.name), t.symbol, t.decimals, population.Units(t.millions*1e6, int(t.decimals)), deployer.Address)))
	}
	return append(actions,
		direct("exchange", "Exchange", func() []any { return []any{d.chain.byRole["usdx"], d.chain.byRole["snow"]} }),
		direct("collection", "Collection", with("Snow Crystals", "CRYSTAL", deployer.Address)),
		direct("items", "Items", with("Expedition Gear", "GEAR", deployer.Address)),
		direct("splitter", "Splitter", with()),
		direct("reverter", "Reverter", with()),
		direct("key-value-store", "KeyValueStore", with()),
		direct("vault", "Vault", with()),
		direct("multicall-copy", "Multicall3", with()),
		direct("self-destructor", "SelfDestructor", with()),
		direct("airdrop", "Airdrop", with("Visit claim-frost.example to claim", "CLAIM", spammer.Address)),
		direct("giveaway", "Airdrop", with("$1000 USDC bonus at usdx-gift.example", "BONUS", spammer.Address)),
		direct("spam-collection", "SpamCollection", with("Free Mystery Box", "BOX", spamURI, spammer.Address)),
	)
}

// nameOf returns the name of a chain's token, with its issuer's name where there is one.
func (d *deployment) nameOf(role, name string) string {
	return population.Fill(d.chain.rng.Faker("token", d.chain.Row.EVMID, role), name)
}

// word returns a text as a left-aligned bytes32.
func word(text string) (w [32]byte) {
	copy(w[:], text)
	return w
}

// factoryDeployments deploys through the factory: six tokens, and then a copy of every other contract, alternating CREATE and CREATE2.
func (d *deployment) factoryDeployments() []action {
	deployer := d.chain.Personas.Deployer
	var actions []action
	for _, t := range tokens[len(tokens)-factoryTokens:] {
		actions = append(actions, func(*rand.Rand) (*TxRequest, error) {
			return d.createByFactory(t.role, "Token", 1_400_000, "deployToken",
				d.nameOf(t.role, t.name), t.symbol, t.decimals, population.Units(t.millions*1e6, int(t.decimals)), word(t.role))
		})
	}
	actions = append(actions,
		func(*rand.Rand) (*TxRequest, error) {
			return d.createByFactory("vault-created", "Vault", 700_000, "deploy")
		},
		func(*rand.Rand) (*TxRequest, error) {
			return d.createByFactory("vault-created2", "Vault", 700_000, "deploy2", word("vault"))
		},
		d.chain.calling(deployer, "factory", "Factory", "createAndBoom", population.Units(1, 18), 400_000, deployer.Address))
	actions = append(actions, d.launches()...)
	for n, c := range []struct {
		artifact string
		args     func() []any
	}{
		{"Token", func() []any { return []any{"Copy", "COPY", uint8(18), population.Units(1, 18), deployer.Address} }},
		{"Bytes32Token", func() []any { return []any{word("Copy32"), word("C32"), population.Units(1, 18), deployer.Address} }},
		{"WrappedNative", func() []any { return []any{"Wrapped Copy", "WCOPY", uint8(18)} }},
		{"Exchange", func() []any { return []any{d.chain.byRole["btcx"], d.chain.byRole["usdx"]} }},
		{"Collection", func() []any { return []any{"Copies", "CPS", deployer.Address} }},
		{"Items", func() []any { return []any{"Copied Gear", "CGEAR", deployer.Address} }},
		{"Factory", nil}, {"Splitter", nil}, {"Reverter", nil}, {"KeyValueStore", nil}, {"Multicall3", nil},
		{"SelfDestructor", nil}, {"Messenger", nil},
		{"Greeter", func() []any { return []any{fixtures.TeleporterMessenger} }},
		{"Airdrop", func() []any { return []any{"Copied claim", "CCLAIM", deployer.Address} }},
		{"SpamCollection", func() []any { return []any{"Copied Box", "CBOX", "", deployer.Address} }},
	} {
		actions = append(actions, func(*rand.Rand) (*TxRequest, error) { return d.copy(n, c.artifact, c.args) })
	}
	return actions
}

// createByFactory has the factory deploy a contract under a role.
func (d *deployment) createByFactory(role, artifact string, gas uint64, method string, args ...any) (*TxRequest, error) {
	request, err := d.chain.Call(d.chain.Personas.Deployer, "factory", "Factory", method, args...)
	if err != nil {
		return nil, err
	}
	request.role, request.artifact, request.Gas = role, artifact, gas
	return request, nil
}

func (d *deployment) copy(n int, artifact string, args func() []any) (*TxRequest, error) {
	a, err := contracts.Load(artifact)
	if err != nil {
		return nil, err
	}
	var values []any
	if args != nil {
		values = args()
	}
	code, err := a.InitCode(values...)
	if err != nil {
		return nil, err
	}
	role, gas := "copy-of-"+artifact, gasDeploy(len(code))+100_000
	if n%2 == 0 {
		return d.createByFactory(role, artifact, gas, "deployCode", code)
	}
	return d.createByFactory(role, artifact, gas, "deployCode2", word(artifact), code)
}

// distribution hands tokens to personas and mostly active accounts, and fills the exchange.
func (d *deployment) distribution() []action {
	deployer := d.chain.Personas.Deployer
	var actions []action
	for _, t := range tokens {
		actions = append(actions, func(r *rand.Rand) (*TxRequest, error) {
			to := []common.Address{d.chain.Personas.Alice.Address, d.chain.Personas.Bob.Address, d.chain.Personas.Collector.Address}
			if t.role == "usdx" || t.role == "snow" {
				to = append(to, d.chain.Personas.Spammed.Address, d.chain.Personas.Clumsy.Address)
			}
			personas := len(to)
			for range 12 {
				to = append(to, d.chain.randomAccount(r).Address)
			}
			amounts := make([]*big.Int, len(to))
			for i := range amounts {
				most := int64(2_000)
				if i < personas {
					most = 250
				}
				amounts[i] = worth(r, t.role, t.decimals, 20, most)
			}
			return d.chain.CallWith(deployer, t.role, "Token", "batchTransfer", nil, 900_000, to, amounts)
		})
	}
	for _, t := range d.chain.listed {
		if t.Role != fixtures.WrappedRole {
			actions = append(actions, d.mintListed(t))
		}
	}
	// The whale's balance of one token is just below 2^96, and of another above 2^128.
	vast, beyond := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 96), big.NewInt(1)), new(big.Int).Lsh(big.NewInt(3), 128)
	return append(actions,
		func(r *rand.Rand) (*TxRequest, error) {
			return d.chain.Call(deployer, "mkx", "Bytes32Token", "transfer", d.chain.Personas.Alice.Address, worth(r, "mkx", 18, 20, 250))
		},
		d.chain.calling(deployer, "snow", "Token", "mint", nil, GasCall, d.chain.Personas.Whale.Address, vast),
		d.chain.calling(deployer, "points", "Token", "mint", nil, GasCall, d.chain.Personas.Whale.Address, beyond),
		d.chain.approve(deployer, "usdx", "exchange"),
		d.chain.approve(deployer, "snow", "exchange"),
		d.chain.calling(deployer, "exchange", "Exchange", "addLiquidity", nil, 400_000, exactly(500_000, "usdx", 6), exactly(500_000, "snow", 18)))
}

// mintListed mints a listed token for personas and accounts, as a bridge or an issuer does; the whale gets a lot of it.
func (d *deployment) mintListed(t fixtures.ListedToken) action {
	w := d.chain.Personas
	return func(r *rand.Rand) (*TxRequest, error) {
		to, most := []common.Address{w.Alice.Address, w.Bob.Address, w.Collector.Address, w.Whale.Address}, []int64{250, 250, 250, 900_000}
		for range 6 {
			to, most = append(to, d.chain.randomAccount(r).Address), append(most, 3_000)
		}
		amounts := make([]*big.Int, len(to))
		for i := range amounts {
			amounts[i] = worth(r, t.Role, t.Decimals, 20, most[i])
		}
		return d.chain.CallWith(w.Deployer, t.Role, "ListedToken", "mintBatch", nil, 100_000+60_000*uint64(len(to)), to, amounts)
	}
}

// approve lets a contract spend all of an account's tokens.
func (c *Chain) approve(from *population.Account, token, spender string) action {
	return func(*rand.Rand) (*TxRequest, error) {
		return c.Call(from, token, c.artifacts[token], "approve", c.byRole[spender], new(big.Int).Lsh(big.NewInt(1), 128))
	}
}
