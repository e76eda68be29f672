package evm

import (
	"reflect"
	"strconv"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Erc721Balance is an ERC-721 token that an address holds.
type Erc721Balance struct {
	Erc721Token
	ChainID string `json:"chainId" format:"uint"`
}

// Erc1155Balance is an address's balance of one ERC-1155 token id.
type Erc1155Balance struct {
	Erc1155Token
	ChainID string `json:"chainId" format:"uint"`
	Balance string `json:"balance" format:"uint"`
}

type erc721Balances struct {
	NextPageToken       string          `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	NativeTokenBalance  NativeBalance   `json:"nativeTokenBalance"`
	Erc721TokenBalances []Erc721Balance `json:"erc721TokenBalances"`
}

type erc1155Balances struct {
	NextPageToken        string           `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	NativeTokenBalance   NativeBalance    `json:"nativeTokenBalance"`
	Erc1155TokenBalances []Erc1155Balance `json:"erc1155TokenBalances"`
}

// anyBalance is a balance in either NFT standard.
type anyBalance struct{ value any }

// MarshalJSON writes the balance.
func (b anyBalance) MarshalJSON() ([]byte, error) { return data.Marshal(b.value) }

// Schema lists both standards.
func (anyBalance) Schema(d *schema.Schemas) *schema.Schema {
	return data.Either(d, reflect.TypeFor[Erc721Balance](), reflect.TypeFor[Erc1155Balance]())
}

type collectibleBalances struct {
	NextPageToken       string       `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	CollectibleBalances []anyBalance `json:"collectibleBalances"`
}

func (a *tokenAPI) nftBalanceOperations() []rest.Operation {
	contract := rest.Param{Name: "contractAddress", Kind: schema.KindAddress, Doc: "Only tokens of this contract."}
	path := "/v1/chains/{chainId}/addresses/{address}/balances:"
	return []rest.Operation{
		{ID: "listErc721Balances", Path: path + "listErc721", Summary: "List the ERC-721 tokens that an address holds",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, contract, rest.Paging(10, 500)), Answer: reflect.TypeFor[erc721Balances](), Handle: a.onView(a.listErc721)},
		{ID: "listErc1155Balances", Path: path + "listErc1155", Summary: "List the ERC-1155 items that an address holds",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, data.AtBlockParam, contract, rest.Paging(10, 500)), Answer: reflect.TypeFor[erc1155Balances](), Handle: a.onView(a.listErc1155)},
		{ID: "listCollectibleBalances", Path: path + "listCollectibles", Summary: "List the ERC-721 tokens and ERC-1155 items that an address holds",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, contract, rest.Paging(10, 500)), Answer: reflect.TypeFor[collectibleBalances](), Handle: a.onView(a.listCollectibles)},
	}
}

// items reads a page of an address's holdings in a range of standards.
func (s *tokenView) items(first, last store.Standard, block uint64) ([]store.TokenBalanceView, string, error) {
	address := s.Address("address")
	after, before := assetsOf(s.Chain, first, last)
	if s.Given("contractAddress") {
		t := s.At(s.Chain, s.Address("contractAddress"))
		if t == nil || t.ID.Standard() < first || t.ID.Standard() > last {
			return nil, "", nil
		}
		after, before = itemsOf(t.ID)
	}
	rows, err := s.fill(after, func(after store.AssetKey, limit int) ([]store.TokenBalanceView, error) {
		return s.Base.World.DB.NFTBalances(s.Context(), address[:], after, before, block, limit)
	}, func(*store.TokenBalanceView) bool { return true })
	if err != nil {
		return nil, "", err
	}
	rows, next := data.CutPage(s.Request, rows, func(v *store.TokenBalanceView) []byte { return v.Asset.Key() })
	return rows, next, nil
}

func (s *tokenView) erc721Balance(c *reader.Chain, v *store.TokenBalanceView) Erc721Balance {
	return Erc721Balance{s.erc721Token(v.Asset, &v.NFT), strconv.FormatUint(c.Row.EVMID, 10)}
}

func (s *tokenView) erc1155Balance(c *reader.Chain, v *store.TokenBalanceView) Erc1155Balance {
	return Erc1155Balance{s.erc1155Token(v.Asset, &v.NFT), strconv.FormatUint(c.Row.EVMID, 10), data.Amount(v.Amount)}
}

func (a *tokenAPI) listErc721(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	native, err := s.nativeBalance(c, store.MaxNumber)
	if err != nil {
		return nil, err
	}
	rows, next, err := s.items(store.ERC721, store.ERC721, store.MaxNumber)
	return erc721Balances{next, native, data.List(rows, func(v *store.TokenBalanceView) Erc721Balance { return s.erc721Balance(c, v) })}, err
}

func (a *tokenAPI) listErc1155(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	block, err := a.height(r, c)
	if err != nil {
		return nil, err
	}
	native, err := s.nativeBalance(c, block)
	if err != nil {
		return nil, err
	}
	rows, next, err := s.items(store.ERC1155, store.ERC1155, block)
	return erc1155Balances{next, native, data.List(rows, func(v *store.TokenBalanceView) Erc1155Balance { return s.erc1155Balance(c, v) })}, err
}

func (a *tokenAPI) listCollectibles(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	rows, next, err := s.items(store.ERC721, store.ERC1155, store.MaxNumber)
	return collectibleBalances{next, data.List(rows, func(v *store.TokenBalanceView) anyBalance {
		if v.Asset.Token().Standard() == store.ERC721 {
			return anyBalance{s.erc721Balance(c, v)}
		}
		return anyBalance{s.erc1155Balance(c, v)}
	})}, err
}
