package data

import (
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Options are what the user may choose about the Data API.
type Options struct {
	KnownOnly bool // sign only messages that the world knows
}

// api answers the operations from a world.
type api struct {
	world   *sim.World
	options Options
	exports *sim.Exports
	catalog *catalog
	memory  memory
	rosters rosters
	sums    ledgerSums
}

// Register adds the Data API's operations to a server, and the resources that its answers link to. Somebody else lets the
// exports run.
func Register(server *handlers.Server, world *sim.World, exports *sim.Exports, o Options) error {
	a := &api{world: world, exports: exports, options: o, catalog: newCatalog(world), memory: newMemory(), rosters: rosters{now: map[string]*roster{}}}
	for _, operations := range [][]handlers.Operation{
		a.healthOperations(), a.chainOperations(), a.blockOperations(), a.transactionOperations(), a.internalOperations(),
		a.transferOperations(), a.historyOperations(), a.contractOperations(), a.balanceOperations(), a.nftBalanceOperations(),
		a.nftOperations(), a.addressOperations(), a.primaryBlockOperations(), a.validatorOperations(), a.delegatorOperations(),
		a.l1ValidatorOperations(), a.interactionOperations(), a.networkOperations(), a.blockchainOperations(), a.subnetOperations(),
		a.vertexOperations(), a.assetOperations(), a.rewardOperations(), a.primaryTransactionOperations(), a.utxoOperations(),
		a.primaryBalanceOperations(), a.lastActivityOperations(), a.supplyOperations(), a.signatureOperations(), a.operationOperations(),
		a.icmOperations(),
	} {
		if err := server.Register(handlers.Data, operations...); err != nil {
			return err
		}
	}
	return server.Register(handlers.Sim, append(a.linkOperations(), a.fileOperations()...)...)
}

// Parameters that many operations share.
var (
	chainParam    = handlers.Param{Name: "chainId", Kind: handlers.KindChain, Doc: "An EVM chain id or a blockchain id."}
	addressParam  = handlers.Param{Name: "address", Kind: handlers.KindAddress, Doc: "An EVM address."}
	networkParam  = handlers.Param{Name: "network", Kind: handlers.KindNetwork, Doc: "Only chains of this network; testnet is another name for fuji."}
	currencyParam = handlers.Param{Name: "currency", Kind: handlers.KindCurrency, Default: "usd", Doc: "The currency of prices and values."}
	statusParam   = handlers.Param{Name: "status", Kind: handlers.KindEnum, Enum: []string{"failed", "success"}, Doc: "Only transactions with this outcome."}
	atBlockParam  = handlers.Param{Name: "blockNumber", Kind: handlers.KindAmount, Doc: "The balance after this block, of the latest block unless given."}
	rangeParams   = []handlers.Param{
		{Name: "startBlock", Kind: handlers.KindInteger, Min: "0", NotAbove: "endBlock", Doc: "The first block of the range, inclusive; a range that ends where it starts is empty."},
		{Name: "endBlock", Kind: handlers.KindInteger, Min: "0", Doc: "The end of the range, exclusive."},
	}
)

// with joins parameters and lists of them.
func with(lists ...any) []handlers.Param {
	var all []handlers.Param
	for _, l := range lists {
		switch l := l.(type) {
		case handlers.Param:
			all = append(all, l)
		case []handlers.Param:
			all = append(all, l...)
		}
	}
	return all
}

// chain is the chain that the request names.
func (a *api) chain(r *handlers.Request) (*evm.Chain, error) {
	id := r.Chain("chainId")
	for _, c := range a.world.Chains {
		if id.EVM != 0 && c.Row.EVMID == id.EVM || id.EVM == 0 && string(c.Row.BlockchainID) == string(id.Blockchain[:]) {
			return c, nil
		}
	}
	return nil, handlers.NotFound("EVM chain %s does not exist: GET /v1/chains lists those that do", id)
}

// onChain turns a handler for one chain into one that finds the chain first.
func (a *api) onChain(handle func(*handlers.Request, *evm.Chain) (any, error)) func(*handlers.Request) (any, error) {
	return func(r *handlers.Request) (any, error) {
		c, err := a.chain(r)
		if err != nil {
			return nil, err
		}
		return handle(r, c)
	}
}

// or replaces the store's answer that there is no such row.
func or(err error, missing *handlers.Error) error {
	if errors.Is(err, store.ErrNotFound) {
		return missing
	}
	return err
}

// amount writes a number of the store as a decimal.
func amount(n []byte) string {
	if len(n) <= 8 {
		return new(big.Int).SetBytes(n).String()
	}
	n = common.TrimLeftZeroes(n)
	return new(big.Int).SetBytes(n).String()
}

// hash writes 32 bytes as hex.
func hash(b []byte) string { return common.BytesToHash(b).Hex() }
