package describe

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// World lists the contents of a world, read from its rows.
type World struct {
	Meta     store.Meta
	Clock    int64 // Unix seconds
	Personas []store.Persona
	Chains   []Chain
	Networks []Network
	Balances []string // balances of the banner's personas, with units
}

// Chain lists the contents of one EVM chain.
type Chain struct {
	Chain        *reader.Chain
	Height       uint64
	Transactions int64
	Contracts    []Contract
	Deployment   []byte // hash of a transaction that created a contract, nil if there is none
	Failed       []byte // hash of a failed transaction, nil if there is none
	Message      Message
}

// Contract is a contract with a role.
type Contract struct {
	store.Contract
	Token *store.Token // nil if it is not a token
}

// Read describes the world; it reads chains and networks concurrently.
func Read(ctx context.Context, w *sim.World) (*World, error) {
	d := &World{Meta: w.Meta, Clock: w.Clock.Unix()}
	d.Meta.Digest = w.Digest()
	var err error
	if d.Personas, err = w.DB.Personas(ctx); err != nil {
		return nil, err
	}
	networks, err := w.DB.PrimaryNetworks(ctx)
	if err != nil {
		return nil, err
	}
	d.Chains, d.Networks = make([]Chain, len(w.Chains)), make([]Network, len(networks))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(runtime.GOMAXPROCS(0))
	for i, n := range networks {
		reading.Go(func() error {
			part, err := readNetwork(ctx, w.DB, n.ID)
			if err != nil {
				return fmt.Errorf("network %d: %w", n.ID, err)
			}
			d.Networks[i] = *part
			return nil
		})
	}
	for i, c := range w.Chains {
		reading.Go(func() error {
			part, err := readChain(ctx, w, c)
			if err != nil {
				return fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
			}
			d.Chains[i] = *part
			return nil
		})
	}
	return d, reading.Wait()
}

func readChain(ctx context.Context, w *sim.World, c *reader.Chain) (*Chain, error) {
	head, err := w.DB.Head(ctx, c.Row.ID)
	if err != nil {
		return nil, err
	}
	part := &Chain{Chain: c, Height: head.ID.Number(), Transactions: head.AllTxs}
	if part.Contracts, err = readContracts(ctx, w.DB, c.Row.ID); err != nil {
		return nil, err
	}
	if part.Deployment, err = anyDeployment(ctx, w.DB, part); err != nil {
		return nil, err
	}
	if part.Failed, err = hashOf(w.DB.FirstFailedTransaction(ctx, c.Row.ID)); err != nil {
		return nil, err
	}
	part.Message, err = readMessages(ctx, w, c)
	return part, err
}

func readContracts(ctx context.Context, db *store.DB, chain int) ([]Contract, error) {
	rows, err := db.Contracts(ctx, chain)
	if err != nil {
		return nil, err
	}
	tokens, err := db.TokensOfContracts(ctx, chain)
	if err != nil {
		return nil, err
	}
	at := map[string]*store.Token{}
	for i := range tokens {
		at[string(tokens[i].Address)] = &tokens[i]
	}
	all := make([]Contract, len(rows))
	for i, row := range rows {
		all[i] = Contract{row, at[string(row.Address)]}
	}
	return all, nil
}

// anyDeployment returns the hash of a transaction that created one of the contracts, nil if no transaction created any.
func anyDeployment(ctx context.Context, db *store.DB, part *Chain) ([]byte, error) {
	for _, contract := range part.Contracts {
		d, err := db.Deployment(ctx, contract.Chain, contract.Address)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return hashOf(db.Transaction(ctx, d.Transaction()))
	}
	return nil, nil
}

func hashOf(t *store.Transaction, err error) ([]byte, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t.Hash, nil
}
