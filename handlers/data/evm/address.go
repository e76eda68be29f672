package evm

import (
	"reflect"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/cache"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// RichAddress is an address with the name and logo that the catalog has for it.
type RichAddress struct {
	Name     string `json:"name,omitempty" doc:"The contract's name."`
	Symbol   string `json:"symbol,omitempty" doc:"The token's symbol."`
	Decimals *int   `json:"decimals,omitempty" doc:"Only for an ERC-20."`
	LogoURI  string `json:"logoUri,omitempty" format:"url"`
	Address  string `json:"address" format:"address"`
}

// nftMetadata caches indexed token metadata by URI.
type nftMetadata = cache.Cache[string, *metadata]

// tokenViews opens a tokenView for each request.
type tokenViews struct {
	*data.Base
	metadata  *nftMetadata
	reindexed cache.Derived[int64, bool] // whether a client has had an item reindexed, by the file's commits
}

// tokenView is a chain with its tokens' prices, from which one response on that chain is built.
type tokenView struct {
	*data.PriceView
	metadata *nftMetadata
	again    *store.DB // holds reindexed items; nil when there are none
}

// fungible opens a view for responses without NFTs.
func (t *tokenViews) fungible(r *rest.Request, chain int) (*tokenView, error) {
	p, err := t.Prices(r, chain)
	return &tokenView{PriceView: p, metadata: t.metadata}, err
}

// viewHandler handles a request about a chain.
type viewHandler func(*rest.Request, *tokenView, *reader.Chain) (any, error)

// onView finds the chain of a request, and the view of its tokens, for a handler.
func (t *tokenViews) onView(handle viewHandler) func(*rest.Request) (any, error) {
	return t.OnChain(func(r *rest.Request, c *reader.Chain) (any, error) {
		v, err := t.view(r, c.Row.ID)
		if err != nil {
			return nil, err
		}
		return handle(r, v, c)
	})
}

func (t *tokenViews) view(r *rest.Request, chain int) (*tokenView, error) {
	v, err := t.fungible(r, chain)
	if err != nil {
		return nil, err
	}
	db := t.World.DB
	some, err := t.reindexed.Of(db.Commits(), func() (bool, error) { return db.AnyReindexed(r.Context()) })
	if some {
		v.again = db
	}
	return v, err
}

// hexAddress caches an address in its written form.
type hexAddress struct {
	address common.Address
	hex     string
}

func hexAddressOf(address []byte) hexAddress {
	a := common.BytesToAddress(address)
	return hexAddress{a, a.Hex()}
}

// rich returns an address reference.
func (s *tokenView) rich(address []byte) RichAddress { return s.known(hexAddressOf(address)) }

// known returns an address reference with what the catalog knows.
func (s *tokenView) known(p hexAddress) RichAddress {
	e := s.Entries[data.ChainAddress{Chain: s.Chain, Address: p.address}]
	ref := RichAddress{Address: p.hex}
	if e == nil {
		return ref
	}
	ref.Name = e.Name
	if t := e.Token; t != nil {
		ref.Symbol, ref.LogoURI = t.Symbol, t.Logo(s.Request)
		if t.ID.Standard() == 0 {
			ref.Decimals = &t.Decimals
		}
	}
	return ref
}

type addressChains struct {
	IndexedChains   []Chain  `json:"indexedChains"`
	UnindexedChains []string `json:"unindexedChains"`
}

func (a *chainAPI) addressOperations() []rest.Operation {
	list := rest.Operation{
		ID: "listAddressChains", Path: "/v1/address/{address}/chains", Summary: "List the chains on which an address has an account or appears in a transaction",
		Params: data.JoinParams(data.AddressParam), AllNetworks: true, Answer: reflect.TypeFor[addressChains](), Handle: a.listAddressChains,
	}
	old := list
	old.ID, old.Path, old.Summary, old.Deprecated = "getAddressChains", "/v1/chains/address/{address}", "The same, under its deprecated path", true
	return []rest.Operation{list, old}
}

func (a *chainAPI) listAddressChains(r *rest.Request) (any, error) {
	answer := addressChains{IndexedChains: []Chain{}, UnindexedChains: []string{}}
	address := r.Address("address")
	for _, c := range a.World.Chains {
		seen, err := a.World.DB.AddressSeen(r.Context(), c.Row.ID, address[:])
		if err != nil {
			return nil, err
		}
		if seen {
			answer.IndexedChains = append(answer.IndexedChains, describe(r, c))
		}
	}
	return answer, nil
}
