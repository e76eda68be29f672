// Package control serves the simulator's own interface under /sim: the world's contents, its clock and its health.
package control

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/utils/formatting/address"
	"github.com/ava-labs/avalanchego/utils/hashing"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures"
	"snowglobe/handlers/control/describe"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
)

// World is the answer of GET /sim/world: names and ids that lead a test to every situation.
type World struct {
	Version  string    `json:"version" doc:"Version of the simulator."`
	Seed     int64     `json:"seed"`
	Profile  string    `json:"profile"`
	Until    string    `json:"until" doc:"When the generated history ends, RFC 3339."`
	Digest   string    `json:"digest" doc:"SHA-256 of the whole world, hex."`
	Clock    Clock     `json:"clock"`
	Networks []Network `json:"networks"`
	Chains   []Chain   `json:"chains"`
	Personas []Persona `json:"personas"`
	Counts   Counts    `json:"counts"`

	ABIs map[string]json.RawMessage `json:"abis" doc:"By artifact, or by role for contracts without one. /sim/world/contracts lists each contract with its ABI."`

	Endpoints []rest.Endpoint `json:"endpoints" doc:"All endpoints. REST paths work below /upstream too."`
}

// Clock describes the world's own time.
type Clock struct {
	Time string `json:"time" doc:"RFC 3339."`
	Unix int64  `json:"unix" doc:"Seconds."`
}

// Network is one of the world's two networks.
type Network struct {
	Name        string       `json:"name"`
	Aliases     []string     `json:"aliases"`
	URL         string       `json:"url" doc:"Base URL whose /ext serves this network: an origin, for clients that keep only a URL's origin, unless the client came through a proxy."`
	ID          uint32       `json:"networkId"`
	HRP         string       `json:"hrp" doc:"The human-readable part of bech32 addresses."`
	Upgrade     string       `json:"upgrade" doc:"The last upgrade that is active at the clock's time, such as granite or helicon."`
	Upgrades    []Activation `json:"upgrades" doc:"When upgrades activate."`
	AVAXAssetID string       `json:"avaxAssetId"`
	XChainID    string       `json:"xChainId"`
	CChainID    string       `json:"cChainId"`

	PHeight       uint64            `json:"pHeight"`
	XHeight       uint64            `json:"xHeight"`
	PTransactions int64             `json:"pTransactions" doc:"Number of P-Chain transactions, without the genesis."`
	XTransactions int64             `json:"xTransactions"`
	Validators    int               `json:"validators" doc:"Number of validators of the primary network and of permissioned subnets, past ones included."`
	Delegators    int               `json:"delegators" doc:"Number of delegators, past ones included."`
	L1Validators  int               `json:"l1Validators" doc:"Number of L1 validators, past ones included."`
	Nodes         []Node            `json:"nodes" doc:"Nodes that exist to show a situation."`
	Subnets       []Subnet          `json:"subnets"`
	Assets        []Asset           `json:"assets" doc:"The X-Chain's assets, AVAX first."`
	Samples       map[string]string `json:"samples" doc:"Example ids by the situation that they show; chain and type name a transaction of that type."`
}

// Node is a node that exists to show a situation.
type Node struct {
	Role         string `json:"role"`
	NodeID       string `json:"nodeId"`
	TxID         string `json:"txId,omitempty" doc:"Transaction that made it a validator of the primary network."`
	ValidationID string `json:"validationId,omitempty" doc:"Only for an L1 validator."`
}

// Asset is an asset of the X-Chain.
type Asset struct {
	AssetID      string `json:"assetId"`
	Name         string `json:"name"`
	Symbol       string `json:"symbol"`
	Denomination int    `json:"denomination" doc:"Decimals of an amount."`
	Fungible     bool   `json:"fungible" doc:"Whether the asset has amounts, which the faucet can pay, and not only NFTs and properties."`
}

// Subnet is a subnet with its chains.
type Subnet struct {
	SubnetID    string       `json:"subnetId"`
	IsL1        bool         `json:"isL1"`
	Blockchains []Blockchain `json:"blockchains"`
}

// Blockchain is a chain that a subnet validates.
type Blockchain struct {
	BlockchainID string `json:"blockchainId"`
	Name         string `json:"name"`
	VMID         string `json:"vmId"`
}

// Persona is a named account.
type Persona struct {
	Name      string            `json:"name"`
	Purpose   string            `json:"purpose"`
	Key       string            `json:"privateKey,omitempty" doc:"secp256k1, hex. Absent for a world file's account without one."`
	Address   string            `json:"address,omitempty" doc:"EVM address, the same on every EVM chain. Absent for a world file's account known only on P and X."`
	Addresses map[string]string `json:"addresses" doc:"The same key's address on each network's X- and P-Chain, without the chain's prefix."`

	ChainAddresses map[string]map[string]string `json:"chainAddresses" doc:"By network and chain: P, X or C."`

	Expected *Expected `json:"expected,omitempty" doc:"Its current holdings and activity, for tests to compare; follows changes of the world."`
}

// Counts holds totals over all chains.
type Counts struct {
	Chains       int   `json:"chains"`
	Blocks       int64 `json:"blocks"`
	Transactions int64 `json:"transactions"`
	Personas     int   `json:"personas"`
}

// Health is the answer of GET /sim/health.
type Health struct {
	Healthy  bool              `json:"healthy"`
	Digest   string            `json:"digest" doc:"SHA-256 of the whole world, hex."`
	Networks map[string]string `json:"networks" doc:"By network, the base URL whose /ext serves that network."`
}

const readableDoc = "Indented for curl unless you set an Accept header, and with ?pretty; ?pretty=false keeps it on one line."

// expectedParam asks for the personas' figures. Clients that poll leave it out, because the figures take longer to compute than the rest.
var expectedParam = rest.Param{Name: "expected", Kind: schema.KindBoolean, Default: "true", Doc: "Whether to include each persona's holdings and activity."}

// abisParam asks for ABIs. Clients that know the contracts leave it out, because ABIs are a third of the answer.
var abisParam = rest.Param{Name: "abis", Kind: schema.KindBoolean, Default: "true", Doc: "Whether to include the contracts' ABIs."}

// Register registers the simulator's own operations.
func Register(s *rest.Server, w *sim.World, version string, origins Origins) error {
	api := &worldAPI{server: s, version: version, origins: origins, expected: expectations{world: w, readers: query.NewChainReaders(w.DB.Caches())}}
	return s.Register(rest.Sim,
		rest.Operation{
			ID: "describeWorld", Path: "/sim/world", Summary: "The world's contents, by name", Readable: true,
			Params: []rest.Param{expectedParam, abisParam},
			Doc:    readableDoc, Answer: reflect.TypeFor[World](),
			Handle: func(r *rest.Request) (any, error) {
				answer, _, err := api.world(r, "")
				return answer, err
			},
		},
		rest.Operation{
			ID: "describeSection", Path: "/sim/world/{section}", Summary: "One part of the world's contents", Readable: true,
			Params: []rest.Param{{Name: "section", Kind: schema.KindText, Doc: "One of " + strings.Join(sections(), ", ") + "."}, expectedParam, abisParam},
			Doc:    readableDoc, Answer: reflect.TypeFor[section](),
			Handle: func(r *rest.Request) (any, error) {
				name := r.Text("section")
				answer, d, err := api.world(r, name)
				if err != nil {
					return nil, err
				}
				return answer.section(name, d)
			},
		},
		rest.Operation{
			ID: "checkHealth", Path: "/sim/health", Summary: "The world's health",
			Live: true, Answer: reflect.TypeFor[Health](),
			Handle: func(r *rest.Request) (any, error) {
				if err := w.Health(r.Context()); err != nil {
					return nil, rest.Unavailable(err.Error())
				}
				answer := &Health{Healthy: true, Digest: hex(w.Digest()), Networks: map[string]string{}}
				for _, n := range fixtures.Networks {
					answer.Networks[n.Name] = origins.of(r.HTTP, n.Name)
				}
				return answer, nil
			},
		})
}

// worldAPI describes a world.
type worldAPI struct {
	server    *rest.Server
	version   string
	origins   Origins
	described cache.Derived[worldVersion, *describe.World]
	expected  expectations
}

// world describes the world, or at least one section of it. It includes the personas' figures and the ABIs, which take long to compute,
// only if the section and the request ask for them. It caches what it read until the world or its clock moves.
func (a *worldAPI) world(r *rest.Request, section string) (*World, *describe.World, error) {
	wanted := func(part string) bool { return section == "" || section == part }
	d, err := a.described.Of(versionOf(a.expected.world), func() (*describe.World, error) { return describe.Read(r.Context(), a.expected.world) })
	if err != nil {
		return nil, nil, err
	}
	answer, err := render(d, a.version, r.BaseURL(), func(network string) string { return a.origins.of(r.HTTP, network) })
	if err != nil {
		return nil, nil, err
	}
	answer.Endpoints = a.server.Endpoints()
	if wanted(personasSection) && r.Bool("expected") {
		found, err := a.expected.all(r.Context(), d.Personas)
		if err != nil {
			return nil, nil, err
		}
		for i := range answer.Personas {
			answer.Personas[i].Expected = found[i]
		}
	}
	answer.ABIs = map[string]json.RawMessage{}
	if !wanted(abisSection) || !r.Bool("abis") {
		return answer, d, nil
	}
	list, err := contractABIs(d)
	for _, c := range list {
		if name := cmp.Or(c.Artifact, c.Name); len(c.ABI) > 0 {
			answer.ABIs[name] = c.ABI
		}
	}
	return answer, d, err
}

func hex(b []byte) string { return strings.TrimPrefix(hexutil.Encode(b), "0x") }

// render renders a world; networkURL returns a network's base URL, below which /ext is found.
func render(d *describe.World, version, base string, networkURL func(network string) string) (*World, error) {
	w := &World{
		Version: version, Seed: d.Meta.Seed, Profile: d.Meta.Profile, Digest: hex(d.Meta.Digest),
		Until: rfc3339(d.Meta.Until), Clock: Clock{Time: rfc3339(d.Clock), Unix: d.Clock},
		Networks: networks(d.Networks, d.Clock, networkURL), Counts: Counts{Chains: len(d.Chains), Personas: len(d.Personas)},
	}
	for i := range d.Chains {
		c := chain(&d.Chains[i], base)
		w.Chains = append(w.Chains, c)
		w.Counts.Blocks += int64(c.Height) + 1
		w.Counts.Transactions += c.Transactions
	}
	for i := range d.Personas {
		p, err := persona(&d.Personas[i])
		if err != nil {
			return nil, err
		}
		w.Personas = append(w.Personas, p)
	}
	return w, nil
}

func rfc3339(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

func networks(described []describe.Network, clock int64, networkURL func(network string) string) []Network {
	var all []Network
	for i, n := range fixtures.Networks {
		network := Network{Name: n.Name, Aliases: []string{}, URL: networkURL(n.Name), ID: n.ID, HRP: n.HRP, AVAXAssetID: n.AVAXAssetID.String(),
			XChainID: n.XChainID.String(), CChainID: n.CChainID.String()}
		if n.Name == fixtures.FujiName {
			network.Aliases = append(network.Aliases, "testnet")
		}
		if i < len(described) {
			network.describe(&described[i])
			network.upgrade(described[i].Rules, uint64(clock))
		}
		all = append(all, network)
	}
	return all
}

// Activation is when an upgrade activates on a network.
type Activation struct {
	Name string `json:"name"`
	Time string `json:"time" doc:"RFC 3339; 9999-12-01T00:00:00Z if it never activates."`
}

func (n *Network) upgrade(networkRules *rules.Network, clock uint64) {
	n.Upgrade = networkRules.Latest(clock).String()
	for _, u := range rules.Upgrades() {
		n.Upgrades = append(n.Upgrades, Activation{u.String(), rfc3339(int64(networkRules.ActivationTime(u)))})
	}
}

// persona lists one key's addresses on every kind of chain: an EVM address is derived with Keccak-256, a primary-network address with
// RIPEMD-160 of SHA-256.
func persona(p *store.Persona) (Persona, error) {
	shown := Persona{
		Name: p.Name, Purpose: p.Purpose, Addresses: map[string]string{}, ChainAddresses: map[string]map[string]string{},
	}
	if len(p.Address) > 0 {
		shown.Address = common.BytesToAddress(p.Address).Hex()
	}
	short, err := shortAddress(p)
	if err != nil {
		return Persona{}, err
	}
	if short == nil { // a persona with only an EVM address
		for _, n := range fixtures.Networks {
			shown.ChainAddresses[n.Name] = map[string]string{"C": shown.Address}
		}
		return shown, nil
	}
	if len(p.Key) > 0 {
		shown.Key = hexutil.Encode(p.Key)
	}
	for _, n := range fixtures.Networks {
		text, err := address.FormatBech32(n.HRP, short)
		if err != nil {
			return Persona{}, err
		}
		shown.Addresses[n.Name] = text
		shown.ChainAddresses[n.Name] = map[string]string{"P": "P-" + text, "X": "X-" + text}
		if shown.Address != "" {
			shown.ChainAddresses[n.Name]["C"] = shown.Address
		}
	}
	return shown, nil
}

// shortAddress returns a persona's address on P and X; nil if it is unknown.
func shortAddress(p *store.Persona) ([]byte, error) {
	if len(p.Key) == 0 {
		return p.Primary, nil
	}
	key, err := secp256k1.NewKey(p.Key)
	if err != nil {
		return nil, err
	}
	return hashing.PubkeyBytesToAddress(key.Compressed()), nil
}
