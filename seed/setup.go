package seed

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/contracts"
)

// step is one thing that happens on a stage, decided when its turn comes. A step that has nothing to do answers nil.
type action func(*rand.Rand) (*txRequest, error)

// tokens are the ERC-20s of a chain by role; the first ones are deployed directly, the last six by the factory.
var tokens = []struct {
	role, name, symbol string
	decimals           uint8
	millions           int64 // initial supply
}{
	{"usdx", "USD Flake", "USDX", 6, 4_000},
	{"btcx", "Bitcoin Flake", "BTCX", 8, 21},
	{"snow", "Snow", "SNOW", 18, 1_000},
	{"points", "Summit Points", "POINTS", 0, 50},
	{"floeckchen", "Schneeflöckchen ❄", "FLÖCK❄", 18, 300},
	{"hail", "Hail", "HAIL", 18, 100},
	{"frost", "Frost Governance", "FROST", 18, 10},
	{"eurx", "Euro Flake", "EURX", 6, 2_000},
	{"ridge", "Ridge", "RIDGE", 18, 88},
	{"moraine", "Moraine", "MOR", 9, 7},
	{"firn", "Firn", "FIRN", 18, 640},
}

const factoryTokens = 6 // of the tokens above

// tokenArtifact says which compiled contract an ERC-20 role runs.
func tokenArtifact(role string) string {
	switch role {
	case "wrapped":
		return "WrappedNative"
	case "mkx":
		return "Bytes32Token"
	default:
		return "Token"
	}
}

// erc20s are the roles of every honest ERC-20 of a chain.
func erc20s() []string {
	roles := []string{"wrapped", "mkx"}
	for _, t := range tokens {
		roles = append(roles, t.role)
	}
	return roles
}

// setup is everything that has to be there before people come: the deployer puts up every contract, directly and
// through the factory, hands out tokens and opens the exchange.
func (s *evmChain) setup() []action {
	steps := s.deployments()
	steps = append(steps, s.factoryDeployments()...)
	steps = append(steps, s.distribution()...)
	return append(steps, s.mintNFTs()...)
}

func (s *evmChain) deployments() []action {
	d, spammer := s.people["deployer"], s.spammer()
	direct := func(role, artifact string, args func() []any) action {
		return func(*rand.Rand) (*txRequest, error) { return create(d, role, artifact, args()...) }
	}
	with := func(args ...any) func() []any { return func() []any { return args } }
	steps := []action{
		direct("messenger", "Messenger", with()), // first: the same nonce gives it the same address on every chain
		direct("factory", "Factory", with()),
		direct("wrapped", "WrappedNative", with("Wrapped "+s.chain.TokenName, "W"+s.chain.TokenSymbol, uint8(18))),
		direct("mkx", "Bytes32Token", with(word("Maker Flake"), word("MKX"), units(1_000_000, 18), d.address)),
	}
	for _, t := range tokens[:len(tokens)-factoryTokens] {
		steps = append(steps, direct(t.role, "Token", with(t.name, t.symbol, t.decimals, units(t.millions*1e6, int(t.decimals)), d.address)))
	}
	return append(steps,
		direct("exchange", "Exchange", func() []any { return []any{s.places["usdx"], s.places["snow"]} }),
		direct("collection", "Collection", with("Snow Crystals", "CRYSTAL", d.address)),
		direct("items", "Items", with("Expedition Gear", "GEAR", MetadataBase+"items/{id}.json", d.address)),
		direct("splitter", "Splitter", with()),
		direct("reverter", "Reverter", with()),
		direct("registry", "Registry", with()),
		direct("vault", "Vault", with()),
		direct("multicall-copy", "Multicall3", with()),
		direct("self-destructor", "SelfDestructor", with()),
		direct("greeter", "Greeter", func() []any { return []any{s.places["messenger"]} }),
		direct("airdrop", "Airdrop", with("Visit claim-frost.example to claim", "CLAIM", spammer.address)),
		direct("giveaway", "Airdrop", with("$1000 USDC bonus at usdx-gift.example", "BONUS", spammer.address)),
		direct("spam-collection", "SpamCollection", with("Free Mystery Box", "BOX", MetadataBase+"spam/{id}.json", spammer.address)),
	)
}

// word is a text as a left-aligned bytes32.
func word(text string) (w [32]byte) {
	copy(w[:], text)
	return w
}

// factoryDeployments deploys through the factory: six tokens, and then a copy of every other contract, by CREATE and
// CREATE2 in turn.
func (s *evmChain) factoryDeployments() []action {
	d := s.people["deployer"]
	var steps []action
	for _, t := range tokens[len(tokens)-factoryTokens:] {
		steps = append(steps, func(*rand.Rand) (*txRequest, error) {
			return s.createByFactory(t.role, "Token", 1_400_000, "deployToken",
				t.name, t.symbol, t.decimals, units(t.millions*1e6, int(t.decimals)), word(t.role))
		})
	}
	steps = append(steps,
		func(*rand.Rand) (*txRequest, error) {
			return s.createByFactory("vault-created", "Vault", 700_000, "deploy")
		},
		func(*rand.Rand) (*txRequest, error) {
			return s.createByFactory("vault-created2", "Vault", 700_000, "deploy2", word("vault"))
		},
		func(*rand.Rand) (*txRequest, error) {
			return s.callWith(d, "factory", "Factory", "createAndBoom", units(1, 18), 400_000, d.address)
		})
	for n, c := range []struct {
		artifact string
		args     func() []any
	}{
		{"Token", func() []any { return []any{"Copy", "COPY", uint8(18), units(1, 18), d.address} }},
		{"Bytes32Token", func() []any { return []any{word("Copy32"), word("C32"), units(1, 18), d.address} }},
		{"WrappedNative", func() []any { return []any{"Wrapped Copy", "WCOPY", uint8(18)} }},
		{"Exchange", func() []any { return []any{s.places["btcx"], s.places["usdx"]} }},
		{"Collection", func() []any { return []any{"Copies", "CPS", d.address} }},
		{"Items", func() []any { return []any{"Copied Gear", "CGEAR", MetadataBase + "items/{id}.json", d.address} }},
		{"Factory", nil}, {"Splitter", nil}, {"Reverter", nil}, {"Registry", nil}, {"Multicall3", nil},
		{"SelfDestructor", nil}, {"Messenger", nil},
		{"Greeter", func() []any { return []any{s.places["messenger"]} }},
		{"Airdrop", func() []any { return []any{"Copied claim", "CCLAIM", d.address} }},
		{"SpamCollection", func() []any { return []any{"Copied Box", "CBOX", "", d.address} }},
	} {
		steps = append(steps, func(*rand.Rand) (*txRequest, error) { return s.copy(n, c.artifact, c.args) })
	}
	return steps
}

// offspring calls the factory so that it deploys a contract under a role.
func (s *evmChain) createByFactory(role, artifact string, gas uint64, method string, args ...any) (*txRequest, error) {
	i, err := s.call(s.people["deployer"], "factory", "Factory", method, args...)
	if err != nil {
		return nil, err
	}
	i.role, i.made, i.gas = role, artifact, gas
	return i, nil
}

func (s *evmChain) copy(n int, artifact string, args func() []any) (*txRequest, error) {
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
	role, gas := "copy-of-"+artifact, gasCreate(len(code))+100_000
	if n%2 == 0 {
		return s.createByFactory(role, artifact, gas, "deployCode", code)
	}
	return s.createByFactory(role, artifact, gas, "deployCode2", word(artifact), code)
}

// distribution hands tokens to personas and to the most active of the others, and fills the exchange.
func (s *evmChain) distribution() []action {
	d := s.people["deployer"]
	var steps []action
	for _, t := range tokens {
		steps = append(steps, func(r *rand.Rand) (*txRequest, error) {
			to := []common.Address{s.people["alice"].address, s.people["bob"].address, s.people["collector"].address}
			if t.role == "usdx" || t.role == "snow" {
				to = append(to, s.people["spammed"].address, s.people["clumsy"].address)
			}
			for range 12 {
				to = append(to, s.other(r).address)
			}
			amounts := make([]*big.Int, len(to))
			for i := range amounts {
				amounts[i] = units(between(r, 100, 9_000), int(t.decimals))
			}
			return s.callWith(d, t.role, "Token", "batchTransfer", nil, 900_000, to, amounts)
		})
	}
	const near96 = 96
	vast := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), near96), big.NewInt(1))
	return append(steps,
		func(*rand.Rand) (*txRequest, error) {
			return s.call(d, "mkx", "Bytes32Token", "transfer", s.people["alice"].address, units(40, 18))
		},
		func(*rand.Rand) (*txRequest, error) {
			return s.call(d, "snow", "Token", "mint", s.people["whale"].address, vast)
		},
		s.approve(d, "usdx", "exchange"),
		s.approve(d, "snow", "exchange"),
		func(*rand.Rand) (*txRequest, error) {
			return s.callWith(d, "exchange", "Exchange", "addLiquidity", nil, 400_000, units(500_000, 6), units(250_000, 18))
		})
}

// approve lets a contract spend all of somebody's tokens.
func (s *evmChain) approve(from *account, token, spender string) action {
	return func(*rand.Rand) (*txRequest, error) {
		return s.call(from, token, tokenArtifact(token), "approve", s.places[spender], new(big.Int).Lsh(big.NewInt(1), 128))
	}
}

func (s *evmChain) spammer() *account { return s.accounts[2] }

// other is somebody without a name, more often an active one.
func (s *evmChain) other(r *rand.Rand) *account { return s.accounts[skewed(r, len(s.accounts))] }
