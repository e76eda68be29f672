package control

import (
	"context"
	"errors"
	"fmt"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Description is what there is in a world, read from its rows.
type Description struct {
	Meta     store.Meta
	Clock    int64 // Unix seconds
	Personas []store.Persona
	Chains   []ChainDescription
	Networks []NetworkDescription
	Balances []string // of the personas that the banner lists, with their unit
}

// ChainDescription is what there is on one EVM chain.
type ChainDescription struct {
	Chain        *reader.Chain
	Height       uint64
	Transactions int64
	Contracts    []ContractDescription
	Deployment   []byte // hash of a transaction that created a contract, nil when there is none
	Failed       []byte // hash of a failed transaction, nil when there is none
	Message      MessageDescription
}

// ContractDescription is a contract with a role.
type ContractDescription struct {
	store.Contract
	Token *store.Token // nil when it is none
}

// Describe reads what there is in the world.
func Describe(ctx context.Context, w *sim.World) (*Description, error) {
	d := &Description{Meta: w.Meta, Clock: w.Clock.Unix()}
	d.Meta.Digest = w.Digest()
	var err error
	if d.Personas, err = w.DB.Personas(ctx); err != nil {
		return nil, err
	}
	for _, c := range w.Chains {
		part, err := describeChain(ctx, w, c)
		if err != nil {
			return nil, fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
		}
		d.Chains = append(d.Chains, *part)
	}
	d.Networks, err = describeNetworks(ctx, w.DB)
	return d, err
}

func describeChain(ctx context.Context, w *sim.World, c *reader.Chain) (*ChainDescription, error) {
	head, err := w.DB.Head(ctx, c.Row.ID)
	if err != nil {
		return nil, err
	}
	part := &ChainDescription{Chain: c, Height: head.ID.Number(), Transactions: head.AllTxs}
	if part.Contracts, err = describeContracts(ctx, w.DB, c.Row.ID); err != nil {
		return nil, err
	}
	if part.Deployment, err = anyDeployment(ctx, w.DB, part); err != nil {
		return nil, err
	}
	if part.Failed, err = hashOf(w.DB.FirstFailedTransaction(ctx, c.Row.ID)); err != nil {
		return nil, err
	}
	part.Message, err = describeMessages(ctx, w, c)
	return part, err
}

func describeContracts(ctx context.Context, db *store.DB, chain int) ([]ContractDescription, error) {
	rows, err := db.Contracts(ctx, chain)
	if err != nil {
		return nil, err
	}
	all := make([]ContractDescription, len(rows))
	for i, row := range rows {
		all[i].Contract = row
		all[i].Token, err = db.TokenAt(ctx, chain, row.Address)
		if errors.Is(err, store.ErrNotFound) {
			all[i].Token, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// anyDeployment is the hash of a transaction that created one of the contracts, nil when all came some other way.
func anyDeployment(ctx context.Context, db *store.DB, part *ChainDescription) ([]byte, error) {
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
