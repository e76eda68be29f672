package evm

import (
	"net/http"
	"reflect"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Erc721Token is one token of a collection.
type Erc721Token struct {
	Address      string         `json:"address" format:"address"`
	Name         string         `json:"name"`
	Symbol       string         `json:"symbol"`
	ErcType      string         `json:"ercType" enum:"ERC-721"`
	TokenID      string         `json:"tokenId" format:"uint"`
	TokenURI     string         `json:"tokenUri" doc:"Empty when the contract has none for the token."`
	Metadata     Erc721Metadata `json:"metadata"`
	OwnerAddress string         `json:"ownerAddress,omitempty" format:"address" doc:"Absent if the token was burned."`
}

// Erc1155Token is one token id of an ERC-1155 contract.
type Erc1155Token struct {
	Address  string          `json:"address" format:"address"`
	ErcType  string          `json:"ercType" enum:"ERC-1155"`
	TokenID  string          `json:"tokenId" format:"uint"`
	TokenURI string          `json:"tokenUri" doc:"Empty when the contract has none for the item."`
	Metadata Erc1155Metadata `json:"metadata"`
}

// NFTMetadata holds the fields that ERC-721 and ERC-1155 metadata share.
type NFTMetadata struct {
	IndexStatus                  schema.IndexStatus `json:"indexStatus"`
	MetadataLastUpdatedTimestamp int64              `json:"metadataLastUpdatedTimestamp,omitempty"`
	Name                         string             `json:"name,omitempty"`
	Symbol                       string             `json:"symbol,omitempty"`
	ImageURI                     string             `json:"imageUri,omitempty"`
	Description                  string             `json:"description,omitempty"`
	AnimationURI                 string             `json:"animationUri,omitempty"`
	ExternalURL                  string             `json:"externalUrl,omitempty"`
	Background                   string             `json:"background,omitempty"`
}

// Erc721Metadata is an ERC-721 token's metadata.
type Erc721Metadata struct {
	NFTMetadata
	Attributes string `json:"attributes,omitempty" doc:"JSON."`
}

// Erc1155Metadata is an ERC-1155 token's metadata.
type Erc1155Metadata struct {
	NFTMetadata
	Decimals   *int   `json:"decimals,omitempty"`
	Properties string `json:"properties,omitempty" doc:"JSON."`
}

// anyToken is a token of either NFT standard.
type anyToken struct{ value any }

// MarshalJSON writes the token.
func (t anyToken) MarshalJSON() ([]byte, error) { return data.Marshal(t.value) }

// Schema lists both standards.
func (anyToken) Schema(d *schema.Schemas) *schema.Schema {
	return data.Either(d, reflect.TypeFor[Erc721Token](), reflect.TypeFor[Erc1155Token]())
}

type tokens struct {
	NextPageToken string     `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Tokens        []anyToken `json:"tokens"`
}

func (a *tokenAPI) nftOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listNfts", Path: "/v1/chains/{chainId}/nfts/collections/{address}/tokens", Summary: "List the tokens of a collection",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[tokens](), Handle: a.onView(a.listNFTs)},
		{ID: "getNft", Path: "/v1/chains/{chainId}/nfts/collections/{address}/tokens/{tokenId}", Summary: "Get a token of a collection",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, rest.Param{Name: "tokenId", Kind: schema.KindAmount}),
			Answer: reflect.TypeFor[anyToken](), Handle: a.OnChain(a.getNFT)},
		{ID: "reindexNft", Method: http.MethodPost, Path: "/v1/chains/{chainId}/nfts/collections/{address}/tokens/{tokenId}:reindex",
			Summary: "Read the URI and the metadata of a token again", Status: http.StatusCreated,
			Doc:    "Allowed once an hour, by real time or the world's clock. Fetches metadata that is not on chain from this machine and the hosts of --webhook-hosts only.",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, rest.Param{Name: "tokenId", Kind: schema.KindAmount}),
			Class:  permit.Control, Handle: a.OnChain(a.reindex)},
	}
}

// collection returns the collection that the request names.
func (s *tokenView) collection(c *reader.Chain) (*data.Token, error) {
	t := s.At(s.Chain, s.Address("address"))
	if t == nil || t.ID.Standard() == store.ERC20 {
		return nil, rest.NotFound("there is no ERC-721 or ERC-1155 contract at %s on chain %d", s.Address("address"), c.Row.EVMID)
	}
	return t, nil
}

func (a *tokenAPI) listNFTs(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	t, err := s.collection(c)
	if err != nil {
		return nil, err
	}
	after, before := itemsOf(t.ID)
	if position, resumed := r.Position(); resumed {
		after = t.ID.Asset(position)
	}
	rows, err := a.World.DB.NFTs(r.Context(), after, before, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	rows, next := data.CutPage(r, rows, func(v *store.TokenBalanceView) []byte { return v.Asset.Item() })
	return tokens{next, data.List(rows, func(v *store.TokenBalanceView) anyToken { return anyToken{s.nft(v.Asset, &v.NFT)} })}, nil
}

// itemsOf returns the exclusive bounds of a token's items.
func itemsOf(id store.TokenID) (after, before store.AssetKey) {
	return id.Asset(nil)[:len(id.Asset(nil))-1], (id + 1).Asset(nil)[:len(id.Asset(nil))-1]
}

// item returns the token that a path names, with its collection and view.
func (a *tokenAPI) item(r *rest.Request, c *reader.Chain) (s *tokenView, t *data.Token, asset store.AssetKey, n *store.NFT, err error) {
	if s, err = a.view(r, c.Row.ID); err != nil {
		return
	}
	if t, err = s.collection(c); err != nil {
		return
	}
	asset = t.ID.Asset(r.Amount("tokenId").Bytes())
	if n, err = a.World.DB.NFT(r.Context(), asset); err != nil {
		err = data.OrNotFound(err, rest.NotFound("token %s of collection %s does not exist", r.Amount("tokenId"), t.Hex))
	}
	return
}

func (a *tokenAPI) getNFT(r *rest.Request, c *reader.Chain) (any, error) {
	s, _, asset, n, err := a.item(r, c)
	if err != nil {
		return nil, err
	}
	return anyToken{s.nft(asset, n)}, nil
}

func (s *tokenView) nft(asset store.AssetKey, n *store.NFT) any {
	if asset.Token().Standard() == store.ERC1155 {
		return s.erc1155Token(asset, n)
	}
	return s.erc721Token(asset, n)
}

func (s *tokenView) erc721Token(asset store.AssetKey, n *store.NFT) Erc721Token {
	t := s.TokenOf(asset)
	shown := Erc721Token{Address: t.Hex, Name: t.Name, Symbol: t.Symbol, ErcType: "ERC-721", TokenID: data.Amount(asset.Item())}
	if n.Owner != nil {
		shown.OwnerAddress = common.BytesToAddress(n.Owner).Hex()
	}
	m := s.indexStatus(asset, n)
	shown.TokenURI = m.uri
	shown.Metadata = Erc721Metadata{NFTMetadata: s.nftMetadata(t, m, n)}
	if m.document != nil {
		shown.Metadata.Attributes = string(m.document.Attributes)
	}
	return shown
}

func (s *tokenView) erc1155Token(asset store.AssetKey, n *store.NFT) Erc1155Token {
	t := s.TokenOf(asset)
	shown := Erc1155Token{Address: t.Hex, ErcType: "ERC-1155", TokenID: data.Amount(asset.Item())}
	m := s.indexStatus(asset, n)
	shown.TokenURI = m.uri
	shown.Metadata = Erc1155Metadata{NFTMetadata: s.nftMetadata(t, m, n)}
	if m.document != nil {
		shown.Metadata.Properties, shown.Metadata.Decimals = string(m.document.Properties), &m.document.Decimals
	}
	return shown
}

// nftMetadata returns the indexed metadata, if there is any.
func (s *tokenView) nftMetadata(t *data.Token, m *metadata, n *store.NFT) NFTMetadata {
	shown := NFTMetadata{IndexStatus: s.Dialect().IndexStatus(m.status)}
	switch {
	case m.time > 0:
		shown.MetadataLastUpdatedTimestamp = m.time
	case m.status != "UNINDEXED" && n.Updated != nil:
		shown.MetadataLastUpdatedTimestamp = *n.Updated
	}
	if d := m.document; d != nil {
		shown.Name, shown.Symbol, shown.Description = d.Name, t.Symbol, d.Description
		shown.ImageURI, shown.AnimationURI, shown.ExternalURL = d.Image, d.AnimationURL, d.ExternalURL
		shown.Background = d.BackgroundColor
	}
	return shown
}
