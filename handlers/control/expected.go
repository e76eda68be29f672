package control

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Expected lists an account's current holdings and activity: the figures that the Data API returns.
type Expected struct {
	EVM     map[string]ExpectedEVM                `json:"evm" doc:"By EVM chain id, for chains that know the account."`
	Primary map[string]map[string]ExpectedPrimary `json:"primary" doc:"By network and chain, P or X, if it holds something there."`
}

// ExpectedEVM lists an account's holdings and activity on an EVM chain.
type ExpectedEVM struct {
	Balance      string `json:"balance" format:"uint" doc:"Wei."`
	Transactions int64  `json:"transactions" doc:"Sent or received, as transactions:listNative lists them."`
	ERC20        int    `json:"erc20" doc:"Tokens held, as balances:listErc20 lists them."`
	Malicious    int    `json:"erc20Malicious" doc:"More tokens, which only filterSpamTokens=false lists."`
	ERC721       int    `json:"erc721" doc:"Items held, as balances:listErc721 lists them."`
	ERC1155      int    `json:"erc1155" doc:"Items held, as balances:listErc1155 lists them."`
}

// ExpectedPrimary lists an address's holdings on the P- or X-Chain.
type ExpectedPrimary struct {
	UTXOs    int    `json:"utxos" doc:"As utxos lists them, including staked and exported ones."`
	Unlocked string `json:"unlocked" format:"uint" doc:"Spendable nAVAX."`
	Locked   string `json:"locked" format:"uint" doc:"nAVAX not spendable yet."`
	Staked   string `json:"staked" format:"uint" doc:"nAVAX returned when a stake ends."`
}

// expectations computes the personas' figures and caches them until the world or its clock moves: on a large world that takes seconds.
type expectations struct {
	world   *sim.World
	readers *query.ChainReaders

	found cache.Derived[worldVersion, []*Expected]
}

// worldVersion identifies the world after a commit, at a time.
type worldVersion struct{ commits, time int64 }

func versionOf(w *sim.World) worldVersion { return worldVersion{w.DB.Commits(), w.Clock.Unix()} }

// all returns the figures of every persona.
func (e *expectations) all(ctx context.Context, of []store.Persona) ([]*Expected, error) {
	return e.found.Of(versionOf(e.world), func() ([]*Expected, error) { return e.read(ctx, of) })
}

// read computes the figures of some accounts on all processors, starting with their holdings on the primary network, which take longest.
func (e *expectations) read(ctx context.Context, of []store.Persona) ([]*Expected, error) {
	malicious, err := e.malicious(ctx)
	if err != nil {
		return nil, err
	}
	networks := len(e.world.Networks)
	found, primary := make([]*Expected, len(of)), make([]map[string]ExpectedPrimary, len(of)*networks)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range primary {
		group.Go(func() (err error) {
			primary[i], err = e.onNetwork(ctx, e.world.Networks[i%networks], &of[i/networks])
			return err
		})
	}
	for i := range of {
		group.Go(func() (err error) {
			found[i] = &Expected{Primary: map[string]map[string]ExpectedPrimary{}}
			found[i].EVM, err = e.onChains(ctx, &of[i], malicious)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, on := range primary {
		if len(on) > 0 {
			found[i/networks].Primary[e.world.Networks[i%networks].Name] = on
		}
	}
	return found, nil
}

// onChains returns an account's figures on the EVM chains that know it.
func (e *expectations) onChains(ctx context.Context, p *store.Persona, malicious map[int][]store.TokenID) (map[string]ExpectedEVM, error) {
	on := map[string]ExpectedEVM{}
	if len(p.Address) == 0 {
		return on, nil
	}
	holds, err := e.world.DB.HoldsTokens(ctx, p.Address)
	if err != nil {
		return nil, fmt.Errorf("persona %s: %w", p.Name, err)
	}
	for _, c := range e.world.Chains {
		found, known, err := e.onEVM(ctx, c.Row.ID, p.Address, holds, malicious[c.Row.ID])
		if err != nil {
			return nil, fmt.Errorf("persona %s on chain %d: %w", p.Name, c.Row.EVMID, err)
		}
		if known {
			on[strconv.FormatUint(c.Row.EVMID, 10)] = found
		}
	}
	return on, nil
}

// onNetwork returns an account's holdings on the chains of a network where it has any.
func (e *expectations) onNetwork(ctx context.Context, n *sim.Network, p *store.Persona) (map[string]ExpectedPrimary, error) {
	short, err := shortAddress(p)
	if err != nil || short == nil {
		return nil, err
	}
	on := map[string]ExpectedPrimary{}
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
		found, err := e.onPrimary(ctx, n, kind, ids.ShortID(short))
		if err != nil {
			return nil, fmt.Errorf("persona %s on %s of %s: %w", p.Name, kind, n.Name, err)
		}
		if found.UTXOs > 0 {
			on[kind.String()] = found
		}
	}
	return on, nil
}

func (e *expectations) onEVM(ctx context.Context, chain int, address []byte, holds bool, malicious []store.TokenID) (x ExpectedEVM, known bool, err error) {
	db := e.world.DB
	account, err := db.Account(ctx, chain, address, store.MaxNumber)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return x, false, err
	}
	balance := new(big.Int)
	if account != nil {
		balance.SetBytes(account.Balance)
	}
	x.Balance = balance.String()
	if x.Transactions, err = db.NativeCount(ctx, chain, address); err != nil {
		return x, false, err
	}
	if !holds { // most accounts hold nothing, and this spares a query for every token
		return x, account != nil || x.Transactions > 0, nil
	}
	for standard, into := range map[store.Standard]*int{store.ERC20: &x.ERC20, store.ERC721: &x.ERC721, store.ERC1155: &x.ERC1155} {
		low, high := store.NewTokenID(chain, standard, 0), store.NewTokenID(chain, standard, store.MaxTokens)
		if *into, err = db.HoldingCount(ctx, address, low.Asset(nil), high.Asset(nil)); err != nil {
			return x, false, err
		}
	}
	for _, token := range malicious {
		held, err := db.TokenBalance(ctx, address, token.Asset(nil), store.MaxNumber)
		if err == nil && len(held.Amount) > 0 {
			x.Malicious++
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return x, false, err
		}
	}
	x.ERC20 -= x.Malicious
	return x, account != nil || x.Transactions > 0 || x.ERC20+x.Malicious+x.ERC721+x.ERC1155 > 0, nil
}

// malicious lists the malicious ERC-20s of each chain.
func (e *expectations) malicious(ctx context.Context) (map[int][]store.TokenID, error) {
	all := map[int][]store.TokenID{}
	for _, c := range e.world.Chains {
		markets, err := e.world.DB.Markets(ctx, c.Row.ID)
		if err != nil {
			return nil, err
		}
		for _, m := range markets {
			if m.Reputation != query.Malicious {
				continue
			}
			token, err := e.world.DB.TokenAt(ctx, c.Row.ID, m.Address)
			if err == nil && token.ID.Standard() == store.ERC20 {
				all[c.Row.ID] = append(all[c.Row.ID], token.ID)
			}
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return nil, err
			}
		}
	}
	return all, nil
}

func (e *expectations) onPrimary(ctx context.Context, n *sim.Network, kind txs.Chain, owner ids.ShortID) (x ExpectedPrimary, err error) {
	h, err := e.readers.Reader(ctx, n).Holding(kind, owner)
	if err != nil || h.Outputs == 0 {
		return x, err
	}
	text := func(nano uint64) string { return strconv.FormatUint(nano, 10) }
	return ExpectedPrimary{UTXOs: h.Outputs, Unlocked: text(h.Unlocked), Locked: text(h.Locked), Staked: text(h.Staked)}, nil
}
