package reader

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// Chain reads one EVM chain of a world. Beside the file it holds the head and caches only. It is safe for concurrent use.
type Chain struct {
	Row         store.Chain
	Kind        evm.Kind
	Genesis     *evm.Genesis
	Limits      Limits
	Now         func() int64 // the world's clock, Unix seconds; nil: the time of the head
	WarpContext evm.WarpContext

	db          *store.DB
	chainConfig *params.ChainConfig
	schedule    *precompile.Upgrades
	signer      types.Signer

	head    atomic.Pointer[Block]
	feed    event.FeedOf[*BlockEvent]
	lastTip atomic.Pointer[tipSuggestion]
	history *history
	changes atomic.Uint64 // of the state without a block, since the process began
}

// NewChain is the reading side of a chain.
func NewChain(db *store.DB, row store.Chain) (*Chain, error) {
	genesis, err := evm.ParseGenesis(evm.Kind(row.Kind), row.Genesis, row.Upgrades)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", row.ID, err)
	}
	c := &Chain{Row: row, Kind: genesis.Kind, Genesis: genesis, Limits: DefaultLimits(), db: db, chainConfig: genesis.ChainConfig(), schedule: &genesis.Precompiles}
	c.signer = types.LatestSigner(c.chainConfig)
	c.history = newHistory()
	return c, nil
}

// Restore makes the builder that continues the chain from its newest block.
func Restore(ctx context.Context, c *Chain) (*evm.Builder, error) {
	return evm.RestoreBuilder(ctx, c.db, c.Row.ID, c.Genesis, c.WarpContext)
}
