package data

import (
	"reflect"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim/store"
)

// RichAddress is an address with what is known of it.
type RichAddress struct {
	Name     string `json:"name,omitempty" doc:"The contract's name."`
	Symbol   string `json:"symbol,omitempty" doc:"The token's symbol."`
	Decimals *int   `json:"decimals,omitempty" doc:"Of an ERC-20."`
	LogoURI  string `json:"logoUri,omitempty" format:"url"`
	Address  string `json:"address" format:"address"`
}

// scene is what the answer to one request on one chain is made with.
type scene struct {
	*handlers.Request
	*names
	api   *api
	chain int
}

// scene opens the catalog for a request.
func (a *api) scene(r *handlers.Request, chain int) (*scene, error) {
	n, err := a.catalog.read(r.Context())
	return &scene{Request: r, names: n, api: a, chain: chain}, err
}

// of is the token of an asset. One that came with a block after the scene was opened is looked up anew.
func (s *scene) of(asset store.AssetKey) *token {
	if t := s.tokens[asset.Token()]; t != nil {
		return t
	}
	if n, err := s.api.catalog.renew(s.Context(), s.version); err == nil {
		s.names = n
	}
	if t := s.tokens[asset.Token()]; t != nil {
		return t
	}
	return &token{hex: common.Address{}.Hex()} // the request was cancelled: nobody reads this
}

// rich is an address reference.
func (s *scene) rich(address []byte) RichAddress { return s.known(partyOf(address)) }

// known is an address reference with what the catalog knows.
func (s *scene) known(p party) RichAddress {
	e := s.entries[place{s.chain, p.address}]
	ref := RichAddress{Address: p.hex}
	if e == nil {
		return ref
	}
	ref.Name = e.name
	if t := e.token; t != nil {
		ref.Symbol, ref.LogoURI = t.Symbol, t.logo(s.Request)
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

func (a *api) addressOperations() []handlers.Operation {
	list := handlers.Operation{
		ID: "listAddressChains", Path: "/v1/address/{address}/chains", Summary: "List the chains on which an address has an account or took part in a transaction",
		Params: with(addressParam), AllNetworks: true, Answer: reflect.TypeFor[addressChains](), Handle: a.listAddressChains,
	}
	old := list
	old.ID, old.Path, old.Summary, old.Deprecated = "getAddressChains", "/v1/chains/address/{address}", "The same under its deprecated path", true
	return []handlers.Operation{list, old}
}

func (a *api) listAddressChains(r *handlers.Request) (any, error) {
	answer := addressChains{IndexedChains: []Chain{}, UnindexedChains: []string{}}
	address := r.Address("address")
	for _, c := range a.world.Chains {
		seen, err := a.world.DB.Seen(r.Context(), c.Row.ID, address[:])
		if err != nil {
			return nil, err
		}
		if seen {
			answer.IndexedChains = append(answer.IndexedChains, describe(r, c))
		}
	}
	return answer, nil
}
