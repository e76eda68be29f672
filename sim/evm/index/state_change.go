package index

import (
	"bytes"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

// MaxHoldings bounds the balances of a token, and the items, that are read again when its code or storage changes without a transaction.
const MaxHoldings = 10_000

// Holdings gives access to a token's known balances and items before such a change.
type Holdings interface {
	Token(id store.TokenID) (*store.Token, error)
	TokenBalances(id store.TokenID) ([]store.TokenBalance, error) // at most MaxHoldings
	NFTStates(id store.TokenID) ([]store.NFTState, error)
}

// AddChange completes the delta of a state change with the index rows that the change affects: those of the contract whose code or storage
// changed, if it is a token. It reads again the balances of every known holder, and of the owner that the change names. open makes a reader
// of contracts on the state after the change.
func (x *Index) AddChange(delta *store.StateDelta, known Holdings, open func() (*ContractReader, error)) error {
	c := &delta.Change
	contract := common.BytesToAddress(c.Address)
	rows := &store.Delta{}
	w := &blockIndex{Index: x, delta: rows, block: store.At(c.Chain, c.Block, 0), open: open, tokenBalances: map[string]bool{}, nftStates: map[string]bool{}}
	p, err := w.contractReader()
	if err != nil {
		return err
	}
	if token, there := x.tokens[contract]; there {
		err = w.readAgain(p, contract, token, known)
	} else if p.state.GetCodeSize(contract) > 0 {
		err = w.addToken(contract)
	}
	if err != nil {
		return err
	}
	if token, there := x.tokens[contract]; there && c.Owner != nil && token.Standard() == store.ERC20 {
		w.addTokenBalance(p, contract, token.Asset(nil), c.Owner)
	}
	delta.Tokens, delta.TokenBalances, delta.NFTStates = rows.Tokens, rows.TokenBalances, rows.NFTStates
	return store.Inside(p.state.Error())
}

// readAgain adds the rows of a token whose values have changed.
func (w *blockIndex) readAgain(p *ContractReader, contract common.Address, id store.TokenID, known Holdings) error {
	token, err := known.Token(id)
	if err != nil {
		return err
	}
	if s, still := p.standard(contract); still && s == id.Standard() {
		said := p.token(contract, s)
		said.ID, said.Block = token.ID, token.Block
		if said.Name != token.Name || said.Symbol != token.Symbol || said.Decimals != token.Decimals {
			w.delta.Tokens = append(w.delta.Tokens, said)
		}
	}
	items, err := known.NFTStates(id)
	if err != nil {
		return err
	}
	for i := range items {
		w.addNFTState(p, contract, items[i].Asset)
	}
	balances, err := known.TokenBalances(id)
	if err != nil {
		return err
	}
	before := make(map[string][]byte, len(balances))
	for i := range balances {
		h := &balances[i]
		before[string(h.Owner)+string(h.Asset)] = h.Amount
		w.addTokenBalance(p, contract, h.Asset, h.Owner)
	}
	for i := range w.delta.NFTStates { // an owner may be new
		if now := &w.delta.NFTStates[i]; now.Owner != nil {
			w.addTokenBalance(p, contract, now.Asset, now.Owner)
		}
	}
	w.delta.TokenBalances = slices.DeleteFunc(w.delta.TokenBalances, func(h store.TokenBalance) bool {
		return bytes.Equal(before[string(h.Owner)+string(h.Asset)], h.Amount)
	})
	w.delta.NFTStates = differing(w.delta.NFTStates, items)
	return nil
}

// differing returns the item states that changed. Both lists have the same items in the same order.
func differing(now, before []store.NFTState) (changed []store.NFTState) {
	for i := range now {
		a, b := &now[i], &before[i]
		if !bytes.Equal(a.Owner, b.Owner) || (a.URI == nil) != (b.URI == nil) || a.URI != nil && *a.URI != *b.URI {
			changed = append(changed, *a)
		}
	}
	return changed
}
