package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/interchange"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Imported describes what an import did.
type Imported struct {
	Accounts  int              // of the file
	Values    int              // balances, nonces, codes and slots that changed
	Contracts []store.Contract // that got a name or a logo
	Notes     []string         // what was left out, and why
}

// ErrNoChain means that the chain for which a file is does not exist.
var ErrNoChain = errors.New("the world has no EVM chain with the id that the file gives; name a chain")

// Import takes over a file's accounts or names, all or none. chain is the chain for which they are, or nil for the one that the file names, and
// mainnet's C-Chain if it names none. Accounts become state changes like those of anvil_setBalance, so verify makes them again; the rest of
// the world follows from its blocks as before.
func (w *World) Import(ctx context.Context, f *interchange.File, chain *reader.Chain) (*Imported, error) {
	n := &naming{World: w, done: &Imported{}, taken: map[int][]store.Contract{}}
	for _, note := range f.Notes() {
		n.done.Notes = append(n.done.Notes, note.String())
	}
	switch {
	case f.State != nil:
		if chain == nil {
			chain = w.Chains[0]
		}
		loaded, err := w.MinerOf(chain).LoadState(ctx, f.State.Accounts, f.State.Holders)
		if err != nil {
			return nil, err
		}
		n.done.Accounts, n.done.Values = len(f.State.Accounts), loaded.Values
		for _, address := range loaded.Unlisted {
			n.done.Notes = append(n.done.Notes, fmt.Sprintf("%s: it has more holders than are listed", address))
		}
		return n.done, nil
	case f.Names != nil:
		if chain == nil && f.Names.ChainID > 0 {
			chain = w.ChainByEVMID(f.Names.ChainID)
		} else if chain == nil {
			chain = w.Chains[0]
		}
		if chain == nil {
			return nil, ErrNoChain
		}
		for _, c := range f.Names.Contracts {
			if err := n.name(ctx, chain, c.Address, c.Name, ""); err != nil {
				return nil, err
			}
		}
	case f.Tokens != nil:
		for i := range f.Tokens.Tokens {
			t := &f.Tokens.Tokens[i]
			of := w.ChainByEVMID(t.ChainID)
			if of == nil || chain != nil && of != chain {
				n.done.Notes = append(n.done.Notes, t.Note(fmt.Sprintf("%s is of chain %d", t.Symbol, t.ChainID)).String())
				continue
			}
			if err := n.name(ctx, of, t.Address, t.Symbol, t.Logo); err != nil {
				return nil, err
			}
		}
	}
	if len(n.done.Contracts) == 0 {
		return n.done, nil
	}
	return n.done, w.addContracts(ctx, n.done.Contracts)
}

type naming struct {
	*World
	done  *Imported
	taken map[int][]store.Contract // names on a chain, by the chain's row
}

// name gives a contract a name that is unique on its chain, and a logo. It keeps a name that the contract has.
func (n *naming) name(ctx context.Context, c *reader.Chain, address common.Address, name, logo string) error {
	id := c.Row.ID
	if _, read := n.taken[id]; !read {
		rows, err := n.DB.Contracts(ctx, id)
		if err != nil {
			return err
		}
		n.taken[id] = rows
	}
	if i := slices.IndexFunc(n.taken[id], func(r store.Contract) bool { return bytes.Equal(r.Address, address[:]) }); i >= 0 {
		row := &n.taken[id][i]
		if logo != "" && logo != row.Logo {
			row.Logo = logo
			n.done.Contracts = append(slices.DeleteFunc(n.done.Contracts, func(r store.Contract) bool { return r.Chain == id && bytes.Equal(r.Address, address[:]) }), *row)
			return nil
		}
		n.done.Notes = append(n.done.Notes, fmt.Sprintf("%s on chain %d has the name %s already", address, c.Row.EVMID, row.Role))
		return nil
	}
	unique := name
	for count := 2; slices.ContainsFunc(n.taken[id], func(r store.Contract) bool { return r.Role == unique }); count++ {
		unique = fmt.Sprintf("%s-%d", name, count)
	}
	head, err := c.Head(ctx)
	if err != nil {
		return err
	}
	states, err := c.State(ctx, head)
	if err != nil {
		return err
	}
	if states.GetCodeSize(address) == 0 {
		n.done.Notes = append(n.done.Notes, fmt.Sprintf("%s is %s on chain %d, where it has no code", unique, address, c.Row.EVMID))
	}
	row := store.Contract{Chain: id, Address: address.Bytes(), Role: unique, Logo: logo}
	n.taken[id], n.done.Contracts = append(n.taken[id], row), append(n.done.Contracts, row)
	return nil
}

func (w *World) addContracts(ctx context.Context, rows []store.Contract) error {
	defer w.lock(ctx)()
	m := w.meta
	var err error
	if m.Base, err = computeBase(ctx, w.DB, m, rows); err != nil {
		return err
	}
	m.Digest = digestOf(m.Base, m.Clock, w.heads)
	write := func(b *store.Batch) error { return each(rows, b.AddContract) }
	if err := w.revise(m, write); err != nil {
		return err
	}
	if w.lagging != nil {
		w.lagging.follow(m, write, &Added{From: m.Clock, To: m.Clock})
	}
	return nil
}
