package evm

import (
	"reflect"
	"strings"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Erc20Token is a transferred ERC-20.
type Erc20Token struct {
	Address  string      `json:"address" format:"address"`
	Name     string      `json:"name"`
	Symbol   string      `json:"symbol"`
	Decimals int         `json:"decimals"`
	LogoURI  string      `json:"logoUri,omitempty" format:"url"`
	ErcType  string      `json:"ercType" enum:"ERC-20"`
	Price    *data.Price `json:"price,omitempty" doc:"Of one whole token now; absent without a market."`
}

// Erc20TransferDetails is an ERC-20 transfer in a transaction.
type Erc20TransferDetails struct {
	From       RichAddress `json:"from"`
	To         RichAddress `json:"to"`
	LogIndex   int         `json:"logIndex" doc:"Index of the log in its block."`
	Value      string      `json:"value" format:"uint"`
	Erc20Token Erc20Token  `json:"erc20Token"`
}

// Erc721TransferDetails is an ERC-721 transfer in a transaction.
type Erc721TransferDetails struct {
	From        RichAddress `json:"from"`
	To          RichAddress `json:"to"`
	LogIndex    int         `json:"logIndex" doc:"Index of the log in its block."`
	Erc721Token Erc721Token `json:"erc721Token"`
}

// Erc1155TransferDetails is an ERC-1155 transfer in a transaction; a batch has one per item.
type Erc1155TransferDetails struct {
	From         RichAddress  `json:"from"`
	To           RichAddress  `json:"to"`
	LogIndex     int          `json:"logIndex" doc:"Index of the log in its block."`
	Value        string       `json:"value" format:"uint"`
	Erc1155Token Erc1155Token `json:"erc1155Token"`
}

// Erc20Transfer is an ERC-20 transfer in a list.
type Erc20Transfer struct {
	Location
	Erc20TransferDetails
}

// Erc721Transfer is an ERC-721 transfer in a list.
type Erc721Transfer struct {
	Location
	Erc721TransferDetails
}

// Erc1155Transfer is an ERC-1155 transfer in a list.
type Erc1155Transfer struct {
	Location
	Erc1155TransferDetails
}

// transferList is a page of transfers of one standard.
type transferList[T any] struct {
	NextPageToken string `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Transactions  []T    `json:"transactions"`
}

// anyTransfer is a transfer in any of the three standards.
type anyTransfer struct{ value any }

// MarshalJSON writes the transfer.
func (t anyTransfer) MarshalJSON() ([]byte, error) { return data.Marshal(t.value) }

// Schema lists the three standards.
func (anyTransfer) Schema(d *schema.Schemas) *schema.Schema {
	return data.Either(d, reflect.TypeFor[Erc20Transfer](), reflect.TypeFor[Erc721Transfer](), reflect.TypeFor[Erc1155Transfer]())
}

type tokenTransfers struct {
	NextPageToken string        `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Transfers     []anyTransfer `json:"transfers"`
}

func (a *chainAPI) transferOperations() []rest.Operation {
	operations := []rest.Operation{{
		ID: "listTokenTransfers", Path: "/v1/chains/{chainId}/tokens/{address}/transfers", Summary: "List the transfers of a token",
		Params: data.JoinParams(data.ChainParam, data.AddressParam, data.RangeParams, rest.Paging(10, 100)),
		Answer: reflect.TypeFor[tokenTransfers](), Handle: a.onView(a.listTokenTransfers),
	}}
	for _, o := range []struct {
		id, name string
		answer   reflect.Type
		handle   viewHandler
	}{
		{"listErc20Transactions", "listErc20", reflect.TypeFor[transferList[Erc20Transfer]](), a.listErc20Transfers},
		{"listErc721Transactions", "listErc721", reflect.TypeFor[transferList[Erc721Transfer]](), transfersOf(a, store.ERC721, (*tokenView).erc721)},
		{"listErc1155Transactions", "listErc1155", reflect.TypeFor[transferList[Erc1155Transfer]](), transfersOf(a, store.ERC1155, (*tokenView).erc1155)},
	} {
		operations = append(operations, rest.Operation{
			ID: o.id, Path: "/v1/chains/{chainId}/addresses/{address}/transactions:" + o.name,
			Summary: "List the " + strings.Replace(o.name, "listErc", "ERC-", 1) + " transfers from or to an address",
			Params:  data.JoinParams(data.ChainParam, data.AddressParam, data.RangeParams, rest.Paging(10, 100)), Answer: o.answer, Handle: a.onView(o.handle),
		})
	}
	return operations
}

// transferFacts is a decoded ERC-20 transfer without the parts that depend on the request.
type transferFacts struct {
	place    Location
	asset    store.AssetKey
	from, to hexAddress
	log      int
	value    string
}

func (a *chainAPI) listErc20Transfers(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	address := r.Address("address")
	high, low := data.Span(r, c)
	at, err := a.World.DB.TransferIDs(r.Context(), address[:], store.ERC20, high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	at, next := data.CutPage(r, at, data.Position)
	rows, err := data.Cached(at, a.transfers, func(high, low store.Position, limit int) ([]store.TransferView, error) {
		return a.World.DB.TransfersOfAddress(r.Context(), address[:], store.ERC20, high, low, limit)
	}, func(v *store.TransferView) (store.Position, *transferFacts, error) {
		place, err := a.blocks.location(c, v.ID, &v.Inclusion)
		return v.ID, erc20Facts(place, v), err
	})
	return transferList[Erc20Transfer]{next, data.List(rows, func(f **transferFacts) Erc20Transfer { return s.erc20Shown(*f) })}, err
}

// transfersOf lists one standard's transfers from or to an address.
func transfersOf[T any](a *chainAPI, standard store.Standard, item func(*tokenView, Location, *store.TransferView) T) viewHandler {
	return func(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
		address := r.Address("address")
		high, low := data.Span(r, c)
		rows, err := a.World.DB.TransfersOfAddress(r.Context(), address[:], standard, high, low, r.PageSize()+1)
		if err != nil {
			return nil, err
		}
		rows, next := data.CutPage(r, rows, transferPlace)
		shown, err := data.TryList(rows, func(v store.TransferView) (T, error) {
			place, err := a.blocks.location(c, v.ID, &v.Inclusion)
			return item(s, place, &v), err
		})
		return transferList[T]{next, shown}, err
	}
}

func transferPlace(v *store.TransferView) []byte { return data.Within(v.ID) }

func (a *chainAPI) listTokenTransfers(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	t := s.At(c.Row.ID, r.Address("address"))
	if t == nil {
		return nil, rest.NotFound("there is no token at %s on chain %d", r.Address("address"), c.Row.EVMID)
	}
	high, low := data.Span(r, c)
	rows, err := a.World.DB.TransfersOfToken(r.Context(), t.ID, high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	rows, next := data.CutPage(r, rows, transferPlace)
	shown, err := data.TryList(rows, func(v store.TransferView) (anyTransfer, error) {
		place, err := a.blocks.location(c, v.ID, &v.Inclusion)
		return anyTransfer{s.transfer(place, &v)}, err
	})
	return tokenTransfers{next, shown}, err
}

func (s *tokenView) transfer(place Location, v *store.TransferView) any {
	switch v.Standard {
	case store.ERC721:
		return s.erc721(place, v)
	case store.ERC1155:
		return s.erc1155(place, v)
	}
	return s.erc20(place, v)
}

func (s *tokenView) erc20(place Location, v *store.TransferView) Erc20Transfer {
	return s.erc20Shown(erc20Facts(place, v))
}

func erc20Facts(place Location, v *store.TransferView) *transferFacts {
	return &transferFacts{place: place, asset: v.Asset, from: hexAddressOf(v.Sender), to: hexAddressOf(v.Recipient), log: v.Log, value: data.Amount(v.Amount)}
}

func (s *tokenView) erc20Shown(f *transferFacts) Erc20Transfer {
	return Erc20Transfer{f.place, Erc20TransferDetails{From: s.known(f.from), To: s.known(f.to), LogIndex: f.log, Value: f.value,
		Erc20Token: s.erc20Token(s.TokenOf(f.asset))}}
}

func (s *tokenView) erc721(place Location, v *store.TransferView) Erc721Transfer {
	return Erc721Transfer{place, Erc721TransferDetails{From: s.rich(v.Sender), To: s.rich(v.Recipient), LogIndex: v.Log,
		Erc721Token: s.erc721Token(v.Asset, &v.NFT)}}
}

func (s *tokenView) erc1155(place Location, v *store.TransferView) Erc1155Transfer {
	return Erc1155Transfer{place, Erc1155TransferDetails{From: s.rich(v.Sender), To: s.rich(v.Recipient), LogIndex: v.Log,
		Value: data.Amount(v.Amount), Erc1155Token: s.erc1155Token(v.Asset, &v.NFT)}}
}

func (s *tokenView) erc20Token(t *data.Token) Erc20Token {
	return Erc20Token{Address: t.Hex, Name: t.Name, Symbol: t.Symbol, Decimals: t.Decimals, LogoURI: t.Logo(s.Request),
		ErcType: "ERC-20", Price: s.CurrentPrice(t.Series)}
}

// details groups transfers by their standard.
func (s *tokenView) details(rows []store.TransferView) (erc20 []Erc20TransferDetails, erc721 []Erc721TransferDetails, erc1155 []Erc1155TransferDetails) {
	erc20, erc721, erc1155 = []Erc20TransferDetails{}, []Erc721TransferDetails{}, []Erc1155TransferDetails{}
	for i := range rows {
		switch t := s.transfer(Location{}, &rows[i]).(type) {
		case Erc20Transfer:
			erc20 = append(erc20, t.Erc20TransferDetails)
		case Erc721Transfer:
			erc721 = append(erc721, t.Erc721TransferDetails)
		case Erc1155Transfer:
			erc1155 = append(erc1155, t.Erc1155TransferDetails)
		}
	}
	return erc20, erc721, erc1155
}
