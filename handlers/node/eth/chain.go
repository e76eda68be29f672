package eth

import (
	"encoding/json"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/sim/evm"
)

// chainAPI implements the eth methods about the chain and the node itself.
type chainAPI struct{ *api }

// ChainId returns the chain's EVM chain id.
func (a *chainAPI) ChainId() hexutil.Uint64 { return hexutil.Uint64(a.chain.Genesis.ChainID) }

// Syncing returns false: the chain is complete.
func (a *chainAPI) Syncing() bool { return false }

// Coinbase returns the account that receives all fees: the burn address, unless a client chose another.
func (a *chainAPI) Coinbase() common.Address { return a.miner.Coinbase() }

// Etherbase is another name for Coinbase.
func (a *chainAPI) Etherbase() common.Address { return a.miner.Coinbase() }

// NetworkId returns the chain id in decimal, as net_version does: anvil's method.
func (a *chainAPI) NetworkId() string { return strconv.FormatUint(a.chain.Genesis.ChainID, 10) }

// GetChainConfig returns the chain's configuration in its virtual machine's JSON.
func (a *chainAPI) GetChainConfig() (json.RawMessage, error) {
	if a.chain.Kind == evm.KindC {
		return json.Marshal(configOfC(a.chain.Genesis, a.chain.Upgrades))
	}
	return configOfL1(a.chain.Genesis, a.chain.Upgrades)
}

// forks lists Ethereum's rule changes that are in force from the first block on.
func forks(g *evm.Genesis, u fixtures.Upgrades) map[string]any {
	config := map[string]any{"chainId": g.ChainID, "shanghaiTime": u.Durango, "cancunTime": u.Etna,
		"etnaTimestamp": u.Etna, "graniteTimestamp": u.Granite, "heliconTimestamp": u.Helicon}
	for _, fork := range []string{"homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg",
		"istanbul", "muirGlacier", "berlin", "london"} {
		config[fork+"Block"] = 0
	}
	return config
}

func configOfC(g *evm.Genesis, u fixtures.Upgrades) map[string]any {
	config := forks(g, u)
	config["daoForkBlock"], config["daoForkSupport"] = 0, true
	config["apricotPhase1BlockTimestamp"] = u.ApricotPhase1
	config["apricotPhase2BlockTimestamp"] = u.ApricotPhase2
	config["apricotPhase3BlockTimestamp"] = u.ApricotPhase3
	config["apricotPhase4BlockTimestamp"] = u.ApricotPhase4
	config["apricotPhase5BlockTimestamp"] = u.ApricotPhase5
	config["apricotPhasePre6BlockTimestamp"] = u.ApricotPhasePre6
	config["apricotPhase6BlockTimestamp"] = u.ApricotPhase6
	config["apricotPhasePost6BlockTimestamp"] = u.ApricotPhasePost6
	config["banffBlockTimestamp"] = u.Banff
	config["cortinaBlockTimestamp"] = u.Cortina
	config["durangoBlockTimestamp"] = u.Durango
	config["fortunaTimestamp"] = u.Fortuna
	return config
}

// netAPI implements the net namespace.
type netAPI struct{ chainID uint64 }

// Version returns the chain id in decimal.
func (a *netAPI) Version() string { return strconv.FormatUint(a.chainID, 10) }

// Listening always returns true.
func (a *netAPI) Listening() bool { return true }

// PeerCount returns zero: no node here speaks Ethereum's protocol.
func (a *netAPI) PeerCount() hexutil.Uint { return 0 }

// web3API implements the web3 namespace.
type web3API struct{ version func() string }

// ClientVersion returns the version of the node's EVM.
func (a *web3API) ClientVersion() string { return a.version() }

// Sha3 returns the Keccak-256 hash of some bytes.
func (a *web3API) Sha3(input hexutil.Bytes) hexutil.Bytes { return crypto.Keccak256(input) }

// headAPI implements anvil's method about the head.
type headAPI struct{ endpoint *Endpoint }

// GetLastBlockWallTime returns when the newest block became the newest, in Unix milliseconds of the computer's clock.
func (a *headAPI) GetLastBlockWallTime() int64 { return a.endpoint.changed.Load() }
